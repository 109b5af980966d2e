import {FastRequest} from '../../base/ingress/request.ts'
import type {JsonObject} from '../../base/json-member.ts'
import type {ToolsCaller} from '../../schema/server-tools.ts'
import {META_KEYS} from '../wire/envelope.ts'
import {requestText} from '../wire/messages.ts'
import {standardHeaders} from '../wire/standard-headers.ts'
import {MODERN_VERSIONS} from '../wire/versions.ts'

const [VERSION] = MODERN_VERSIONS

/** Headers of the client that are not of an inner request: of its body, its connection, its place, its era. */
const NOT_TAKEN = /^(?:host|origin|connection|expect|upgrade|last-event-id|accept|(?:content|transfer|accept|mcp)-.*)$/

/** One message of a run. `members`: those of `params` beside `_meta`, each with its JSON text. */
export interface InnerMessage {
  readonly method: 'tools/list' | 'tools/call'
  readonly params: JsonObject
  readonly members: Readonly<Record<string, string>>
  readonly param_headers?: Readonly<Record<string, string>>
}

/**
 * A request of the revision 2026-07-28, as a client would POST it: it describes itself. It declares forms, so that a
 * question ends its call with an error, and a tool does not continue as if a person had declined.
 */
export function innerRequest(
  server: string,
  message: InnerMessage,
  caller: ToolsCaller,
  client: {readonly name: string; readonly version: string},
): FastRequest {
  const {method, params, members, param_headers} = message
  const meta = {
    [META_KEYS.version]: VERSION,
    [META_KEYS.client_info]: client,
    [META_KEYS.client_capabilities]: {elicitation: {form: {}}},
  }
  const all = {...members, _meta: JSON.stringify(meta)}
  const texts = Object.entries(all).map(([key, text]) => `${JSON.stringify(key)}:${text}`)
  const body = Buffer.from(requestText('1', method, `{${texts.join(',')}}`))
  const headers = {
    ...Object.fromEntries(Object.entries(caller.headers).filter(([name]) => !NOT_TAKEN.test(name))),
    ...{'content-type': 'application/json', accept: 'application/json', 'content-length': String(body.length)},
    ...standardHeaders({version: VERSION, method, params}),
    ...param_headers,
    'x-gateway-api-key': caller.credential,
  }
  const peer = caller.remote_address === null ? undefined : {remoteAddress: caller.remote_address}
  const request = new FastRequest('POST', `/${server}/mcp`, {headers, body_bytes: body.length}, peer)
  request.take(body)
  return request
}
