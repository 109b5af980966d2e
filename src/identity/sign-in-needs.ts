import {LRUCache} from 'lru-cache'
import {Refusal} from '../base/errors.ts'
import {provisioningSettings} from '../schema/organisation-auth.ts'
import type {FoundKey} from '../store/api-keys.ts'
import type {Db} from '../store/database.ts'
import {lastSignIn} from '../store/last-sign-ins.ts'

/** The person of a key has to have come in by an identity provider lately (`provisioning.keys_need_sign_in_days`). */
export interface SignInNeed extends Pick<FoundKey, 'organisation_id' | 'workspace_id'> {
  readonly key_id: string
  readonly user_id: string
  readonly days: number
  /** The days of a person who has never come in that way are counted from it. */
  readonly created_ms: number
}

/** A key that was refused for want of a sign-in. */
export interface RefusedKey extends Pick<SignInNeed, 'organisation_id' | 'workspace_id' | 'key_id' | 'user_id'> {
  readonly reason: string
  readonly status: number
  readonly client_ip: string | null
}

export interface SignInNeedsOptions {
  readonly db: Db
  /** Epoch milliseconds. */
  readonly now: () => number
  /** The address at which people sign in; null where the gateway does not know its own. */
  readonly sign_in_url: string | null
  readonly onRefused: (refused: RefusedKey) => void
}

interface Seen {
  /** Null for a person who never came in by a provider. */
  readonly signed_in_ms: number | null
  readonly read_ms: number
}

const DAY_MS = 86_400_000
const KNOWN_PEOPLE = 20_000
/** The keys of a person who has to sign in read the database so often at most, and work so soon after he does. */
const READ_AGAIN_MS = 500

/** The need of a found key; null where it works without. */
export function signInNeed(row: FoundKey): SignInNeed | null {
  const {id, organisation_id, workspace_id, user_id, created_at, organisation_auth} = row
  if (user_id === null || !organisation_auth) return null
  const {keys_need_sign_in_days: days} = provisioningSettings(organisation_auth)
  if (days === null) return null
  return {key_id: id, organisation_id, workspace_id, user_id, days, created_ms: Date.parse(created_at)}
}

/** Until when a key works, if its person does not come in again (epoch milliseconds). */
export function needsSignInBy(
  {days, created_ms}: Pick<SignInNeed, 'days' | 'created_ms'>,
  signed_in_ms: number | null,
): number {
  return (signed_in_ms ?? created_ms) + days * DAY_MS
}

/**
 * Judges each use of a key whose person has to sign in now and then. Times of sign-ins are remembered, and no write
 * drops them: they only grow, so that an old one refuses too early at worst, and then it is read again.
 */
export class SignInNeeds {
  readonly #options: SignInNeedsOptions
  readonly #seen = new LRUCache<string, Seen>({max: KNOWN_PEOPLE})
  readonly #reading = new Map<string, Promise<Seen>>()

  constructor(options: SignInNeedsOptions) {
    this.#options = options
  }

  /** Refuses a key whose person has not come in for too long. At once where that is known. */
  check(need: SignInNeed | null, client_ip: string | null): void | Promise<void> {
    if (need === null) return
    const now_ms = this.#options.now()
    const name = `${need.organisation_id}/${need.user_id}`
    const seen = this.#seen.get(name)
    if (seen && now_ms < needsSignInBy(need, seen.signed_in_ms)) return
    if (seen && Math.abs(now_ms - seen.read_ms) < READ_AGAIN_MS) throw this.#refused(need, client_ip)
    return this.#read(name, need).then(read => {
      if (now_ms >= needsSignInBy(need, read.signed_in_ms)) throw this.#refused(need, client_ip)
    })
  }

  /** One read for all calls that wait for it. */
  #read(name: string, {organisation_id, user_id}: SignInNeed): Promise<Seen> {
    const reading = this.#reading.get(name)
    if (reading) return reading
    const {db, now} = this.#options
    const begun = (async () => {
      try {
        const at = await lastSignIn(db, organisation_id, user_id)
        const seen = {signed_in_ms: at === null ? null : Date.parse(at), read_ms: now()}
        this.#seen.set(name, seen)
        return seen
      } finally {
        this.#reading.delete(name)
      }
    })()
    this.#reading.set(name, begun)
    return begun
  }

  #refused(need: SignInNeed, client_ip: string | null): Refusal {
    const {onRefused, sign_in_url} = this.#options
    const place = sign_in_url === null ? '' : ` at ${sign_in_url}`
    const refusal = new Refusal('key.needs_sign_in', {days: need.days, place})
    const {days: _, created_ms: __, ...key} = need
    onRefused({...key, reason: refusal.message, status: refusal.status, client_ip})
    return refusal
  }
}
