import type {IncomingHttpHeaders} from 'node:http'
import {Refusal} from '../base/errors.ts'
import {authenticate, type Showing} from '../identity/authenticator.ts'
import {authenticators} from '../identity/authenticators.ts'
import {sentKey} from '../identity/keys.ts'
import type {Actor, AdminServices} from './services.ts'

/**
 * The caller whose key, session or token the headers carry. Refuses one that is missing, unknown, or works no longer.
 */
export async function callerByHeaders(
  headers: IncomingHttpHeaders,
  showing: Showing,
  {store, tokens}: Pick<AdminServices, 'store' | 'tokens'>,
): Promise<Actor> {
  const {key, prefix} = sentKey(headers)
  if (key === undefined) throw new Refusal('key.missing', {header: `${prefix}-api-key`})
  return authenticate(authenticators(store.db, tokens), key, showing)
}
