import type {JsonValue} from '../../base/json-member.ts'

/** An id of a person at a provider: 1-255 characters that a database keeps as they are. */
export function isSubject(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && /^[^\p{Cc}\p{Cs}]{1,255}$/u.test(value)
}
