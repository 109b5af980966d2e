import {FastRequest} from '../../base/ingress/request.ts'
import type {ClientResponse} from '../../base/ingress/response.ts'
import {parsedObject} from '../../base/json-object.ts'
import {readFields, SseFramer} from '../../base/sse.ts'
import type {Json} from '../../providers/translation.ts'

/** An answer that is longer ends its run. */
const MOST_BYTES = 64 * 2 ** 20

/** The answer to one turn. */
export interface TurnAnswer {
  readonly status: number
  /** Name, value, name, value. */
  readonly headers: readonly string[]
  /** Its events were given as they came. */
  readonly is_stream: boolean
  /** Empty for a stream. */
  readonly body: Buffer
  /** False where it broke off. */
  readonly is_whole: boolean
}

/** Takes what a turn streams. */
export interface StreamTaker {
  /** A stream of events begins. */
  begins(status: number, headers: readonly string[]): void
  /** An event; null: its bytes are `raw`, and no JSON object. False: no more now. */
  event(event: Json | null, raw: Buffer): boolean
}

export interface TurnCallPlace {
  readonly url: string
  readonly headers: ConstructorParameters<typeof FastRequest>[2]['headers']
  readonly remote_address: string | null
}

/** One turn at the data plane, which takes it as it takes the request of a client. */
export class TurnInProgress {
  readonly #chunks: Buffer[] = []
  readonly #done = Promise.withResolvers<TurnAnswer>()
  readonly #response: InnerResponse
  readonly #framer: SseFramer
  #bytes = 0
  #status = 0
  #headers: readonly string[] = []
  #is_stream = false
  #takes_more = true

  constructor(
    body: Buffer,
    {url, headers, remote_address}: TurnCallPlace,
    taker: StreamTaker,
    handle: (request: FastRequest, response: ClientResponse) => void,
  ) {
    const peer = remote_address === null ? undefined : {remoteAddress: remote_address}
    const request = new FastRequest('POST', url, {headers, body_bytes: body.length}, peer)
    request.take(body)
    this.#framer = new SseFramer(raw => {
      if (!raw) return this.#response.leave()
      const {data} = readFields(raw)
      const text = data.join('\n')
      if (text !== '[DONE]') this.#takes_more = taker.event(parsedObject(text) ?? null, Buffer.from(raw))
    }, MOST_BYTES)
    this.#response = new InnerResponse({
      head: (status, given) => {
        this.#status = status
        this.#headers = given
        this.#is_stream = status < 300 && /^text\/event-stream/i.test(headerOf(given, 'content-type') ?? '')
        if (this.#is_stream) taker.begins(status, given)
      },
      bytes: chunk => this.#take(chunk),
      ended: is_whole => {
        if (this.#is_stream && is_whole) this.#framer.end()
        const body = Buffer.concat(this.#chunks)
        const {status, headers, is_stream} = {status: this.#status, headers: this.#headers, is_stream: this.#is_stream}
        this.#done.resolve({status, headers, is_stream, body, is_whole})
      },
    })
    handle(request, this.#response)
  }

  /** Never rejects. */
  get answer(): Promise<TurnAnswer> {
    return this.#done.promise
  }

  /** The client of the run takes more. */
  ready(): void {
    this.#response.drained()
  }

  /** Ends it: its client left. */
  leave(): void {
    this.#response.leave()
  }

  #take(chunk: Buffer): boolean {
    if (this.#is_stream) {
      // of this chunk alone: one that ends no event writes nothing, and no drain would follow it
      this.#takes_more = true
      this.#framer.push(chunk)
      return this.#takes_more
    }
    this.#bytes += chunk.length
    if (this.#bytes > MOST_BYTES) this.#response.leave()
    else this.#chunks.push(Buffer.from(chunk))
    return true
  }
}

/** The value of a header in a list of names and values; undefined where it is not there. */
export function headerOf(headers: readonly string[], name: string): string | undefined {
  for (let at = 0; at < headers.length; at += 2) if (headers[at]!.toLowerCase() === name) return headers[at + 1]
  return undefined
}

/** The headers of the answer to a run: those of a turn but for what is of its body and its connection. */
export function answerHeadersOf(headers: readonly string[]): string[] {
  const kept: string[] = []
  for (let at = 0; at < headers.length; at += 2)
    if (!OF_BODY.test(headers[at]!)) kept.push(headers[at]!, headers[at + 1]!)
  return kept
}

const OF_BODY = /^(?:content-length|content-encoding|transfer-encoding|connection|keep-alive|date)$/i

/** Takes an answer as it comes. */
interface AnswerSink {
  /** `headers`: name, value, name, value. */
  head(status: number, headers: readonly string[]): void
  /** False: no more now. */
  bytes(chunk: Buffer): boolean
  /** `is_whole`: false where it broke off. Called once. */
  ended(is_whole: boolean): void
}

type Heard = 'error' | 'close' | 'drain'

/** The answer to a turn of a run: it goes to the run, and not to a socket. */
class InnerResponse implements ClientResponse {
  readonly #sink: AnswerSink
  readonly #listeners = new Map<Heard, () => void>()
  #is_closed = false
  headersSent = false
  writableFinished = false
  readonly socket = null

  constructor(sink: AnswerSink) {
    this.#sink = sink
  }

  on(event: Heard, listener: () => void): void {
    this.#listeners.set(event, listener)
  }

  writeHead(status: number, headers: string[]): void {
    this.headersSent = true
    this.#sink.head(status, headers)
  }

  flushHeaders(): void {}

  write(chunk: Buffer): boolean {
    return this.#is_closed || this.#sink.bytes(chunk)
  }

  end(last: Buffer | string, encoding: 'latin1' | 'utf8'): void {
    if (this.#is_closed) return
    if (last.length > 0) this.#sink.bytes(typeof last === 'string' ? Buffer.from(last, encoding) : last)
    this.writableFinished = true
    this.#close(true)
  }

  destroy(): void {
    this.#close(false)
  }

  /** The client of the run left, or the run is over. */
  leave(): void {
    this.#close(false)
  }

  /** The client takes more. */
  drained(): void {
    this.#listeners.get('drain')?.()
  }

  #close(is_whole: boolean) {
    if (this.#is_closed) return
    this.#is_closed = true
    this.#sink.ended(is_whole)
    this.#listeners.get('close')?.()
  }
}
