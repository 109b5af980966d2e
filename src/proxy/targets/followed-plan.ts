import type {Destination} from '../../base/egress/target.ts'
import type {PlanNode, PlanTarget} from '../../routing/plan.ts'
import {AGAIN, type Link, unusable} from '../inbound/links.ts'
import type {ResolvedPlan} from './plan-cache.ts'
import type {Target} from './target.ts'

/** The plan of a call that continues an upload: the one target that began it, once, as its bytes pass by. */
export function followedPlan(routing: ResolvedPlan, {option_path}: Link): ResolvedPlan {
  const leaf = leafAt(routing.plan.root, option_path)
  if (!leaf) throw unusable('its config has other targets since', AGAIN)
  const {retry: _, cache: __, ...target} = leaf.target
  return {...routing, plan: {...routing.plan, root: {...leaf, target}}, targets: new Map()}
}

function leafAt(node: PlanNode, path: string): PlanTarget | null {
  if (node.kind === 'leaf') return node.path === path ? node : null
  for (const child of node.children) {
    const found = leafAt(child, path)
    if (found) return found
  }
  return null
}

/**
 * Path and query there. Refuses a place that is no longer that of the integration, whose credentials are for that
 * alone.
 */
export function linkedPath(
  {integration_id, origin, target_path}: Link,
  {managed}: Target,
  place: Destination | null,
): string {
  if ((managed?.integration_id ?? null) !== integration_id)
    throw unusable('its provider has another integration since', AGAIN)
  if (pathAt(origin + target_path, place) !== target_path) throw unusable('its provider has another place since', AGAIN)
  return target_path
}

/** Path and query of a URL in a reply, where it is at the provider's own place; null for any other. */
export function pathAt(url: string, place: Destination | null): string | null {
  if (!place || !URL.canParse(url)) return null
  const {protocol, host, username, password, pathname, search} = new URL(url)
  const own = new URL(place.origin)
  if (protocol !== own.protocol || host !== own.host || username !== '' || password !== '') return null
  const room = place.basePath.replace(VERSION, '')
  return room === '' || pathname.startsWith(`${room}/`) ? pathname + search : null
}

/** Uploads are beside the version that a base ends with. */
const VERSION = /\/v\d+(?:(?:alpha|beta)\d*)?\/?$/
