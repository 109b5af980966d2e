import type {Json} from '../translation.ts'

const NOTHING: Json = Object.freeze({})
/** No call uses a trillion of anything; a larger claim is not counted. Sums of such counts stay exact. */
const MOST = 1e12

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function object(value: unknown): Json {
  return isObject(value) ? value : NOTHING
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** A text that says something; null for anything else. */
export function word(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** A number as a count; 0 for what cannot be one. */
export function count(value: unknown): number {
  return typeof value === 'number' && value >= 0 && value <= MOST ? Math.ceil(value) : 0
}

/** `members` without those that are undefined or null: Google refuses a null where it knows a field. */
export function present(members: Json): Json {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null))
}
