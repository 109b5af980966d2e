import {LRUCache} from 'lru-cache'
import {Refusal} from '../base/errors.ts'
import type {MaybePromise} from '../base/maybe-promise.ts'
import {type Remembered, RowCache} from '../store/remembered.ts'
import {MAX_CONTENT_BYTES, type SecretValue, secretValue} from './contents.ts'
import {keepFault, keepValue, newEntry, type SecretEntry} from './entry.ts'
import {asManagerFault, ManagerFault} from './manager-fault.ts'
import type {ReadSecret} from './managers/reading.ts'
import type {SecretNotes} from './notes.ts'
import {type KnownReference, readReference} from './references.ts'
import type {SecretServices} from './services.ts'

const MOST_REFERENCES = 2000
/** A call waits for a cold value no longer. */
const WAIT_MS = 2_000
/** For a provider's refusal a value is fetched once in so long. */
const REFETCH_EVERY_MS = 10_000

/** The field that a value is for, as refusals say it, and the caller's workspace. */
export interface ValueUse {
  readonly organisation_id: string
  readonly workspace_id: string | null
  readonly target_field: string
}

export interface ValuesParts {
  readonly services: Pick<SecretServices, 'store' | 'seal' | 'wall' | 'after' | 'random' | 'settings'>
  readonly read: ReadSecret
  readonly notes: SecretNotes
}

/**
 * The values of references, in the memory of this process alone: fresh for five minutes or their lease, refreshed in
 * the background, used a little longer where a manager is silent, never after a no.
 */
export class SecretValues {
  readonly #parts: ValuesParts
  readonly #entries = new RowCache<SecretEntry>({max: MOST_REFERENCES})
  /** Entries whose rows may have changed: used again where they did not. */
  readonly #kept = new LRUCache<string, SecretEntry>({max: MOST_REFERENCES})
  readonly #loading = new Map<string, Promise<SecretEntry | null>>()

  constructor(parts: ValuesParts) {
    this.#parts = parts
  }

  readonly remembered: readonly Remembered[] = [
    {of: new Set(['secret_references']), forget: ids => this.#forget(ids)},
    {of: new Set(['allowed_workspaces']), forget: () => this.#forget(null)},
  ]

  /** At once where it is known. Refuses as `MappedSecrets` says. */
  valueOf(id: string, use: ValueUse): MaybePromise<{readonly reference: KnownReference; readonly value: SecretValue}> {
    const entry = this.#entries.get(id)
    if (!entry) return this.#load(id).then(found => this.#given(found, id, use))
    return this.#given(entry, id, use)
  }

  /**
   * Fetches the value of a refused one again, where that was not done lately. Gives what a call may try: the value now,
   * where it is another, else the one before it; null for neither.
   */
  async afterRefusal(id: string, digest: string): Promise<SecretValue | null> {
    const entry = this.#entries.get(id)
    if (!entry) return null
    const {wall} = this.#parts.services
    if (entry.value?.digest === digest && !entry.fetching && wall() - entry.refetched_at_ms >= REFETCH_EVERY_MS) {
      entry.refetched_at_ms = wall()
      void this.#fetch(entry).catch(nothing)
    }
    if (entry.value?.digest === digest && entry.fetching) await this.#within(entry.fetching).catch(nothing)
    const {value, previous} = entry
    if (value && value.digest !== digest) return value
    return previous && wall() < previous.until_ms && previous.value.digest !== digest ? previous.value : null
  }

  /** The age of the oldest value in use. */
  oldest_ms(): number {
    const now_ms = this.#parts.services.wall()
    let most = 0
    for (const {value} of this.#kept.values()) if (value) most = Math.max(most, now_ms - value.fetched_at_ms)
    return most
  }

  /** The age of the value that calls use now; null where none is held. */
  age_ms(id: string): number | null {
    const value = this.#entries.get(id)?.value
    return value ? this.#parts.services.wall() - value.fetched_at_ms : null
  }

  /** A fault that is remembered is forgotten: it is called again at once. */
  clear(id: string): void {
    for (const entry of [this.#entries.get(id), this.#kept.get(id)]) if (entry) entry.failure = null
  }

  #forget(ids: readonly string[] | null) {
    for (const id of ids ?? []) this.#kept.delete(id)
    this.#entries.forget(ids)
  }

  #given(entry: SecretEntry | null, id: string, use: ValueUse) {
    const reference = entry?.reference
    if (!entry || !reference || reference.organisation_id !== use.organisation_id)
      throw unresolvable(id, use, 'it was deleted')
    const {workspace_id} = use
    if (reference.allowed && workspace_id !== null && !reference.allowed.has(workspace_id))
      throw unresolvable(reference.slug, use, 'it is not open to this workspace')
    const value = this.#current(entry, use)
    return value instanceof Promise ? value.then(late => ({reference, value: late})) : {reference, value}
  }

  #current(entry: SecretEntry, use: ValueUse): MaybePromise<SecretValue> {
    const {wall, settings} = this.#parts.services
    const now_ms = wall()
    const {value, failure} = entry
    if (value && now_ms < value.fresh_until_ms) {
      if (now_ms >= value.refresh_at_ms) this.#refresh(entry, now_ms)
      return value
    }
    const stale = value && now_ms < value.fresh_until_ms + settings.secret_stale_grace_s * 1000 ? value : null
    if (!stale) entry.value = null
    if (stale && failure) {
      this.#refresh(entry, now_ms)
      return this.#stale(stale)
    }
    if (failure && now_ms < failure.until_ms && !entry.fetching) throw this.#refusal(entry, failure.fault, use)
    return this.#waited(entry, stale, use)
  }

  async #waited(entry: SecretEntry, stale: SecretValue | null, use: ValueUse): Promise<SecretValue> {
    try {
      const value = await this.#within(entry.fetching ?? this.#fetch(entry))
      if (value) return value
    } catch (fault) {
      const known = asManagerFault(fault, 'its manager')
      if (stale && !known.is_definite) return this.#stale(stale)
      throw this.#refusal(entry, known, use)
    }
    if (stale) return this.#stale(stale)
    if (entry.failure) throw this.#refusal(entry, entry.failure.fault, use)
    throw late(entry.reference.slug, use, 'its manager has not answered', 2)
  }

  /** Null where it takes too long; it is fetched all the same. */
  #within(fetching: Promise<SecretValue>): Promise<SecretValue | null> {
    const {promise, resolve} = Promise.withResolvers<null>()
    const callOff = this.#parts.services.after(WAIT_MS, () => resolve(null))
    return Promise.race([fetching, promise]).finally(callOff)
  }

