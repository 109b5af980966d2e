import type {Access} from './access.ts'

/** When a credential is shown, and from where. */
export interface Showing {
  /** ISO 8601 in UTC. */
  readonly now: string
  readonly client_ip: string | null
}

/**
 * One kind of credential. To add a kind: CONTRIBUTING, "Add a kind of subject".
 *
 * @example <caption>The token of a session</caption>
 * recognises('gs-…') // true
 * await authenticate('gs-…', {now: '2026-03-01T00:00:00.000Z', client_ip: null})
 * // {subject: {kind: 'user', id: 'u1'}, organisation_id: 'o1', reach: {kind: 'membership'}, scopes: Set {…}, …}
 */
export interface Authenticator {
  /** Judges by the look of the credential alone; reads no row. */
  recognises(credential: string): boolean
  /** Refuses a credential that is unknown, ended or withdrawn. */
  authenticate(credential: string, showing: Showing): Promise<Access>
}

/** Asks the first that recognises the credential; the last of them takes whatever the others do not. */
export function authenticate(
  authenticators: readonly Authenticator[],
  credential: string,
  showing: Showing,
): Promise<Access> {
  const known = authenticators.find(each => each.recognises(credential)) ?? authenticators.at(-1)!
  return known.authenticate(credential, showing)
}
