import {createHash} from 'node:crypto'
import type {JsonObject} from '../../base/json-member.ts'
import {parsed} from '../../base/json-object.ts'
import type {McpServer} from '../call/server.ts'
import type {LegacySession} from '../upstream/upstream.ts'
import type {McpLogLevel} from '../wire/envelope.ts'
import {McpFault} from '../wire/faults.ts'
import type {RpcAnswer, RpcId} from '../wire/messages.ts'
import type {LegacyVersion} from '../wire/versions.ts'
import {KeptStream} from './kept-stream.ts'

/** A call of a session that has no answer yet. */
export interface OpenRequest {
  cancel(): void
}

/** Takes the messages of a server that belong to no call. */
export interface SessionStream {
  event(text: string): boolean
  close(): void
}

/** Messages that wait for a stream. */
const MOST_WAITING = 100
/** Streams of calls that can be resumed. */
const MOST_STREAMS = 100

/** Names a session where its id has no place: the id and a key together are the session. 32 hex digits. */
export function sessionDigest(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 32)
}

/** The session of a legacy client in this process: its open calls, its questions, its stream. The rest is a row. */
export class ClientSession {
  readonly id: string
  /** Names it in logs and spans. */
  readonly digest: string
  readonly version: LegacyVersion
  readonly server_id: string
  readonly client_info: string
  /** The same, read. */
  readonly client: unknown
  readonly client_capabilities: string
  readonly capabilities: JsonObject
  log_level: McpLogLevel | null
  readonly subscriptions: Set<string>
  /** Called when the client subscribes to another resource, or to one less. */
  onSubscriptions: (() => void) | null = null
  /** The session of the upstream as a process before left it; used once. */
  continued: LegacySession | undefined
  readonly #open = new Map<string, Set<OpenRequest>>()
  readonly #questions = new Map<string, (answer: RpcAnswer) => void>()
  readonly #waiting: string[] = []
  readonly #kept = new Map<string, KeptStream>()
  #stream: SessionStream | null = null
  #last_question = 0

  constructor(facts: SessionFacts) {
    this.id = facts.id
    this.digest = sessionDigest(facts.id)
    this.version = facts.version
    this.server_id = facts.server.id
    this.client_info = facts.client_info
    this.client = parsed(facts.client_info)
    this.client_capabilities = facts.client_capabilities
    this.capabilities = facts.capabilities
    this.log_level = facts.log_level
    this.subscriptions = new Set(facts.subscriptions)
    this.continued = facts.continued
  }

  /** True while a call is open or a stream is: the session is in use. */
  get is_busy(): boolean {
    return this.#open.size > 0 || this.#stream !== null
  }

  get stream(): SessionStream | null {
    return this.#stream
  }

  /** Notes an open call under the id of its request. Two may have one id: each is answered by its own POST. */
  opened(id: RpcId, call: OpenRequest): () => void {
    const key = JSON.stringify(id)
    const calls = this.#open.get(key) ?? new Set()
    this.#open.set(key, calls.add(call))
    return () => {
      calls.delete(call)
      if (calls.size === 0) this.#open.delete(key)
    }
  }

  /** A stream for a call, which can be resumed; the oldest goes for one too many. */
  newStream(): KeptStream {
    return new KeptStream(stream => {
      this.#kept.set(stream.id, stream)
      if (this.#kept.size > MOST_STREAMS) this.#kept.delete(this.#kept.keys().next().value!)
    })
  }

  /** The stream of a call, also for a while after its end. */
  findStream(id: string): KeptStream | undefined {
    return this.#kept.get(id)
  }

  forgetStream(stream: KeptStream): void {
    if (stream.is_named) this.#kept.delete(stream.id)
  }

  /** Cancels all open calls that bear an id. */
  cancel(id: RpcId): void {
    for (const call of this.#open.get(JSON.stringify(id)) ?? []) call.cancel()
  }

  /** An id for a question of a server: JSON text. */
  newQuestion(): string {
    this.#last_question++
    return `"q${this.#last_question}"`
  }

  /** The client's answer to a question. Rejects when the signal is aborted. */
  answerTo(id_text: string, signal: AbortSignal): Promise<RpcAnswer> {
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#questions.delete(id_text)
        reject(new McpFault('call_lost'))
      }
      signal.addEventListener('abort', abort, {once: true})
      this.#questions.set(id_text, answer => {
        signal.removeEventListener('abort', abort)
        resolve(answer)
      })
      if (signal.aborted) abort()
    })
  }

  /** Hands an answer of the client to the question that it is for; any other is dropped. */
  answered(answer: RpcAnswer): void {
    // as a value: an id may be written in several ways
    const key = JSON.stringify(answer.id)
    const take = this.#questions.get(key)
    this.#questions.delete(key)
    take?.(answer)
  }

  /** Opens the stream in the place of any before, which ends; it gets what waits. */
  attach(stream: SessionStream): () => void {
    this.#stream?.close()
    this.#stream = stream
    for (const text of this.#waiting.splice(0)) stream.event(text)
    return () => {
      if (this.#stream === stream) this.#stream = null
    }
  }

  /** Sends a message of the server that belongs to no call; the newest wait where there is no stream. */
  send(text: string): void {
    if (this.#stream?.event(text)) return
    this.#waiting.push(text)
    if (this.#waiting.length > MOST_WAITING) this.#waiting.shift()
  }

  end(): void {
    for (const calls of this.#open.values()) for (const call of calls) call.cancel()
    this.#stream?.close()
    this.#stream = null
  }
}

export interface SessionFacts {
  readonly id: string
  readonly version: LegacyVersion
  readonly server: Pick<McpServer, 'id'>
  readonly client_info: string
  readonly client_capabilities: string
  readonly capabilities: JsonObject
  readonly log_level: McpLogLevel | null
  readonly subscriptions: readonly string[]
  readonly continued: LegacySession | undefined
}
