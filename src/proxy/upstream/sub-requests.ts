import {Readable} from 'node:stream'
import type {Dispatcher} from 'undici'
import {decodedBody} from '../../base/content-encoding.ts'
import {joinPath} from '../../base/egress/path.ts'
import type {Destination} from '../../base/egress/target.ts'
import {parsedObject} from '../../base/json-object.ts'
import {maskedUrl} from '../../base/masked-url.ts'
import {baseFor, pathFor, usualHeaders} from '../../providers/base-urls/base-url.ts'
import {type ProviderRequest, type Upstream, UpstreamFault, type UpstreamReply} from '../../providers/operation.ts'
import type {EndpointRequest, OutgoingHeaders, Provider} from '../../providers/provider.ts'
import {InvalidResponseFault, type Json} from '../../providers/translation.ts'
import type {Call} from '../call/call.ts'
import type {RequestCredentials} from '../inbound/request.ts'
import type {Uses} from '../services.ts'
import {resolveDestination, type Target} from '../targets/target.ts'
import {addClientHeaders, addTrace, handOn, withoutOwn, withoutOwnLogin} from './client-headers.ts'
import {authenticated, authorized} from './credentials.ts'
import {JSON_TYPE, writtenText} from './translate.ts'

/** The services of one request beside a call. */
export type SubRequestServices = Uses<
  'destination' | 'dispatcher' | 'ignored' | 'log' | 'logins' | 'settings' | 'version'
>

export interface UpstreamOf {
  readonly call: Call
  readonly target: Target
  readonly provider: Provider
  readonly credentials: RequestCredentials
}

interface Place {
  readonly destination: Destination
  readonly path: string
}

const MAX_WHOLE_BYTES = 8 << 20
const NOTHING = Buffer.alloc(0)
const LONGEST_TIDYING_MS = 10_000
const MAX_FAULT_BYTES = 64 << 10

/**
 * The calls of one provider operation: each through the wall, with the target's credentials, and no longer than
 * `signal` lets it.
 */
export class SubRequests implements Upstream {
  readonly #of: UpstreamOf
  readonly #signal: AbortSignal
  readonly #services: SubRequestServices
  /** The place that was called last, without its query. */
  url: string | null = null
  /** Called with each piece of a body that leaves. */
  onMoved: (piece: Buffer) => void = () => undefined

  constructor(of: UpstreamOf, signal: AbortSignal, services: SubRequestServices) {
    this.#of = of
    this.#signal = signal
    this.#services = services
  }

  readonly ask = async (request: ProviderRequest): Promise<UpstreamReply> => {
    const services = this.#services
    const {method, accepts = []} = request
    const {provider, call} = this.#of
    const {destination, path} = request.signed ? this.#signed(request.path) : this.#placed(request)
    const body = bodyOf(request.body, provider.slug, this.onMoved)
    const headers = await this.#headers(request, destination, path, body)
    const signal = this.#signalOf(request)
    signal.throwIfAborted()
    this.url = maskedUrl(destination.origin + path.split('?', 1)[0])
    services.log.debug({method, url: this.url, call_id: call.id, trace_id: call.trace.trace_id}, 'an errand calls')
    try {
      const reply = await services.dispatcher(destination, call.caller.workspace_id).request({
        origin: destination.origin,
        method,
        path,
        headers,
        body,
        signal,
      })
      const {statusCode: status} = reply
      this.onMoved(NOTHING)
      if ((status >= 200 && status < 300) || accepts.includes(status)) return new Reply(reply)
      throw new UpstreamFault(status, await beginning(reply.body))
    } catch (error) {
      // A body that failed is why its call did, whatever the socket says of it.
      throw body instanceof Sent ? (body.fault ?? error) : error
    }
  }

