import type {FastRequest} from '../base/ingress/request.ts'
import type {ClientResponse} from '../base/ingress/response.ts'
import type {McpDoor, McpPath} from '../mcp/door.ts'
import {PlainReply} from '../mcp/serve/plain-reply.ts'
import {ROOT_PATTERNS} from '../proxy/inbound/doors.ts'

/** Takes plain requests before node:http reads them. */
export interface PlainTaker {
  takes(path: string): boolean
  handle(request: FastRequest, response: ClientResponse): void
}

const END = '/mcp'
/** Of other planes, whatever follows. */
const OTHERS = ['/v1/*', ...ROOT_PATTERNS].map(each => each.slice(0, -1))
/** Names that need no decoding. Anything else is for the router to read. */
const PLAIN = /^\/(?:([\w-]+)\/)?([\w-]+)\/mcp$/

/** Plain requests of MCP endpoints, which are read without node:http and the router. */
export function plainMcp({handle}: Pick<McpDoor, 'handle'>): PlainTaker {
  return {
    takes: url => plainPath(url) !== null,
    handle(request, response) {
      void handle(plainPath(request.url)!, request, new PlainReply(response))
    },
  }
}

/** The server that a request line names; null where it is for others to read. */
export function plainPath(url: string): McpPath | null {
  if (!url.endsWith(END) || OTHERS.some(each => url.startsWith(each))) return null
  const found = PLAIN.exec(url)
  return found && {workspace: found[1] ?? null, server: found[2]!}
}
