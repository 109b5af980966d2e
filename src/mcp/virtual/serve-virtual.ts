import type {McpExchange, ServingParts} from '../serve/exchange.ts'
import type {LegacyHandshake, LegacyPost, ModernRequest} from '../wire/client-era.ts'
import {serveVirtualHandshake, serveVirtualLegacy} from './legacy.ts'
import {serveVirtualModern} from './modern.ts'

/** Serves a POST to a virtual server. */
export function serveVirtual(
  post: LegacyHandshake | LegacyPost | ModernRequest,
  exchange: McpExchange,
  parts: ServingParts,
): Promise<void> {
  if (post.era === 'modern') return serveVirtualModern(post, exchange, parts)
  return post.kind === 'initialize'
    ? serveVirtualHandshake(post, exchange, parts)
    : serveVirtualLegacy(post, exchange, parts)
}
