import type {MaybePromise} from '../base/maybe-promise.ts'

/** One field that is filled from a secret reference. */
export interface MappedField {
  readonly target_field: string
  /** The id of the reference. */
  readonly secret_reference_id: string
  readonly secret_key?: string | null | undefined
  readonly value_format?: 'json' | 'string' | null | undefined
}

/** The fields of one row that are filled from secret references. */
export interface MappedFields {
  readonly organisation_id: string
  /** The workspace that calls; null: none does, as the row is read in the background. */
  readonly workspace_id: string | null
  readonly fields: readonly MappedField[]
}

/** Values of mapped fields: the same object as long as none of them changes. Never to be kept, logged or shown. */
export interface FieldValues {
  /** By `target_field`: a text, or what JSON holds. */
  readonly byField: ReadonlyMap<string, unknown>
  /** The slugs of their references, by `target_field`. */
  readonly references: ReadonlyMap<string, string>
  /** Texts of them that may not come back in an answer. */
  readonly texts: readonly string[]
}

/** Secrets of managers, for calls. */
export interface MappedSecrets {
  /**
   * At once where they are known. Refuses with `secret.unresolvable` where a field cannot be filled, and with
   * `secret.late` where its manager takes too long.
   */
  valuesOf(mapped: MappedFields): MaybePromise<FieldValues>
  /**
   * A provider refused these: others for one repetition, where a manager has others by now, else null. Never rejects.
   */
  refused(mapped: MappedFields, used: FieldValues): Promise<FieldValues | null>
}

/** The result of a test of a reference. */
export interface ReferenceTest {
  readonly reachable: boolean
  readonly allowed: boolean
  /** Null where the reference names no key, or nothing was read. */
  readonly key_present: boolean | null
  /** Of the value that calls use now; null where none is held. */
  readonly age_s: number | null
  readonly version: string | null
  readonly response_time_ms: number
  /** Null where all is well; of a manager's answer status, code and request id alone. */
  readonly error: string | null
  readonly warning: string | null
}
