import type {Json} from '../translation.ts'

/** No call uses a trillion of anything; a larger claim is not counted. Sums of such counts stay exact. */
const MOST = 1e12

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
