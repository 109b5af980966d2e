import {after} from '../../../src/base/delay.ts'
import {Egress} from '../../../src/base/egress/pools.ts'
import {openUpstream} from '../../../src/mcp/upstream/open.ts'
import type {
  HeaderSource,
  McpUpstream,
  OpenedUpstream,
  RequestOptions,
  RequestSink,
  UpstreamOptions,
  UpstreamPlace,
} from '../../../src/mcp/upstream/upstream.ts'
import type {RpcAnswer, RpcNotification, RpcRequest} from '../../../src/mcp/wire/messages.ts'
import type {Era} from '../../../src/mcp/wire/versions.ts'
import type {Timers} from '../timers.ts'

const PATIENCE_MS = 10_000

export interface OpenTest extends Partial<UpstreamOptions> {
  readonly transport?: UpstreamPlace['transport']
  readonly headers?: HeaderSource
  /** The era that is known. */
  readonly era?: Era
  /** Capabilities of the client. */
  readonly declares?: unknown
  /** Moves the time of all waits; without them it passes. */
  readonly timers?: Timers
}

/** Conversations with fixtures, and their end. */
export class UpstreamTests {
  readonly #egress: Egress
  readonly #streams = new Egress()
  readonly #open = new Set<McpUpstream>()

  constructor(egress = new Egress()) {
    this.#egress = egress
  }

  async open(url: string, more: OpenTest = {}): Promise<OpenedUpstream> {
    const {transport = null, headers = () => ({}), declares = {}, era, timers, ...options} = more
    const place = {url, transport, asker: ASKER, workspace_id: 'w', server: 'fixture'}
    const opened = await openUpstream(
      place,
      headers,
      {
        client_info: '{"name":"test","version":"1"}',
        client_capabilities: JSON.stringify(declares),
        credential: 'none',
        known: era ? {era, transport: 'http'} : null,
        timeout_ms: PATIENCE_MS,
        ...options,
      },
      {
        egress: this.#egress,
        stream_egress: this.#streams,
        steady: timers?.now ?? (() => performance.now()),
        wall: () => 1_800_000_000_000,
        after: timers?.after ?? after,
      },
    )
    this.#open.add(opened.upstream)
    return opened
  }

  /** The conversation alone. */
  async upstream(url: string, more: OpenTest = {}): Promise<McpUpstream> {
    return (await this.open(url, more)).upstream
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open].map(each => each.close()))
    await Promise.all([this.#egress, this.#streams].map(each => each.destroy()))
  }
}

const ASKER = {kind: 'integration', id: 'fixture', host: '127.0.0.1'} as const

/** Collects what comes before an answer. */
export class Collected implements RequestSink {
  readonly notifications: RpcNotification[] = []
  readonly questions: RpcRequest[] = []
  readonly #onQuestion: (message: RpcRequest) => void

  constructor(onQuestion: (message: RpcRequest) => void = () => undefined) {
    this.#onQuestion = onQuestion
  }

  notification(message: RpcNotification): void {
    this.notifications.push(message)
  }

  question(message: RpcRequest): void {
    this.questions.push(message)
    this.#onQuestion(message)
  }

  get methods(): readonly string[] {
    return this.notifications.map(({method}) => method)
  }
}

export interface CallTest extends Partial<RequestOptions> {
  readonly sink?: RequestSink
  /** JSON text of `_meta`. */
  readonly meta?: string
}

/** Calls a tool. */
export function callTool(
  upstream: McpUpstream,
  name: string,
  input: unknown = {},
  how: CallTest = {},
): Promise<RpcAnswer> {
  const {sink = new Collected(), meta, ...options} = how
  const rest = meta ? `,"_meta":${meta}` : ''
  const params = `{"name":${JSON.stringify(name)},"arguments":${JSON.stringify(input)}${rest}}`
  return upstream.request({method: 'tools/call', params}, sink, times(options))
}

export function ask(upstream: McpUpstream, method: string, params?: unknown, how: CallTest = {}): Promise<RpcAnswer> {
  const {sink = new Collected(), meta: _, ...options} = how
  return upstream.request(
    {method, params: params === undefined ? undefined : JSON.stringify(params)},
    sink,
    times(options),
  )
}

function times(options: Partial<RequestOptions>): RequestOptions {
  return {signal: new AbortController().signal, total_ms: PATIENCE_MS, idle_ms: PATIENCE_MS, ...options}
}

/** The text of a tool's result. */
export function textIn({result}: RpcAnswer): string | undefined {
  return (result as {content?: {text?: string}[]} | undefined)?.content?.[0]?.text
}

/** The fault that a promise ends in. */
export async function faultIn(promise: Promise<unknown>): Promise<Error & {reason?: string; status?: number}> {
  try {
    await promise
  } catch (fault) {
    return fault as Error
  }
  throw new Error('It did not fail.')
}
