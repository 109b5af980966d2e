import type {Db} from '../store/database.ts'
import {apiKeys} from './api-keys.ts'
import type {Authenticator} from './authenticator.ts'
import {sessions} from './sessions.ts'

/** Every kind of credential that the administration takes. A key is whatever is nothing else, so keys are last. */
export function authenticators(db: Db): readonly Authenticator[] {
  return [sessions(db), apiKeys(db)]
}
