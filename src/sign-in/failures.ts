import {SignInFault} from '../identity/sign-in-fault.ts'
import {countFailures, forgetFailures, noteFailure} from '../store/sign-ins.ts'
import type {SignInServices} from './services.ts'
import {hashOf} from './transactions.ts'

const PERIOD_MS = 900_000
/** Below the number at which directories lock an account. */
export const MOST_OF_ACCOUNT = 5
export const MOST_OF_ADDRESS = 20

/** Refuses with `too_many` where an account or an address failed too often within a quarter of an hour. */
export async function requireFewFailures(
  {store, now}: SignInServices,
  key: string,
  most: number,
  under_way = 0,
): Promise<void> {
  const count = await countFailures(store.db, hashOf(key), now().toISOString())
  if (count + under_way < most) return
  const others = under_way > 0 ? `, and ${under_way} under way` : ''
  throw new SignInFault('too_many', `${count} wrong passwords within a quarter of an hour${others}`)
}

const tries_of_stores = new WeakMap<SignInServices['store'], Map<string, number>>()

/**
 * Begins a try of a password, with the same refusal. Tries of this process that have no outcome yet count as failed
 * ones: else many at once would all pass. The caller ends the try by what it gets, after counting its failure.
 */
export async function beginTry(services: SignInServices, key: string, most: number): Promise<() => void> {
  const tries = tries_of_stores.get(services.store) ?? new Map<string, number>()
  tries_of_stores.set(services.store, tries)
  const others = tries.get(key) ?? 0
  tries.set(key, others + 1)
  const end = () => {
    const left = tries.get(key)! - 1
    if (left > 0) tries.set(key, left)
    else tries.delete(key)
  }
  try {
    await requireFewFailures(services, key, most, others)
    return end
  } catch (fault) {
    end()
    throw fault
  }
}

/** Counts a wrong password for each of `keys`. */
export async function noteFailures({store, now}: SignInServices, keys: readonly string[]): Promise<void> {
  const at = now()
  const times = {now: at.toISOString(), expires_at: new Date(at.getTime() + PERIOD_MS).toISOString()}
  await store.write(async db => {
    for (const key of keys) await noteFailure(db, hashOf(key), times)
  })
}

export async function forgetFailuresOf({store}: SignInServices, keys: readonly string[]): Promise<void> {
  await store.write(async db => {
    for (const key of keys) await forgetFailures(db, hashOf(key))
  })
}

/** A typed name in one spelling: directories take no notice of case and of spaces around it. */
export function foldedName(name: string): string {
  return name.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase()
}
