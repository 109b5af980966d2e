import type {JsonObject} from '../../base/json-member.ts'
import {parsed} from '../../base/json-object.ts'
import {cutTo} from '../../base/stored-text.ts'
import type {McpServer} from '../call/server.ts'
import {discoverFromInitialize} from '../content/capabilities.ts'
import type {LegacyVersion} from '../wire/versions.ts'
import type {MemberTools} from './member-tools.ts'

/** How a virtual server introduces itself: for all servers behind it. */

const MOST_INSTRUCTIONS = 8 * 1024
const DISCOVER_MS = 60_000

/** The facts of an introduction. */
export interface Introduction {
  readonly server: McpServer
  readonly members: ReadonlyMap<string, MemberTools>
  /** True where a tool that the client sees has a page. */
  readonly has_pages: boolean
  /** Of the gateway. */
  readonly version: string
}

/** The result of `initialize`: JSON text. */
export function virtualInitialize(of: Introduction, protocolVersion: LegacyVersion): string {
  return JSON.stringify({
    protocolVersion,
    capabilities: {tools: {listChanged: true}, ...(of.has_pages && {resources: {}})},
    serverInfo: serverInfo(of.server, of.version),
    ...instructionsOf(of),
  })
}

/** The result of `server/discover`: JSON text. */
export function virtualDiscover(of: Introduction): string {
  const text = virtualInitialize(of, '2025-11-25')
  return discoverFromInitialize(parsed(text) as JsonObject, text, DISCOVER_MS)
}

export function serverInfo({slug, name}: McpServer, version: string) {
  return {name: slug, title: name, version}
}

/** Those of each server under its name. One that is too long is cut, so that the others have their room. */
function instructionsOf({server, members}: Introduction): {readonly instructions?: string} {
  const slugs = new Map(server.virtual!.tools.map(each => [each.server.id, each.server.slug]))
  const parts = [...slugs].flatMap(([id, slug]) => {
    const text = members.get(id)?.hello?.instructions?.trim()
    return text ? [`# ${slug}\n\n${text}`] : []
  })
  let left = MOST_INSTRUCTIONS
  const cut = parts.map((part, at) => {
    const gap = at === 0 ? 0 : 2
    const kept = cutTo(part, Math.floor(left / (parts.length - at)) - gap)
    left -= Buffer.byteLength(kept) + gap
    return kept
  })
  return cut.length > 0 ? {instructions: cut.join('\n\n')} : {}
}