  #refresh(entry: SecretEntry, now_ms: number) {
    if (entry.fetching || (entry.failure && now_ms < entry.failure.until_ms)) return
    void this.#fetch(entry).catch(nothing)
  }

  #fetch(entry: SecretEntry): Promise<SecretValue> {
    entry.fetching = this.#read(entry).finally(() => {
      entry.fetching = null
    })
    return entry.fetching
  }

  async #read(entry: SecretEntry): Promise<SecretValue> {
    const {services, read, notes} = this.#parts
    const {reference} = entry
    try {
      const answer = await read(reference.place())
      if (Buffer.byteLength(answer.content.text) > MAX_CONTENT_BYTES)
        throw new ManagerFault('unusable', 'its secret is longer than 64 KB')
      const value = secretValue(answer, services.wall(), services.random())
      keepValue(entry, value, services.wall())
      notes.fetched(entry, value)
      return value
    } catch (fault) {
      const known = asManagerFault(fault, 'its manager')
      notes.failed(entry, known)
      keepFault(entry, known, services.wall())
      throw known
    }
  }

  #load(id: string): Promise<SecretEntry | null> {
    const loading = this.#loading.get(id) ?? this.#loaded(id).finally(() => this.#loading.delete(id))
    this.#loading.set(id, loading)
    return loading
  }

  async #loaded(id: string): Promise<SecretEntry | null> {
    const {store, seal} = this.#parts.services
    const born = this.#entries.generation
    const reference = await readReference(store.db, seal, id)
    if (!reference) {
      this.#kept.delete(id)
      return null
    }
    const kept = this.#kept.get(id)
    const entry = kept?.reference.revision === reference.revision ? kept : newEntry(reference)
    this.#entries.set(id, entry, {born, rows: [id]})
    this.#kept.set(id, entry)
    return entry
  }

  #stale(value: SecretValue): SecretValue {
    this.#parts.notes.servedStale()
    return value
  }

  #refusal({reference}: SecretEntry, fault: ManagerFault, use: ValueUse): Refusal {
    const {retry_after_ms, message} = fault
    if (retry_after_ms !== null) return late(reference.slug, use, message, Math.ceil(retry_after_ms / 1000) || 1)
    return unresolvable(reference.slug, use, message, fault)
  }
}

function unresolvable(reference: string, {target_field}: ValueUse, reason: string, cause?: Error): Refusal {
  return new Refusal('secret.unresolvable', {reference, field: target_field, reason}, cause && {cause})
}

function late(reference: string, {target_field}: ValueUse, reason: string, retry_after_s: number): Refusal {
  return new Refusal('secret.late', {reference, field: target_field, reason, retry_after_s})
}

function nothing() {}
