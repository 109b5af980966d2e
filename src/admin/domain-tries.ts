import type {Refusal} from '../base/errors.ts'
import type {DomainParams, DomainVerify} from '../schema/domains.ts'
import type {Db} from '../store/database.ts'
import * as store from '../store/domains.ts'
import {isTaken} from '../store/rows.ts'
import type {DomainsTable} from '../store/tables/directories.ts'
import {ownDomain, taken} from './domain-rules.ts'
import type {OperationCall} from './operation.ts'

export type VerifyCall = OperationCall<typeof DomainParams, undefined, typeof DomainVerify>

/** The end of a try to prove a domain: its name in the audit log, and the refusal where it proved nothing. */
export interface ProofOutcome {
  readonly outcome: string
  readonly refusal: Refusal | null
}

/** The row of the audit log for the end of a try. */
export function auditTry(call: VerifyCall, db: Db, {outcome, refusal}: ProofOutcome): Promise<void> {
  return call.auditOutcome(db, {status: refusal?.status ?? 200, note: {outcome}})
}

/** Refuses a try; its row in the audit log stays. */
export async function refused(call: VerifyCall, end: ProofOutcome): Promise<never> {
  await call.app.store.write(db => auditTry(call, db, end))
  throw end.refusal!
}

/**
 * Judges a try in one transaction, which verifies the domain where it proved it, and then refuses where it did not: a
 * try that failed is counted. Of several organisations that prove a domain at once, the first gets it.
 */
export async function judgedTry(
  call: VerifyCall,
  {id, domain}: DomainsTable,
  judge: (db: Db) => Promise<ProofOutcome>,
): Promise<void> {
  const refusal = await call.app.store
    .write(async db => {
      const judged = await judge(db)
      const row = await ownDomain(call, db, id)
      const is_late = !judged.refusal && row.status === 'pending' && (await store.isVerifiedElsewhere(db, row))
      const end = is_late ? takenBy({domain}) : judged
      const {method: proof} = call.body
      // meanwhile the operator may have vouched for it
      const is_open = row.status === 'pending' || row.proof === proof
      if (!end.refusal && is_open) await store.verifyDomain(db, row, {proof, now: call.now})
      await auditTry(call, db, end)
      return end.refusal
    })
    .catch(fault => {
      if (!isTaken(fault)) throw fault
      return refused(call, takenBy({domain}, {cause: fault}))
    })
  if (refusal) throw refusal
}

export function takenBy({domain}: Pick<DomainsTable, 'domain'>, options?: ErrorOptions): ProofOutcome {
  return {outcome: 'taken', refusal: taken(domain, options)}
}

/** The ways of this process to prove a domain. */
export function proofsOf({app}: Pick<VerifyCall, 'app'>) {
  if (!app.domain_proofs) throw new Error('no domains are proven here')
  return app.domain_proofs
}
