import {hash} from 'node:crypto'
import {Refusal} from '../../base/errors.ts'
import {hasScope} from '../../identity/access.ts'
import {requireLive} from '../../identity/api-keys.ts'
import type {InboundRequest, RequestCredentials} from '../inbound/request.ts'
import type {Caller, KnownCaller, Uses} from '../services.ts'

type Services = Uses<'findCaller' | 'findCallerByCredential' | 'now'>

/**
 * Finds the caller by the key or token shown; refuses one that is unknown, expired, used up, of an archived workspace,
 * or without `scope`. Expiry is judged on every call, whatever the cache of keys has.
 */
export function authenticate(
  {service_key, key_hash}: RequestCredentials,
  scope: string,
  services: Services,
  {request}: Pick<InboundRequest, 'request'>,
): Caller | Promise<Caller> {
  const by_credential = key_hash === undefined ? services.findCallerByCredential(service_key, request) : undefined
  const found = by_credential ?? services.findCaller(key_hash ?? hashOf(service_key), request)
  return found instanceof Promise
    ? found.then(known => allowed(known, scope, services))
    : allowed(found, scope, services)
}

/** A longer text is no key of ours. */
const MAX_KEPT_LENGTH = 256
const MAX_KEPT = 1000
/**
 * Hashes of keys that came lately: an app sends the same key with each call, and a look costs a twentieth of a hash.
 */
const hashes = new Map<string, string>()

function hashOf(service_key: string): string {
  const known = hashes.get(service_key)
  if (known !== undefined) return known
  const hashed = hash('sha256', service_key)
  if (service_key.length <= MAX_KEPT_LENGTH) {
    if (hashes.size >= MAX_KEPT) hashes.clear()
    hashes.set(service_key, hashed)
  }
  return hashed
}

function allowed(known: KnownCaller | null, scope: string, services: Services): Caller {
  if (!known) throw new Refusal('key.unknown')
  const access = requireLive(known, services.now())
  if (!known.caller) throw new Refusal('key.admin_inference')
  if (!hasScope(access, scope)) throw new Refusal('scope.missing', {scope})
  return known.caller
}
