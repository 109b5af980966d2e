import {Agent, type IncomingMessage, request} from 'node:http'
import {gunzipSync} from 'node:zlib'

/** What a client heard of one call. */
export interface Answer {
  /** 0 where the connection ended before a status. */
  readonly status: number
  readonly trace_id: string | undefined
  /** True where it neither ended nor was cut within the limit. */
  readonly is_late: boolean
  /** The secrets in status line, headers and trailers, and in the body. It takes time that is the test's own. */
  leaks(): Readonly<Record<'head' | 'body', readonly string[]>>
  /** The beginning of the body as a text of JSON, for the report of a fault. */
  readonly text: string
}

/** Only so much is decompressed. */
const MAX_DECOMPRESSED_BYTES = 1_000_000
const MAX_SHOWN = 300

/** A client that looks for `secrets` in all that it hears. */
export function hostileClient(url: string, secrets: readonly string[], limit_ms: number) {
  const agent = new Agent({keepAlive: true})
  const needles = secrets.flatMap(secret => [
    secret,
    Buffer.from(secret).toString('base64').replace(/=+$/, '').slice(0, -1),
  ])
  const leaksIn = (bytes: Buffer) => needles.filter(needle => bytes.includes(needle))

  function send(method: string, path: string, headers: Record<string, string>, body?: string): Promise<Answer> {
    const {promise, resolve} = Promise.withResolvers<Answer>()
    const pieces: Buffer[] = []
    let response: IncomingMessage | undefined
    let is_late = false
    const sent = request(url + path, {method, headers, agent}, came => {
      response = came
      came.on('data', (piece: Buffer) => pieces.push(piece))
      came.on('error', () => undefined)
      came.on('close', end)
    })
    const timer = setTimeout(() => {
      is_late = true
      sent.destroy()
    }, limit_ms)
    const end = () => {
      clearTimeout(timer)
      const {
        statusCode: status = 0,
        statusMessage = '',
        rawHeaders = [],
        rawTrailers = [],
        headers: answered = {},
      } = response ?? {}
      const trace_id = answered['x-gateway-trace-id']
      const bytes = plain(Buffer.concat(pieces), answered['content-encoding'])
      resolve({
        status,
        trace_id: typeof trace_id === 'string' ? trace_id : undefined,
        is_late,
        text: JSON.stringify(bytes.subarray(0, MAX_SHOWN).toString()),
        leaks: () => ({
          head: leaksIn(Buffer.from([statusMessage, ...rawHeaders, ...rawTrailers].join('\n'), 'latin1')),
          body: leaksIn(bytes),
        }),
      })
    }
    sent.on('error', () => {
      if (!response) end()
    })
    sent.end(body)
    return promise
  }
  return {send, close: () => agent.destroy()}
}

function plain(bytes: Buffer, encoding: string | string[] | undefined): Buffer {
  if (encoding !== 'gzip') return bytes
  try {
    return gunzipSync(bytes, {maxOutputLength: MAX_DECOMPRESSED_BYTES})
  } catch {
    return bytes
  }
}
