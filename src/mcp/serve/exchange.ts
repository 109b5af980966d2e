import type {ClientRequest} from '../../base/ingress/request.ts'
import {isObject, type JsonObject, own} from '../../base/json-member.ts'
import {cutTo} from '../../base/stored-text.ts'
import type {McpServer} from '../call/server.ts'
import type {McpTrace} from '../call/trace.ts'
import type {ListMethod} from '../content/entries.ts'
import type {HeldCalls} from '../held/held-calls.ts'
import type {UpstreamSource} from '../pool/source.ts'
import {MessageRecord} from '../records/message-record.ts'
import {nameOf} from '../relay/allowed.ts'
import type {Cursors} from '../relay/cursors.ts'
import type {TaskIds} from '../relay/task-ids.ts'
import type {ToolBook} from '../relay/tool-book.ts'
import type {McpCaller, McpServices} from '../services.ts'
import type {Sessions} from '../sessions/sessions.ts'
import {McpFault} from '../wire/faults.ts'
import {paramsText, type RpcRequest} from '../wire/messages.ts'
import type {ClientReply} from './client-reply.ts'
import type {HeldRelay} from './held-relay.ts'
import type {ListChanges} from './list-changes.ts'

/** The parts of the plane that serve all requests. */
export interface ServingParts {
  readonly services: McpServices
  readonly source: UpstreamSource
  readonly tools: ToolBook
  readonly cursors: Cursors
  readonly task_ids: TaskIds
  readonly held: HeldCalls<HeldRelay>
  readonly sessions: Sessions
  readonly list_changes: ListChanges
  /** The process, as sealed states name it. */
  readonly process_id: string
  /** Work that a client may leave while it continues: the shutdown waits for it. */
  readonly work: Set<Promise<unknown>>
  /** Aborted when the process begins to end: standing streams end then. */
  readonly draining: AbortSignal
}

/** One HTTP request of an admitted caller. */
export interface McpExchange {
  readonly request: ClientRequest
  readonly caller: McpCaller
  readonly server: McpServer
  readonly auth: 'api_key' | 'jwt' | 'oauth'
  /** Claims of the second token, where the integration wants one. */
  validated: JsonObject | undefined
  readonly reply: ClientReply
  readonly metadata: Readonly<Record<string, string>>
  /** Headers as the log keeps them. */
  readonly masked_headers: Readonly<Record<string, string>>
  readonly keeps_bodies: boolean
  /** Of a run of a model: questions have no answer, and a list that it made has no row. */
  readonly is_of_run: boolean
  readonly at_ms: number
  readonly started: number
  /** The virtual server that a call of `server` came by. */
  readonly via?: ViaVirtual
}

export interface ViaVirtual {
  readonly slug: string
  /** The call was inside of another: its arguments are in no header. */
  readonly is_inside: boolean
}

const MOST_RPC_ID_BYTES = 64

/** The record of one request of a exchange. */
export function recordOf(
  exchange: McpExchange,
  message: RpcRequest,
  of: {
    readonly trace: McpTrace
    readonly version: string
    readonly client_info: unknown
    /** Names the session of a client of the old era. */
    readonly session_digest?: string | undefined
    readonly continues?: {readonly call_id: string; readonly log_id: string}
  },
  services: McpServices,
): MessageRecord {
  const {request, caller, server, auth, metadata, masked_headers, keeps_bodies, at_ms, started, is_of_run} = exchange
  const name = own(of.client_info, 'name')
  return new MessageRecord(
    {
      ...{caller, server, metadata, keeps_bodies, at_ms, started},
      method: message.method,
      name: nameOf(message.method, message.params),
      trace: of.trace,
      http: {method: request.method ?? 'POST', url: request.url ?? '', headers: masked_headers},
      params: paramsText(message),
      has_row: !(is_of_run && message.method === 'tools/list'),
      detail: {
        ...{client_protocol: of.version, client_name: typeof name === 'string' ? name.slice(0, 256) : null, auth},
        ...(exchange.via && {virtual_server: exchange.via.slug}),
        rpc_id: cutTo(message.id_text, MOST_RPC_ID_BYTES),
        ...(of.session_digest !== undefined && {session_digest: of.session_digest}),
      },
      ...(of.continues && {continues: of.continues}),
    },
    services,
  )
}

/** Hands entries of a list that the rows do not have to the sync. */
export function sightedOf({services}: ServingParts, {server}: McpExchange) {
  return (method: ListMethod, entries: readonly JsonObject[]) => services.sighted(server.integration, method, entries)
}

/** `_meta` of a request; undefined where it is no object. */
export function metaOf(params: JsonObject | undefined): JsonObject | undefined {
  const meta = own(params, '_meta')
  return isObject(meta) ? meta : undefined
}

/** The upstream's cursor of a list request; null for none. Throws `params_invalid` for one of another list. */
export function cursorOf(message: RpcRequest, {cursors}: ServingParts, {caller, server}: McpExchange): string | null {
  const cursor = own(message.params, 'cursor')
  if (cursor === undefined) return null
  if (typeof cursor !== 'string')
    throw new McpFault('params_invalid', {reason: 'cursor has to be a string'}, {id_text: message.id_text})
  return cursors.open(cursor, message.method, {caller, server})
}
