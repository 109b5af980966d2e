import {hash} from 'node:crypto'
import {linkHeaders, withOwnLinks} from '../../providers/vendor-operations/links.ts'
import {LINK_MS, ownOrigin, sealedPath, selectorsOf} from '../inbound/links.ts'
import {readCredentials} from '../inbound/request.ts'
import {pathAt} from '../targets/followed-plan.ts'
import type {AttemptParts} from './attempt-owner.ts'

/**
 * Puts an address of ours in the place of each that a reply's headers hand to the client. One that leads elsewhere than
 * to the provider's own place is left out: a provider's answer chooses no host for the gateway.
 */
export function ownAddresses(headers: Record<string, string>, parts: AttemptParts): void {
  const {call} = parts
  for (const name of linkHeaders(call.operation?.operation.links ?? null)) {
    const address = headers[name]
    if (address === undefined) continue
    const sealed = sealedAddress(address, parts)
    if (sealed === null) delete headers[name]
    else headers[name] = sealed
    const change = sealed === null ? 'was left out of the reply, as it leads to another place' : 'leads to the gateway'
    call.changes = [...call.changes.filter(each => !each.startsWith(`${name} `)), `${name} ${change}`]
  }
}

function sealedAddress(address: string, {call, target, request, services}: AttemptParts): string | null {
  const {incoming, caller, link} = call
  const origin = ownOrigin(incoming)
  const target_path = pathAt(address, request.destination)
  if (origin === null || target_path === null) return null
  const {selectors, config_hash} = link ?? selectorsOf(incoming)
  const is_chosen = Object.keys(selectors).length > 0 || config_hash !== null || caller.config_id !== null
  const path = sealedPath(
    {
      organisation_id: caller.organisation_id,
      workspace_id: caller.workspace_id,
      key_hash: link?.key_hash ?? hash('sha256', readCredentials(incoming).service_key),
      principal: {kind: caller.kind, id: caller.id},
      integration_id: target.managed?.integration_id ?? null,
      option_path: target.option_path,
      selectors: is_chosen ? selectors : {provider: target.managed ? `@${target.managed.slug}` : target.provider.slug},
      config_hash,
      origin: request.destination!.origin,
      target_path,
      expires_at_ms: link?.expires_at_ms ?? services.now() + LINK_MS,
    },
    services.seal,
  )
  return path === null ? null : origin + path
}

/** True when a whole good reply has links that must lead to us. */
export function holdsLinks({call}: AttemptParts, headers: Readonly<Record<string, string>>): boolean {
  return call.operation?.operation.links === 'results_url' && /json/i.test(headers['content-type'] ?? '')
}

/** Such a reply with addresses of ours; the rest of its bytes stay. */
export function withOwnAddresses(bytes: Buffer, {call}: AttemptParts): Buffer {
  const origin = ownOrigin(call.incoming)
  const url = call.incoming.request.url ?? ''
  const {bytes: written, changed} = withOwnLinks(bytes, {origin, url})
  if (changed !== null) call.changes = [...new Set([...call.changes, changed])]
  return written
}
