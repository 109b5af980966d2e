import type {z} from 'zod'
import {Refusal} from '../base/errors.ts'
import type {TxtLook} from '../ports/dns/txt.ts'
import {challengeOf, type DomainView} from '../schema/domains.ts'
import * as store from '../store/domains.ts'
import type {DomainsTable} from '../store/tables/directories.ts'
import {sendCode, tryCode} from './domain-codes.ts'
import {domainView, ownDomain} from './domain-rules.ts'
import {auditTry, judgedTry, type ProofOutcome, proofsOf, refused, takenBy, type VerifyCall} from './domain-tries.ts'

/** One try to prove a domain. Each leaves a row in the audit log; what is verified stays as it is. */
export async function verified(call: VerifyCall): Promise<z.input<typeof DomainView>> {
  const {actor, app, db, params, body} = call
  const row = await ownDomain(call, db, params.domainId)
  call.auditTarget(row.id, null)
  const looks_again = body.method === 'dns' && row.proof === 'dns'
  if (row.status === 'verified' && !looks_again) {
    await app.store.write(writing => auditTry(call, writing, {outcome: 'verified_before', refusal: null}))
    return domainView(row, actor)
  }
  if (row.status === 'pending' && (await store.isVerifiedElsewhere(db, row))) await refused(call, takenBy(row))
  if (body.method === 'dns') await lookForRecord(call, row)
  else if (body.code === undefined) await sendCode(call, row)
  else await tryCode(call, row, body.code)
  return domainView(await ownDomain(call, db, row.id), actor)
}

async function lookForRecord(call: VerifyCall, row: DomainsTable): Promise<void> {
  const {dns_name, dns_value} = challengeOf(row)
  const look = await proofsOf(call).look(dns_name, dns_value)
  if (look.outcome !== 'found') await refused(call, unproven(look, row))
  await judgedTry(call, row, async () => ({outcome: 'proven', refusal: null}))
}

/** Each with the next step. */
function unproven({outcome, records, reason}: TxtLook, row: DomainsTable): ProofOutcome {
  const {dns_name: name, dns_value: value} = challengeOf(row)
  const add = `Add a TXT record of this name with the value ${value}, and try again in a few minutes.`
  const refuse = (code: 'domain.unproven' | 'domain.unlooked', text: string) => {
    return {outcome, refusal: new Refusal(code, {reason: text})}
  }
  switch (outcome) {
    case 'no_name':
      return refuse('domain.unproven', `The name ${name} is not in the DNS. ${add}`)
    case 'no_record':
      return refuse('domain.unproven', `The name ${name} has no TXT record. ${add}`)
    case 'other_records':
      return refuse(
        'domain.unproven',
        `The name ${name} has TXT records (${records}), and none has the right value. ${add} ` +
          'Name servers keep an old answer for as long as its TTL says.',
      )
    case 'too_many':
      return refuse(
        'domain.unproven',
        `The name ${name} has ${records} TXT records, of which 100 are read. Delete those that nobody needs. ${add}`,
      )
    case 'busy':
      return refuse('domain.unlooked', 'Many domains are being looked up now. Try again shortly.')
    default:
      return refuse(
        'domain.unlooked',
        `The name ${name} could not be looked up: ${reason}. Nothing was changed. Try again shortly; ` +
          'DOMAIN_DNS_SERVERS names other name servers.',
      )
  }
}
