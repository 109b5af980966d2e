import type {Manager} from '../../schema/secret-references.ts'

/** The place of a secret, opened: for the moment of a fetch. */
export interface SecretPlace {
  readonly manager_type: Manager
  /** As it was typed. */
  readonly path: string
  /** The login with its secrets. */
  readonly login: Readonly<Record<string, unknown>>
}

/** The content of a place: a text, or the JSON text of an object of several. */
export interface SecretContent {
  readonly kind: 'text' | 'members'
  readonly text: string
}

/** One answer of a manager. */
export interface SecretRead {
  readonly content: SecretContent
  /** The manager's id of this version; null where it has none. */
  readonly version: string | null
  /** How long it may be used; null: as long as we like. */
  readonly lease_ms: number | null
}

/** Reads a secret; rejects with a `ManagerFault`. */
export type ReadSecret = (place: SecretPlace) => Promise<SecretRead>

/** A text member of a login, which its schema has judged. */
export function textOf(login: SecretPlace['login'], name: string): string | null {
  const value = login[name]
  return typeof value === 'string' && value !== '' ? value : null
}
