import type {After} from '../../base/delay.ts'
import type {Egress} from '../../base/egress/pools.ts'
import type {Asker} from '../../base/egress/target.ts'
import type {JsonObject} from '../../base/json-member.ts'
import type {MaybePromise} from '../../base/maybe-promise.ts'
import type {McpLogLevel} from '../wire/envelope.ts'
import type {RpcAnswer, RpcId, RpcNotification, RpcRequest} from '../wire/messages.ts'
import type {ProbeCredential} from '../wire/upstream-era.ts'
import type {Era} from '../wire/versions.ts'

/** An upstream's address, and how it is spoken to. No credential is in it. */
export interface UpstreamPlace {
  readonly url: string
  /** `http`: Streamable HTTP; `sse`: HTTP+SSE of 2024; null: the first, and the second where that is refused. */
  readonly transport: 'http' | 'sse' | null
  readonly asker: Asker
  readonly workspace_id: string
  /** Its name in sentences for clients. */
  readonly server: string
}

/** Headers of one request, made for each: a token that was refreshed meanwhile is used. */
export type HeaderSource = () => MaybePromise<Readonly<Record<string, string>>>

export interface UpstreamServices {
  readonly egress: Pick<Egress, 'destination' | 'pool'>
  /** The way out of standing streams: they are many, and must take no connection from calls. */
  readonly stream_egress: Pick<Egress, 'destination' | 'pool'>
  /** Milliseconds of a clock that is never set. */
  readonly steady: () => number
  readonly wall: () => number
  readonly after: After
}

/** A client as it describes itself: JSON texts, so that its words keep their bytes. */
export interface ClientTexts {
  readonly client_info: string
  readonly client_capabilities: string
}

export interface UpstreamOptions extends ClientTexts {
  /** The kind of credential in the headers: it decides about a refusal of the probe. */
  readonly credential: ProbeCredential
  /** Found before: there is no probe. Null: unknown. */
  readonly known: Pick<EraFinding, 'era' | 'transport'> | null
  /** The `Hello` of a known modern upstream that is still good: nothing is sent. */
  readonly hello?: Hello
  /** A legacy session that is continued, as after a restart: nothing is sent but the GET of its stream. */
  readonly session?: LegacySession
  /** Called for each notice of a legacy upstream that one of its lists is another. */
  readonly onListChange?: () => void
  readonly signal?: AbortSignal
  /** For each of the requests that opening takes. */
  readonly timeout_ms: number
}

/** All that it takes to continue a legacy session. */
export interface LegacySession {
  /** Null of an upstream without sessions. */
  readonly id: string | null
  /** The address after a redirect. */
  readonly url: string
  readonly hello: Hello
}

/** The answer of an upstream to `initialize` or `server/discover`. */
export interface Hello {
  readonly era: Era
  readonly protocol_version: string
  /** JSON of the result as it came. */
  readonly text: string
  readonly capabilities: JsonObject
  readonly server_info: JsonObject | null
  readonly instructions: string | null
}

/** The era of an upstream as it was found; kept by the caller, with its date. */
export interface EraFinding {
  readonly era: Era
  readonly transport: 'http' | 'sse'
  readonly at_ms: number
}

export interface OpenedUpstream {
  readonly upstream: McpUpstream
  /** Null where the known era holds: its date is that of its probe. */
  readonly finding: EraFinding | null
}

/** Takes what comes on the stream of a request, or on a standing one, before an answer. */
export interface ReplySink {
  /**
   * A notification. Progress has the token of the caller; it does not come where the caller gave none. The stream is
   * not read further before what this gives is resolved.
   */
  notification(message: RpcNotification): MaybePromise<void>
}

export interface RequestSink extends ReplySink {
  /** Legacy alone: a question of a kind that the client declared. Its answer goes by `McpUpstream.answer`. */
  question(message: RpcRequest): void
}

export interface RequestOptions {
  readonly signal: AbortSignal
  /** Time in which a question waits for its answer counts in none of them. */
  readonly total_ms: number
  /** Between two messages of the upstream; also until the head of its reply, unless `first_byte_ms` says otherwise. */
  readonly idle_ms: number
  readonly first_byte_ms?: number
}

export interface McpUpstreamRequest {
  readonly method: string
  /** JSON text of an object. */
  readonly params: string | undefined
  /** Modern alone: `Mcp-Param-*`. */
  readonly param_headers?: Readonly<Record<string, string>>
  /** Modern alone: the level of log messages that are wanted; none without it. */
  readonly log_level?: McpLogLevel
  /** Modern alone: the client of this request, where it is another than the one that it was opened for. */
  readonly client?: ClientTexts
}

/** Kinds of notifications that a standing stream is opened for; `all`: whatever comes. */
export type ListenFilter = 'all' | NotificationFilter

export interface NotificationFilter {
  readonly toolsListChanged?: boolean
  readonly promptsListChanged?: boolean
  readonly resourcesListChanged?: boolean
  readonly resourceSubscriptions?: readonly string[]
  readonly taskIds?: readonly string[]
}

export interface StandingSink extends ReplySink {
  /** Once, when nothing more comes: null for an end that the upstream said, or that `close` made. */
  ended(fault: Error | null): void
}

export interface Listening {
  /** The part of the filter that the upstream serves. */
  readonly agreed: NotificationFilter
  close(): void
}

/** One conversation. A legacy one is a session; a modern one holds nothing. */
export interface McpUpstream {
  readonly hello: Hello
  /** Its address, after a redirect the one that it led to. */
  readonly url: string
  /** Null of a modern one, and of HTTP+SSE: these cannot be continued. */
  readonly session: LegacySession | null
  /** True once it sent a question outside of a call's stream: a session takes one call at a time then. */
  readonly asks_outside: boolean
  /** Requests that have no answer yet. */
  readonly open_calls: number
  /** True when the session is known to be gone. */
  readonly is_lost: boolean
  /**
   * Sends a request under an id of ours. Gives its answer, a result or an error, as it came. Rejects with an McpFault
   * (`upstream_unreachable`, `upstream_nonsense`, `upstream_timeout`, `result_too_large`), `SessionLostFault`,
   * `EraDisprovedFault`,
   * `UnauthorisedFault`, or an AbortError when the signal was aborted. It never sends a request twice.
   */
  request(request: McpUpstreamRequest, sink: RequestSink, options: RequestOptions): Promise<RpcAnswer>
  notify(method: string, params: string | undefined): Promise<void>
  /** Legacy alone: answers a question. One whose call has ended takes no answer. */
  answer(id: RpcId, answer: {readonly result: string} | {readonly error: string}): Promise<void>
  listen(filter: ListenFilter, sink: StandingSink): Promise<Listening>
  /** Ends what is open, and the session; within a second. */
  close(): Promise<void>
}
