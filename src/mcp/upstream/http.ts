import type {Readable} from 'node:stream'
import {type Dispatcher, request} from 'undici'
import {joinPath} from '../../base/egress/path.ts'
import type {MaybePromise} from '../../base/maybe-promise.ts'
import {version} from '../../base/runtime.ts'
import {type HeaderFields, headerValue} from '../wire/header-values.ts'
import {decodedStream} from './decoding.ts'
import {nonsense, transportFault, unreachable} from './faults.ts'
import type {HeaderSource, UpstreamPlace, UpstreamServices} from './upstream.ts'

/** A result may have so many bytes, without its encoding. */
export const MOST_RESULT_BYTES = 16 * 1024 * 1024
/** The rest of a reply that is not wanted may take so long; then its connection is closed. */
const SETTLE_MS = 1_000

export interface OutgoingRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
  /** Its reply stays open. */
  readonly is_standing?: boolean
  /** Another address than that of the place: the one for messages of HTTP+SSE. No redirect of it is followed. */
  readonly url?: URL
}

/** A reply whose head is here. Its body is read to its end, or given up by `settle` or `destroy`. */
export interface IncomingReply {
  readonly status: number
  readonly headers: HeaderFields
  readonly body: Readable
  /** Lets what little may follow come, so that the connection can be used again. */
  settle(): void
  destroy(): void
}

/** The way to one upstream: through the wall, with its credentials, and with at most one redirect. */
export class UpstreamHttp {
  readonly place: UpstreamPlace
  readonly #headers: HeaderSource
  readonly #services: UpstreamServices
  #url: URL
  readonly #settling = new Set<() => void>()

  /** `found_url`: the address behind a redirect, found before; it counts while it is of the place’s origin. */
  constructor(place: UpstreamPlace, headers: HeaderSource, services: UpstreamServices, found_url?: string) {
    const configured = URL.parse(place.url)
    if (!configured) throw unreachable(place.server, 'its address is no URL')
    const found = found_url === undefined ? null : URL.parse(found_url)
    const parsed = found?.origin === configured.origin ? found : configured
    parsed.hash = ''
    this.place = place
    this.#headers = headers
    this.#services = services
    this.#url = parsed
  }

  /** The address; after a redirect the one that it led to. */
  get url(): URL {
    return this.#url
  }

  get services(): UpstreamServices {
    return this.#services
  }

  /**
   * Resolves with the head of the reply. Rejects with an `McpFault`, the fault of the headers' source, or the reason of
   * the signal.
   */
  async send(outgoing: OutgoingRequest): Promise<IncomingReply> {
    const {signal, headers} = outgoing
    const all = merged(await unlessAborted(this.#headers(), signal), headers)
    try {
      const reply = await this.#send(outgoing, all, outgoing.url ?? this.#url)
      const next = outgoing.url ? null : this.#redirect(reply)
      if (!next) return reply
      reply.settle()
      const followed = await this.#send(outgoing, all, next)
      if (!isRedirect(followed)) this.#url = next
      return followed
    } catch (fault) {
      throw signal.aborted ? signal.reason : transportFault(fault, this.place.server)
    }
  }

  /** Ends the replies that are still settling. */
  close(): void {
    for (const end of this.#settling) end()
  }

  async #send(
    {method, body, signal, is_standing}: OutgoingRequest,
    headers: Record<string, string>,
    url: URL,
  ): Promise<IncomingReply> {
    const {egress: usual, stream_egress} = this.#services
    const egress = is_standing ? stream_egress : usual
    const {asker, workspace_id} = this.place
    joinPath('', url.pathname)
    const destination = egress.destination(url.origin, asker)
    const {
      statusCode,
      headers: fields,
      body: raw,
    } = await request(url, {
      method: method as Dispatcher.HttpMethod,
      headers,
      dispatcher: egress.pool(destination, workspace_id),
      signal,
      ...(body !== undefined && {body}),
    })
    const stream = decodedStream(raw, headerValue(fields, 'content-encoding'))
    if (stream) return this.#reply(statusCode, fields, stream)
    raw.on('error', nothing).destroy()
    throw nonsense(this.place.server, 'its answer has a content-encoding that is not known here')
  }

  #reply(status: number, headers: HeaderFields, body: Readable): IncomingReply {
    body.on('error', nothing) // a reply that is given up may still fail
    const destroy = () => void body.destroy()
    const settle = () => {
      if (body.destroyed || body.readableEnded) return
      const end = () => {
        callOff()
        this.#settling.delete(end)
        body.destroy()
      }
      const callOff = this.#services.after(SETTLE_MS, end)
      this.#settling.add(end)
      body.once('close', end).once('end', end).resume()
    }
    return {status, headers, body, settle, destroy}
  }

  /** The place that a reply leads to, where it may be followed: within the origin, and with its body. */
  #redirect(reply: IncomingReply): URL | null {
    const {status, headers} = reply
    if (status !== 307 && status !== 308) return null
    const next = URL.parse(headerValue(headers, 'location') ?? '', this.#url.href)
    if (next?.origin !== this.#url.origin || next.username !== '' || next.password !== '') return null
    next.hash = ''
    return next.href === this.#url.href ? null : next
  }
}

export function isRedirect({status}: IncomingReply): boolean {
  return status >= 300 && status < 400
}

/** A request that has ended does not wait for work elsewhere. */
async function unlessAborted<T>(work: MaybePromise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  if (!(work instanceof Promise)) return work
  const {promise, reject} = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, {once: true})
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** Headers of ours win, whatever the case of their names; names of ours are in small letters. */
function merged(own: Readonly<Record<string, string>>, ours: Readonly<Record<string, string>>): Record<string, string> {
  const all: Record<string, string> = {'user-agent': `gateway/${version}`}
  for (const [name, value] of Object.entries(own)) {
    const lower = name.toLowerCase()
    if (!NEVER.has(lower) && !PROTOCOL.test(lower)) all[lower] = value
  }
  return Object.assign(all, {'accept-encoding': 'identity'}, ours)
}

/** Headers of the protocol and of the body are ours to write. */
const PROTOCOL = /^(?:mcp|accept|content)(?:-|$)/
/** The connection's own, and the place in a stream. */
const NEVER: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'host',
  'keep-alive',
  'last-event-id',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

function nothing() {}
