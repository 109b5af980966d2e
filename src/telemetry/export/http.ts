import {promisify} from 'node:util'
import {gzip} from 'node:zlib'
import {request} from 'undici'
import {readBaseUrl} from '../../base/egress/base-url.ts'
import type {Egress} from '../../base/egress/pools.ts'
import {type FailureMeaning, outcomeOf, type SendOutcome} from './outcome.ts'

export interface Receiver {
  /** The whole address. */
  readonly url: string
  readonly method?: 'POST' | 'PUT' | 'DELETE'
  readonly content_type: string
  readonly headers: Readonly<Record<string, string>>
  readonly compression: 'gzip' | 'none'
  readonly timeout_ms: number
  /** @default that of a collector */
  readonly meaningOf?: (status: number, text: string) => FailureMeaning
  readonly rejectedOf: (type: string, body: Buffer) => {readonly rejected: number; readonly reason: string | null}
}

const MAX_REPLY_BYTES = 64 * 1024
/** The fastest: what it saves is worth less than what more of it costs. */
const LEVEL = 1
const compressed = promisify<Buffer, object, Buffer>(gzip)

/**
 * Sends bodies to a receiver that the operator named: through the wall, which lets it be a private host. Follows no
 * redirect. A reply that is not there whole at the deadline is a failure, and so is a connection that breaks; neither
 * names what was sent.
 */
export function sender(egress: Pick<Egress, 'destination' | 'pool'>, to: Receiver, now: () => number) {
  const {origin} = new URL(to.url)
  const asker = {kind: 'integration', id: 'telemetry', host: readBaseUrl(origin).hostname} as const
  return async (body: Buffer, stopped: AbortSignal): Promise<SendOutcome> => {
    try {
      const is_compressed = to.compression === 'gzip' && body.length > 0
      const sent = is_compressed ? await compressed(body, {level: LEVEL}) : body
      const dispatcher = egress.pool(egress.destination(origin, asker))
      const signal = AbortSignal.any([stopped, AbortSignal.timeout(to.timeout_ms)])
      const headers = {
        ...to.headers,
        'content-type': to.content_type,
        ...(is_compressed && {'content-encoding': 'gzip'}),
      }
      const reply = await request(to.url, {method: to.method ?? 'POST', headers, body: sent, dispatcher, signal})
      const received = await readReply(reply.body)
      const text_of = (name: string) => {
        const value = reply.headers[name]
        return typeof value === 'string' ? value : null
      }
      const answer = {status: reply.statusCode, retry_after: text_of('retry-after'), text: received.toString()}
      const rejectedOf = () => to.rejectedOf(text_of('content-type') ?? '', received)
      return outcomeOf(answer, now(), rejectedOf, to.meaningOf)
    } catch (fault) {
      return {kind: 'later', after_ms: null, reason: reasonOf(fault)}
    }
  }
}

/** Beyond the length of any answer it reads nothing, and closes the connection. */
async function readReply(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of body) {
    bytes += part.length
    if (bytes > MAX_REPLY_BYTES) break
    parts.push(part)
  }
  return Buffer.concat(parts)
}

function reasonOf(fault: unknown): string {
  if (!(fault instanceof Error)) return 'the connection failed'
  if (fault.name === 'TimeoutError') return 'no answer in time'
  return fault.message || fault.name
}
