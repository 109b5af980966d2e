import {hash} from 'node:crypto'
import {Refusal} from '../../base/errors.ts'
import type {RequestCredentials} from '../inbound/request.ts'
import type {Caller, Uses} from '../services.ts'

type Services = Uses<'findCaller' | 'now'>

/**
 * Finds the caller by the key shown; refuses a key that is unknown, expired, used up, of an archived workspace, or
 * without `scope`. Expiry is judged on every call, whatever the cache of keys has.
 */
export function authenticate(
  {service_key, key_hash}: RequestCredentials,
  scope: string,
  services: Services,
): Caller | Promise<Caller> {
  const found = services.findCaller(key_hash ?? hashOf(service_key))
  return found instanceof Promise
    ? found.then(caller => allowed(caller, scope, services))
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

function allowed(caller: Caller | null, scope: string, services: Services): Caller {
  if (!caller) throw new Refusal('key.unknown')
  if (caller.expires_at_ms !== null && caller.expires_at_ms <= services.now()) {
    throw new Refusal('key.expired', {expires_at: new Date(caller.expires_at_ms).toISOString()})
  }
  if (!caller.may_infer) throw new Refusal('key.admin_inference')
  if (caller.workspace_archived) throw new Refusal('workspace.archived')
  if (!caller.scopes.has(scope)) throw new Refusal('scope.missing', {scope})
  return caller
}
