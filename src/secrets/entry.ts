import type {SecretValue} from './contents.ts'
import type {ManagerFault} from './manager-fault.ts'
import type {KnownReference} from './references.ts'

/** A fault that is remembered, and until when nothing is requested because of it. */
export interface Failure {
  readonly fault: ManagerFault
  readonly until_ms: number
  readonly wait_ms: number
}

/** All that is held of one reference. */
export interface SecretEntry {
  readonly reference: KnownReference
  value: SecretValue | null
  /** The one before, for a provider that learns of a rotation a little later. */
  previous: {readonly value: SecretValue; readonly until_ms: number} | null
  fetching: Promise<SecretValue> | null
  failure: Failure | null
  /** When a provider's refusal made it be fetched last. */
  refetched_at_ms: number
  /** The content that the audit log knows of. */
  noted: string | null
}

export function newEntry(reference: KnownReference): SecretEntry {
  return {
    reference,
    value: null,
    previous: null,
    fetching: null,
    failure: null,
    refetched_at_ms: Number.NEGATIVE_INFINITY,
    noted: null,
  }
}

/** A rotation at the manager comes before that at the provider by so much at most. */
const PREVIOUS_MS = 60_000
const SILENT_MS = {first: 1_000, most: 30_000}
const DEFINITE_MS = {first: 30_000, most: 300_000}

/** A value came. */
export function keepValue(entry: SecretEntry, value: SecretValue, now_ms: number): void {
  const before = entry.value
  if (before && before.digest !== value.digest) entry.previous = {value: before, until_ms: now_ms + PREVIOUS_MS}
  entry.value = value
  entry.failure = null
}

/** A fault came. After a definite no nothing that was fetched before is used. */
export function keepFault(entry: SecretEntry, fault: ManagerFault, now_ms: number): void {
  const {first, most} = fault.is_definite ? DEFINITE_MS : SILENT_MS
  const before = entry.failure
  const is_same = before !== null && before.fault.is_definite === fault.is_definite
  const wait_ms = is_same ? Math.min(before.wait_ms * 2, most) : first
  entry.failure = {fault, wait_ms, until_ms: now_ms + Math.max(wait_ms, fault.retry_after_ms ?? 0)}
  if (!fault.is_definite) return
  entry.value = null
  entry.previous = null
}
