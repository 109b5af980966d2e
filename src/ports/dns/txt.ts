import {Resolver} from 'node:dns/promises'
import type {After} from '../../base/delay.ts'

/**
 * The outcome of a look for a TXT record. `silent`: no name server gave an answer that can be read; `busy`: as many
 * looks as this process makes at once are in progress. Neither says anything about the record.
 */
export type TxtOutcome = 'found' | 'no_name' | 'no_record' | 'other_records' | 'too_many' | 'silent' | 'busy'

export interface TxtLook {
  readonly outcome: TxtOutcome
  /** How many TXT records there are. */
  readonly records: number
  /** Why there was no answer; null where there was one. */
  readonly reason: string | null
}

/** Looks whether a name has a TXT record with a value. Never throws. */
export type LookForTxt = (name: string, value: string) => Promise<TxtLook>

export interface TxtOptions {
  /** Name servers as `ip` or `ip:port`; those of the system where there is none. */
  readonly servers: readonly string[]
  readonly after: After
}

const DEADLINE_MS = 5_000
/** Within the deadline a lost packet is sent again, then to the next server. */
const TRIES = {timeout: 1_000, tries: 3}
/** A name for one challenge has a few records. */
const MOST_RECORDS = 100
const MOST_AT_ONCE = 20

/** Asks name servers each time: a record that was added a moment ago is to be found. */
export function txtLooks({servers, after}: TxtOptions): LookForTxt {
  let looks = 0
  return async (name, value) => {
    if (looks >= MOST_AT_ONCE) return {outcome: 'busy', records: 0, reason: `${looks} looks are in progress`}
    looks++
    const resolver = new Resolver(TRIES)
    const cancel = after(DEADLINE_MS, () => resolver.cancel())
    try {
      if (servers.length > 0) resolver.setServers(servers)
      return judged(await resolver.resolveTxt(name), value)
    } catch (fault) {
      return failed(fault)
    } finally {
      cancel()
      looks--
    }
  }
}

/** A long record comes in chunks of 255 bytes at most (RFC 7208, 3.3). */
function judged(records: readonly (readonly string[])[], value: string): TxtLook {
  const is_there = records.slice(0, MOST_RECORDS).some(chunks => chunks.join('').trim() === value)
  const others = records.length > MOST_RECORDS ? 'too_many' : 'other_records'
  return {outcome: is_there ? 'found' : others, records: records.length, reason: null}
}

const REASONS: Readonly<Record<string, string>> = {
  ETIMEOUT: 'no answer came in time',
  ECANCELLED: `no answer came within ${DEADLINE_MS / 1000} s`,
  ECONNREFUSED: 'no name server can be reached',
  ESERVFAIL: 'it failed (SERVFAIL)',
  EREFUSED: 'it refused the question (REFUSED)',
  EBADRESP: 'its answer cannot be read',
}

function failed(fault: unknown): TxtLook {
  const {code = 'unknown'} = fault as {code?: string}
  if (code === 'ENOTFOUND') return {outcome: 'no_name', records: 0, reason: null}
  if (code === 'ENODATA') return {outcome: 'no_record', records: 0, reason: null}
  return {outcome: 'silent', records: 0, reason: REASONS[code] ?? `the look failed (${code.slice(0, 40)})`}
}
