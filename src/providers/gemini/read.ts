import type {Json} from '../translation.ts'

/** A text that says something; null for anything else. */
export function word(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** `members` without those that are undefined or null: Google refuses a null where it knows a field. */
export function present(members: Json): Json {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null))
}
