import {request} from 'undici'
import {readBaseUrl} from './base-url.ts'
import type {Egress} from './pools.ts'

interface ObjectRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | null
}

const MAX_BYTES = 256 << 20

/**
 * Requests of a store of objects that the operator named: through the wall, which lets it be a private host. Follows no
 * redirect; an answer that is not there whole within `timeout_ms`, the connection included, is a fault
 * (`TimeoutError`).
 */
export function objectSender(egress: Pick<Egress, 'destination' | 'pool'>, timeout_ms: number) {
  return async ({
    method,
    url,
    headers,
    body,
  }: ObjectRequest): Promise<{status: number; code_header: string | null; body: Buffer}> => {
    const {origin} = new URL(url)
    const asker = {kind: 'integration', id: 'log-store', host: readBaseUrl(origin).hostname} as const
    const dispatcher = egress.pool(egress.destination(origin, asker))
    const signal = AbortSignal.timeout(timeout_ms)
    const reply = await request(url, {method: method as 'GET', headers, body, dispatcher, signal})
    const parts: Buffer[] = []
    let length = 0
    for await (const part of reply.body as AsyncIterable<Buffer>) {
      length += part.length
      if (length > MAX_BYTES) throw new Error('its answer is longer than an object of ours is')
      parts.push(part)
    }
    const code = reply.headers['x-ms-error-code']
    return {status: reply.statusCode, code_header: typeof code === 'string' ? code : null, body: Buffer.concat(parts)}
  }
}
