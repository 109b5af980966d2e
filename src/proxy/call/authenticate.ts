import {hash} from 'node:crypto'
import {Refusal} from '../../base/errors.ts'
import type {RequestCredentials} from '../inbound/request.ts'
import type {Caller, ProxyServices} from '../services.ts'

/**
 * Who calls, by the key shown; refuses one that is unknown, expired, used up, of an archived workspace, or without `scope`.
 * Expiry is judged on every call, whatever the memory of keys says.
 */
export function authenticate(
  {service_key, key_hash}: RequestCredentials,
  scope: string,
  services: ProxyServices,
): Caller | Promise<Caller> {
  const found = services.findCaller(key_hash ?? hash('sha256', service_key))
  return found instanceof Promise ? found.then(caller => allowed(caller, scope, services)) : allowed(found, scope, services)
}

function allowed(caller: Caller | null, scope: string, services: ProxyServices): Caller {
  if (!caller) throw new Refusal('key.unknown')
  if (caller.expires_at_ms !== null && caller.expires_at_ms <= services.now()) {
    throw new Refusal('key.expired', {expires_at: new Date(caller.expires_at_ms).toISOString()})
  }
  if (!caller.may_infer) throw new Refusal('key.admin_inference')
  if (caller.workspace_archived) throw new Refusal('workspace.archived')
  if (!caller.scopes.has(scope)) throw new Refusal('scope.missing', {scope})
  return caller
}
