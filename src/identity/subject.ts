import type {ApiKeyKind} from '../store/tables/identity.ts'

/** The one who acts. An `id` is unique among the subjects of its kind. */
export type Subject = ApiKeySubject | UserSubject | TokenSubject | OperatorSubject | AnonymousSubject

export interface ApiKeySubject {
  readonly kind: 'api_key'
  readonly id: string
  readonly key_kind: ApiKeyKind
  /** The user whose key it is; null for a service. */
  readonly user_id: string | null
}

/** A person, by a session. */
export interface UserSubject {
  readonly kind: 'user'
  readonly id: string
  /** Null where he only is named: he accepts an invite, or signs in. */
  readonly session_id: string | null
}

/** A token that an identity provider signed: a service of its workspace, for as long as the token holds. */
export interface TokenSubject {
  readonly kind: 'token'
  /** `jwt:` and 32 hex digits, of what the token says: a token that is signed again is the same one. */
  readonly id: string
  /** The active user of the organisation whose address the token names. */
  readonly user_id: string | null
}

/** Has the data directory, and so everything in it. */
export interface OperatorSubject {
  readonly kind: 'operator'
  readonly id: null
}

/** Showed nothing, and asks for nothing that is not open to everyone. */
export interface AnonymousSubject {
  readonly kind: 'anonymous'
  readonly id: null
}

/** The user who acts, by a session, a key of his own or a token; null for services, the operator and strangers. */
export function userOf(subject: Subject): string | null {
  if (subject.kind === 'user') return subject.id
  return 'user_id' in subject ? subject.user_id : null
}

/** The id that rows name as their author: that of the user, else of the key or token; null for the operator. */
export function authorOf(subject: Subject): string | null {
  return userOf(subject) ?? subject.id
}

/** True for what acts for a workspace and for no person: its service keys, and tokens. */
export function isService(subject: Subject): boolean {
  return subject.kind === 'token' || isKeyOf(subject, 'workspace-service')
}

export function isKeyOf(subject: Subject, kind: ApiKeyKind): boolean {
  return subject.kind === 'api_key' && subject.key_kind === kind
}
