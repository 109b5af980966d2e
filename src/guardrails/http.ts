import {CheckFault} from './fault.ts'

export interface HttpAsk {
  readonly method: 'GET' | 'HEAD' | 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export interface HttpReply {
  readonly status: number
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: AsyncIterable<Uint8Array>
}

/**
 * One exchange, through the gateway's egress wall. Redirects are not followed. It ends when `signal` fires; an unread
 * body is dropped when its iteration is left.
 */
export type Http = (ask: HttpAsk, signal: AbortSignal) => Promise<HttpReply>

/**
 * Values that checks keep between calls: keys that sign tokens, answers of an introspection. The provider of the memory
 * bounds it.
 */
export interface Memory {
  get(key: string): unknown
  put(key: string, value: unknown, max_age_s: number): void
}

export interface PartnerResponse {
  readonly status: number
  readonly type: string
  readonly text: string
}

/**
 * Asks and reads the answer as text, or throws a `CheckFault`: no answer until `signal` fires, more than `most_bytes`,
 * or a redirection. `who` begins the sentence.
 */
export async function ask(
  http: Http,
  request: HttpAsk,
  signal: AbortSignal,
  most_bytes: number,
  who: string,
): Promise<PartnerResponse> {
  const bytes = await askBytes(http, request, signal, most_bytes, who)
  return {status: bytes.status, type: bytes.type, text: Buffer.concat(bytes.chunks).toString('utf8')}
}

export async function askBytes(http: Http, request: HttpAsk, signal: AbortSignal, most_bytes: number, who: string) {
  const late = rejecting(signal, timeout(who))
  try {
    const reply = await Promise.race([http(request, signal), late.promise])
    const {status, headers} = reply
    const type = Object.hasOwn(headers, 'content-type') ? headers['content-type']! : ''
    if (status >= 300 && status < 400) {
      await leave(reply.body)
      throw new CheckFault(`${who} answered ${status}, a redirection, and redirections are not followed.`)
    }
    const chunks: Uint8Array[] = []
    const reader = reply.body[Symbol.asyncIterator]()
    let bytes = 0
    try {
      for (;;) {
        const step = await Promise.race([reader.next(), late.promise])
        if (step.done) break
        bytes += step.value.byteLength
        if (bytes > most_bytes) throw new CheckFault(`${who} answered more than ${most_bytes} bytes.`)
        chunks.push(step.value)
      }
    } finally {
      // Not waited for: a body that hangs may never say that it is let go.
      reader.return?.()?.catch(() => undefined)
    }
    return {status, type, chunks}
  } catch (error) {
    if (error instanceof CheckFault) throw error
    if (signal.aborted) throw timeout(who)
    // No reason: it would show a client the network of the gateway.
    throw new CheckFault(`${who} could not be reached.`, 'NetworkError')
  } finally {
    late.forget()
  }
}

/** Rejects when `signal` fires; forgotten, it never does. */
function rejecting(signal: AbortSignal, why: Error) {
  const forgotten = new AbortController()
  const promise = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(why)
    signal.addEventListener('abort', () => reject(why), {once: true, signal: forgotten.signal})
  })
  promise.catch(() => undefined)
  return {promise, forget: () => forgotten.abort()}
}

function timeout(who: string): CheckFault {
  return new CheckFault(`${who} did not answer in time.`, 'TimeoutError')
}

async function leave(body: AsyncIterable<Uint8Array>) {
  body[Symbol.asyncIterator]()
    .return?.()
    ?.catch(() => undefined)
}