  #signalOf({tidies, within_ms}: ProviderRequest): AbortSignal {
    if (tidies) return AbortSignal.timeout(LONGEST_TIDYING_MS)
    return within_ms === undefined ? this.#signal : AbortSignal.any([this.#signal, AbortSignal.timeout(within_ms)])
  }

  #placed(request: ProviderRequest): Place {
    const destination = this.#destination(request)
    const path = this.#below(request)
    return {destination, path: joinPath(baseFor(this.#of.provider, destination.basePath, path), path)}
  }

  #signed(text: string): Place {
    if (!URL.canParse(text)) throw new InvalidResponseFault('expected a URL')
    const {origin, pathname, search} = new URL(text)
    return {destination: this.#services.destination(origin, 'caller'), path: joinPath('', pathname + search)}
  }

  #destination({side, path, endpoint}: ProviderRequest): Destination {
    const {target, provider, call} = this.#of
    if (target.destination) return target.destination
    const place = side === undefined ? undefined : provider.operations?.sides?.[side]
    if (place) return this.#services.destination(place.place(target.options), 'builtin')
    return resolveDestination(
      target,
      provider,
      this.#reach({path, ...(endpoint && {endpoint})}),
      call.incoming.own.prefix,
      this.#services,
    )
  }

  #below({path, endpoint, query}: Pick<ProviderRequest, 'path' | 'endpoint' | 'query'>): string {
    return endpoint
      ? pathFor(this.#of.provider, this.#reach({path, endpoint, ...(query && {query})}), this.#of.target.options)
      : path
  }

  #reach({path, endpoint = 'proxy', query}: Pick<ProviderRequest, 'path' | 'endpoint' | 'query'>): EndpointRequest {
    const {target} = this.#of
    const base = target.is_custom && target.destination ? {base_path: target.destination.basePath} : {}
    return {endpoint, path, query: query ? `?${query}` : '', model: '', is_stream: false, ...base}
  }

  async #headers(
    {method, side, signed, headers: given_headers, body: payload}: ProviderRequest,
    destination: Destination,
    path: string,
    body: Buffer | Sent | null,
  ): Promise<OutgoingHeaders> {
    const {target, provider, call, credentials} = this.#of
    const headers: OutgoingHeaders = {
      'user-agent': `gateway/${this.#services.version}`,
      accept: '*/*',
      'accept-encoding': 'identity',
    }
    if (signed) return {...headers, ...given_headers}
    if (side === undefined) {
      Object.assign(headers, usualHeaders(provider, target.options))
      addClientHeaders(headers, call.incoming, target, provider, this.#services.ignored, false)
      handOn(headers, call.incoming, true)
      addTrace(headers, call, Math.max(1, call.attempts), call.incoming.headers)
      Object.assign(headers, target.headers)
      withoutOwn(headers, target.headers, credentials, this.#services)
    }
    if (payload !== undefined && Buffer.isBuffer(body)) headers['content-type'] = JSON_TYPE
    Object.assign(headers, given_headers)
    const own = side === undefined ? undefined : provider.operations?.sides?.[side]?.login
    const needed = authenticated(headers, call, target, provider, credentials, own)
    withoutOwnLogin(headers, target, credentials, this.#services)
    if (!needed) return headers
    const bytes = Buffer.isBuffer(body) ? body : null
    if (needed.login.signs_body && body !== null && bytes === null) throw new Error('a stream cannot be signed')
    const {host} = new URL(destination.origin)
    return {
      ...headers,
      ...(await authorized(needed, {method, host, path, headers, body: bytes}, target, this.#services)),
    }
  }
}

class Reply implements UpstreamReply {
  readonly #reply: Dispatcher.ResponseData
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(reply: Dispatcher.ResponseData) {
    this.#reply = reply
    this.status = reply.statusCode
    this.headers = Object.fromEntries(Object.entries(reply.headers).map(([name, value]) => [name, String(value)]))
  }

  get body(): AsyncIterable<Buffer> {
    return this.#reply.body
  }

  async bytes(): Promise<Buffer> {
    const bytes = await upTo(this.#reply.body, MAX_WHOLE_BYTES + 1)
    if (bytes.length > MAX_WHOLE_BYTES) throw new InvalidResponseFault('it is too long')
    const encoding = this.headers['content-encoding']
    if (encoding === undefined) return bytes
    const plain = await decodedBody(bytes, encoding)
    if (!plain) throw new InvalidResponseFault(`it is encoded as ${encoding}, which cannot be read`)
    return Buffer.from(plain)
  }

  async json(): Promise<Json> {
    const parsed = parsedObject((await this.bytes()).toString())
    if (!parsed) throw new InvalidResponseFault('expected a JSON object')
    return parsed
  }

  drop(): void {
    this.#reply.body.dump().catch(() => undefined)
  }
}

function bodyOf(
  body: ProviderRequest['body'],
  provider: string,
  onMoved: (piece: Buffer) => void,
): Buffer | Sent | null {
  if (body === undefined) return null
  if (Buffer.isBuffer(body)) return body
  return isStream(body) ? new Sent(body, onMoved) : Buffer.from(writtenText(body, provider))
}

/** A body that is sent as it comes. */
class Sent extends Readable {
  readonly #source: AsyncIterator<Buffer>
  readonly #onMoved: (piece: Buffer) => void
  /** The fault that kept it from being whole. */
  fault: Error | null = null

  constructor(source: AsyncIterable<Buffer>, onMoved: (piece: Buffer) => void) {
    super()
    this.#onMoved = onMoved
    this.#source = source[Symbol.asyncIterator]()
  }

  override _read(): void {
    this.#source.next().then(
      ({done, value}) => {
        if (!done) this.#onMoved(value)
        this.push(done ? null : value)
      },
      fault => {
        this.fault = fault as Error
        this.destroy(this.fault)
      },
    )
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#source.return?.().catch(() => undefined)
    done(error)
  }
}

function isStream(body: Json | AsyncIterable<Buffer>): body is AsyncIterable<Buffer> {
  return Symbol.asyncIterator in body
}

/** As much of an error as is read. */
async function beginning(body: Dispatcher.ResponseData['body']): Promise<Buffer> {
  return (await upTo(body, MAX_FAULT_BYTES)).subarray(0, MAX_FAULT_BYTES)
}

/** At least `most` bytes, or all there are; the rest is not waited for. */
async function upTo(body: Dispatcher.ResponseData['body'], most: number): Promise<Buffer> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of body as AsyncIterable<Buffer>) {
    parts.push(part)
    length += part.length
    if (length >= most) break
  }
  return Buffer.concat(parts)
}
