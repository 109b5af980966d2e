import type {Db} from '../store/database.ts'
import {apiKeys} from './api-keys.ts'
import type {Authenticator} from './authenticator.ts'
import type {Tokens} from './jwt/tokens.ts'
import {type SessionUse, sessions} from './sessions.ts'
import type {SignInNeeds} from './sign-in-needs.ts'
import {tokens} from './tokens.ts'

/** The stores in which kinds of credentials are looked up. */
export interface AuthenticatorParts {
  readonly db: Db
  /** Absent where the gateway judges no tokens. */
  readonly judge: Pick<Tokens, 'verified'> | undefined
  readonly use: SessionUse
  readonly sign_in_needs: Pick<SignInNeeds, 'check'>
}

/** Every kind of credential that the administration takes. A key is whatever is nothing else, so keys are last. */
export function authenticators({db, judge, use, sign_in_needs}: AuthenticatorParts): readonly Authenticator[] {
  return [sessions(db, use), ...(judge ? [tokens(judge)] : []), apiKeys(db, sign_in_needs)]
}
