import {SignInFault} from '../identity/sign-in-fault.ts'
import {addFailure, forgetFailures, isCounted, takeFailure} from '../store/sign-in-failures.ts'
import type {SignInServices} from './services.ts'
import {hashOf} from './transactions.ts'

const PERIOD_MS = 900_000
/** Below the number at which directories lock an account. */
export const MOST_OF_ACCOUNT = 5
export const MOST_OF_ADDRESS = 20

/** A try of a secret, of a person or of an address. It counts as a failure until its outcome is known. */
export interface SecretTry {
  readonly key: string
  /** ISO 8601 UTC: the end of the time in which it counts. */
  readonly expires_at: string
}

/**
 * Begins tries of one secret, each of its own key: all of them, or none. Refuses with `too_many` where `most` have
 * failed within a quarter of an hour or have no outcome yet, in any process: else many at once would all pass.
 */
export async function beginTries(
  {store, now}: SignInServices,
  wanted: readonly {readonly key: string; readonly most: number}[],
): Promise<readonly SecretTry[]> {
  return store.write(async db => {
    const times = timesOf(now())
    const tries: SecretTry[] = []
    for (const {key: name, most} of wanted) {
      const key = hashOf(name)
      const expires_at = await addFailure(db, key, {...times, most})
      if (expires_at === null)
        throw new SignInFault('too_many', `${most} were wrong within a quarter of an hour, or have no outcome yet`)
      tries.push({key, expires_at})
    }
    return tries
  })
}

/**
 * Ends tries that had no wrong outcome. Those to `forget` were right: their count begins again. Those to give `back`
 * take their own failure off, and no other.
 */
export async function endTries(
  {store}: SignInServices,
  {forget = [], back = []}: {readonly forget?: readonly SecretTry[]; readonly back?: readonly SecretTry[]},
): Promise<void> {
  if (forget.length + back.length === 0) return
  await store.write(async db => {
    for (const {key} of forget) await forgetFailures(db, key)
    for (const {key, expires_at} of back) await takeFailure(db, key, expires_at)
  })
}

/** The same after a refusal, which stays the answer when this fails: the tries then count as wrong ones. */
export async function giveBack(services: SignInServices, back: readonly SecretTry[]): Promise<void> {
  await endTries(services, {back}).catch(fault =>
    services.log.warn({fault}, 'a try of a password had no outcome, and counts as wrong for a quarter of an hour'),
  )
}

/** Tries were wrong: they count already, but where a right one has begun the count again meanwhile. */
export async function keepFailures({store, now}: SignInServices, tries: readonly SecretTry[]): Promise<void> {
  for (const {key, expires_at} of tries) {
    if (await isCounted(store.db, key, expires_at)) continue
    await store.write(db => addFailure(db, key, {...timesOf(now()), most: Number.MAX_SAFE_INTEGER}))
  }
}

function timesOf(at: Date) {
  return {now: at.toISOString(), expires_at: new Date(at.getTime() + PERIOD_MS).toISOString()}
}

/** A typed name in one spelling: directories take no notice of case and of spaces around it. */
export function foldedName(name: string): string {
  return name.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase()
}
