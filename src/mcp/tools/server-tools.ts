import type {FastRequest} from '../../base/ingress/request.ts'
import {isList, isObject, type JsonObject, own} from '../../base/json-member.ts'
import {parsed} from '../../base/json-object.ts'
import type {ServerTool, ServerTools, ToolList, ToolOutcome, ToolsCaller} from '../../schema/server-tools.ts'
import type {ReplyTarget} from '../serve/client-reply.ts'
import type {McpUses} from '../services.ts'
import {printable} from '../wire/faults.ts'
import {paramHeadersOf, paramHeaderValues} from '../wire/param-headers.ts'
import {InnerReply} from './inner-reply.ts'
import {type InnerMessage, innerRequest} from './inner-request.ts'
import {textOfResult} from './result-text.ts'

/** The door's own function: it takes a request with all of its checks. */
export type ServeInner = (server: string, request: FastRequest, reply: ReplyTarget) => Promise<void>

const MOST_PAGES = 50
const MOST_TOOLS = 1_000

/**
 * The tools of servers for runs of models. Each list and each call is a request at the door, so that no rule of a
 * client's own request can be missing; only the socket is.
 */
export function serverTools(serve: ServeInner, services: McpUses<'settings' | 'version'>): ServerTools {
  const client = {name: services.settings.service_name, version: services.version}
  const ask = (server: string, message: InnerMessage, caller: ToolsCaller, signal: AbortSignal) =>
    answered(serve, server, innerRequest(server, message, caller, client), signal)
  return {
    async list(server, caller, signal): Promise<ToolList> {
      const tools: ServerTool[] = []
      let cursor: string | undefined
      for (let page = 0; page < MOST_PAGES && tools.length < MOST_TOOLS; page++) {
        const {result, fault} = await ask(server, listMessage(cursor), caller, signal)
        if (fault) return {ok: false, ...fault}
        const entries = own(result, 'tools')
        for (const entry of isList(entries) ? entries : []) {
          const tool = toolOf(entry)
          if (tool && tools.length < MOST_TOOLS) tools.push(tool)
        }
        const next = own(result, 'nextCursor')
        if (typeof next !== 'string' || next === cursor) break
        cursor = next
      }
      return {ok: true, tools}
    },
    async call(server, {name, input_schema}, args, caller, signal): Promise<ToolOutcome> {
      const message: InnerMessage = {
        method: 'tools/call',
        params: {name, arguments: args.value},
        members: {name: JSON.stringify(name), arguments: args.text},
        param_headers: paramHeaderValues(paramHeadersOf(input_schema).headers, args.value),
      }
      const {result, fault} = await ask(server, message, caller, signal)
      if (fault) return {is_error: true, text: fault.message}
      return {is_error: own(result, 'isError') === true, text: textOfResult(result)}
    },
  }
}

function listMessage(cursor: string | undefined): InnerMessage {
  const method = 'tools/list'
  if (cursor === undefined) return {method, params: {}, members: {}}
  return {method, params: {cursor}, members: {cursor: JSON.stringify(cursor)}}
}

interface Answered {
  readonly result?: JsonObject
  readonly fault?: {readonly status: number; readonly message: string}
}

async function answered(
  serve: ServeInner,
  server: string,
  request: FastRequest,
  signal: AbortSignal,
): Promise<Answered> {
  const reply = new InnerReply()
  const leave = () => reply.leave()
  signal.addEventListener('abort', leave, {once: true})
  try {
    if (!signal.aborted) void serve(server, request, reply).catch(leave)
    else leave()
    const message = parsed(await reply.body)
    const result = own(message, 'result')
    if (isObject(result)) return {result}
    const error = own(message, 'error')
    const text = own(error, 'message')
    const code = own(error, 'code')
    return {
      fault: {
        // codes of the gateway are statuses; others are of JSON-RPC
        status: typeof code === 'number' && code >= 400 && code <= 599 ? code : 502,
        message: typeof text === 'string' ? printable(text, 2_000) : 'The MCP server gave no answer.',
      },
    }
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

/** A tool for models; null for one that is for the pages of an app alone, or has another form. */
function toolOf(entry: unknown): ServerTool | null {
  const [name, description, schema, annotations] = ['name', 'description', 'inputSchema', 'annotations'].map(key =>
    own(entry, key),
  )
  if (typeof name !== 'string' || !isObject(schema)) return null
  const visibility = own(own(own(entry, '_meta'), 'ui'), 'visibility')
  if (isList(visibility) && !visibility.includes('model')) return null
  return {
    name,
    description: typeof description === 'string' ? description : null,
    input_schema: schema,
    annotations: isObject(annotations) ? annotations : null,
  }
}
