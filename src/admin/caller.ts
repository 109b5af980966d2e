import type {IncomingHttpHeaders} from 'node:http'
import {Refusal} from '../base/errors.ts'
import {authenticate} from '../identity/authenticator.ts'
import {authenticators} from '../identity/authenticators.ts'
import {sentKey} from '../identity/keys.ts'
import type {Db} from '../store/database.ts'
import type {Actor} from './services.ts'

/**
 * The caller whose key or session token the headers carry. Refuses one that is missing, unknown, or works no longer.
 */
export async function callerByHeaders(db: Db, headers: IncomingHttpHeaders, now: string): Promise<Actor> {
  const {key, prefix} = sentKey(headers)
  if (key === undefined) throw new Refusal('key.missing', {header: `${prefix}-api-key`})
  return authenticate(authenticators(db), key, now)
}
