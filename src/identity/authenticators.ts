import type {Db} from '../store/database.ts'
import {apiKeys} from './api-keys.ts'
import type {Authenticator} from './authenticator.ts'
import type {Tokens} from './jwt/tokens.ts'
import {sessions} from './sessions.ts'
import {tokens} from './tokens.ts'

/**
 * Every kind of credential that the administration takes; tokens where the gateway judges them. A key is whatever is
 * nothing else, so keys are last.
 */
export function authenticators(db: Db, judge: Pick<Tokens, 'verified'> | undefined): readonly Authenticator[] {
  return [sessions(db), ...(judge ? [tokens(judge)] : []), apiKeys(db)]
}
