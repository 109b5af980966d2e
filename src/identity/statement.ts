/**
 * One person, as an identity provider stated him at a sign-in. All of it is verified to come of that provider; whether
 * the provider may say it of a user here is judged by `src/sign-in`.
 */
export interface Statement {
  /** Stable at its provider, never given to another; null where the provider names none: then the address decides. */
  readonly subject: string | null
  /** As it came: `readAddress` of `src/base` judges it. */
  readonly email: unknown
  /** True or false as the provider says; null where it says nothing. */
  readonly email_verified: boolean | null
  readonly first_name: string | null
  readonly last_name: string | null
  readonly groups: StatedGroups
  /** ISO 8601 UTC: the provider wants the session to end by then. */
  readonly session_ends_at: string | null
  /** The token to show at the provider's logout; OIDC alone has it. */
  readonly id_token: string | null
  /** By what the provider speaks of this sign-in when it is over; OIDC alone has it. */
  readonly provider_session: ProviderSession | null
}

/** A sign-in as its provider names it. */
export interface ProviderSession {
  readonly issuer: string
  /** Null: the provider names none. */
  readonly sid: string | null
  readonly sub: string
}

/**
 * `known`: these are all of them, exactly as written; `dropped` counts entries that were no text. `unknown`: they did
 * not fit, or could not be read, so that nothing may be concluded. `unset`: the connection does not ask for groups.
 */
export type StatedGroups =
  | {readonly kind: 'known'; readonly names: readonly string[]; readonly dropped: number}
  | {readonly kind: 'unknown'; readonly reason: string}
  | {readonly kind: 'unset'}
