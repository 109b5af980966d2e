import {newId} from '../../base/ids.ts'
import {endLease, takeLease} from '../../store/mcp-leases.ts'
import {pause} from '../upstream/deadlines.ts'
import {AuthServerFault} from './auth-server-fault.ts'
import type {CredentialServices} from './services.ts'

/** Longer than the work may take. A process that died holds others up no longer. */
const LEASE_MS = 15_000
const LONGEST_WAIT_MS = 20_000
const LOOK_EVERY_MS = 100
const NEVER = new AbortController().signal

export interface Exclusive<T> {
  readonly value: T
  /** False: another process did it. */
  readonly is_ours: boolean
}

/**
 * Does in one process of all what is done once. `look` gives what is there already, undefined while there is nothing;
 * `work` makes it, within 15 s. Where `work` fails, the next in line tries it again. Rejects with its fault, or `late`.
 */
export async function exclusively<T>(
  services: Pick<CredentialServices, 'store' | 'wall' | 'steady' | 'after'>,
  name: string,
  look: () => Promise<T | undefined>,
  work: () => Promise<T>,
): Promise<Exclusive<T>> {
  const {store, wall, steady} = services
  const ends_at = steady() + LONGEST_WAIT_MS
  const holder = newId()
  for (;;) {
    const known = await look()
    if (known !== undefined) return {value: known, is_ours: false}
    const now_ms = wall()
    const lease = {name, holder, expires_at: new Date(now_ms + LEASE_MS).toISOString()}
    if (await store.write(db => takeLease(db, lease, new Date(now_ms).toISOString()))) break
    if (steady() >= ends_at) throw new AuthServerFault('late', 'another process waits for its answer')
    await pause(services, LOOK_EVERY_MS, NEVER)
  }
  try {
    const known = await look()
    return known === undefined ? {value: await work(), is_ours: true} : {value: known, is_ours: false}
  } finally {
    await store.write(db => endLease(db, {name, holder}))
  }
}
