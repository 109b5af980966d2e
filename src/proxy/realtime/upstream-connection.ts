import type {Duplex} from 'node:stream'
import type {Dispatcher} from 'undici'
import {refusalOf} from '../../base/egress/faults.ts'
import {Refusal} from '../../base/errors.ts'
import {acceptKey} from '../../base/websocket/index.ts'
import type {LiveCall} from '../call/registry.ts'
import type {Uses} from '../services.ts'
import type {Target} from '../targets/target.ts'
import type {SessionRequest} from './upstream-request.ts'

type Services = Uses<'dispatcher' | 'steady'>

/** How a provider answered: with a connection, or with a status and a body of its own. */
export type Dialled =
  | {
      readonly kind: 'opened'
      readonly socket: Duplex
      readonly headers: Record<string, string>
      readonly protocol: string | null
    }
  | {
      readonly kind: 'answered'
      readonly status: number
      readonly headers: Record<string, string>
      readonly body: Buffer
    }

/** Of the body of a refused upgrade. */
const MAX_BODY_BYTES = 1 << 20

/**
 * Asks a provider for a WebSocket, over the pools of the way out: the wall, forward proxies and TLS are those of every
 * call. `done` is called once.
 */
export class UpstreamConnection implements Dispatcher.DispatchHandler, LiveCall {
  readonly kind = 'realtime_session'
  slot = -1
  /** On the clock of durations; 0 where it did not get so far. */
  readonly times = {queued_at: 0, sent_at: 0, answered_at: 0}
  readonly #target: Target
  readonly #opening: SessionRequest
  readonly #protocols: readonly string[]
  readonly #limit_ms: number
  readonly #done: (dialled: Dialled | Refusal) => void
  #controller: Dispatcher.DispatchController | undefined
  #status = 0
  #headers: Record<string, string> = {}
  readonly #body: Buffer[] = []
  #body_bytes = 0
  #has_begun = false
  #steady: () => number = () => 0
  #given_up: Refusal | undefined
  #is_over = false

  constructor(
    target: Target,
    opening: SessionRequest,
    protocols: readonly string[],
    limit_ms: number,
    done: (dialled: Dialled | Refusal) => void,
  ) {
    this.#target = target
    this.#opening = opening
    this.#protocols = protocols
    this.#limit_ms = limit_ms
    this.#done = done
  }

  /** Asks, now that the intent is written; not if it was given up before. */
  begin(services: Services, workspace_id: string): void {
    this.#has_begun = true
    if (this.#given_up) return this.#fail(this.#given_up)
    this.#steady = services.steady
    this.times.queued_at = services.steady()
    try {
      const {path, headers} = this.#opening
      const destination = this.#target.destination!
      services
        .dispatcher(destination, workspace_id)
        .dispatch({method: 'GET', path, headers, upgrade: 'websocket', origin: destination.origin}, this)
    } catch (fault) {
      this.#fail(refusalOf(fault, this.#target.provider.slug))
    }
  }

  check(now: number): void {
    if (this.times.queued_at && now - this.times.queued_at > this.#limit_ms)
      this.giveUp(new Refusal('upstream.timeout', {provider: this.#target.provider.slug, limit_ms: this.#limit_ms}))
  }

  /** A session that opens now would end at once. */
  stop(): void {
    this.abort()
  }

  abort(): void {
    this.giveUp(new Refusal('draining'))
  }

  /** Gives up; before the intent is written, as soon as it is. */
  giveUp(fault: Refusal): void {
    this.#given_up ??= fault
    if (!this.#has_begun) return
    this.#fail(fault)
    this.#controller?.abort(fault)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#is_over) return controller.abort(new Refusal('client.gone'))
    this.times.sent_at = this.#steady()
  }

  onRequestUpgrade(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
    socket: Duplex,
  ): void {
    socket.on('error', () => undefined) // 'close' follows
    if (this.#is_over) return void socket.destroy()
    this.times.answered_at = this.#steady()
    const reply_headers = plain(headers)
    const protocol = reply_headers['sec-websocket-protocol'] ?? null
    const fault = this.#faultIn(status, reply_headers, protocol)
    if (!fault) return this.#tell({kind: 'opened', socket, headers: reply_headers, protocol})
    socket.destroy()
    this.#fail(new Refusal('upstream.bad_reply', {provider: this.#target.provider.slug, reason: fault}))
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return
    this.#controller = controller
    this.times.answered_at = this.#steady()
    this.#status = status
    this.#headers = plain(headers)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#body_bytes += chunk.length
    if (this.#body_bytes <= MAX_BODY_BYTES) return void this.#body.push(chunk)
    this.#fail(
      new Refusal('upstream.bad_reply', {provider: this.#target.provider.slug, reason: 'its refusal is too long'}),
    )
    controller.abort(new Refusal('client.gone'))
  }

  onResponseEnd(): void {
    if (this.#status >= 300)
      return this.#tell({
        kind: 'answered',
        status: this.#status,
        headers: this.#headers,
        body: Buffer.concat(this.#body),
      })
    this.#fail(
      new Refusal('upstream.bad_reply', {provider: this.#target.provider.slug, reason: 'it did not open a WebSocket'}),
    )
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#fail(refusalOf(error, this.#target.provider.slug))
  }

  /** The faults for which a client must not accept the reply (RFC 6455, 4.1). */
  #faultIn(status: number, headers: Record<string, string>, protocol: string | null): string | null {
    if (status !== 101 || headers.upgrade?.toLowerCase() !== 'websocket') return 'it did not open a WebSocket'
    if (headers['sec-websocket-accept'] !== acceptKey(this.#opening.key))
      return 'its Sec-WebSocket-Accept does not answer the key'
    if (headers['sec-websocket-extensions']) return 'it chose an extension that was not offered'
    if (protocol !== null && !this.#protocols.includes(protocol)) return 'it chose a subprotocol that was not offered'
    return null
  }

  #fail(fault: Refusal) {
    this.#tell(fault)
  }

  #tell(dialled: Dialled | Refusal) {
    if (this.#is_over) return
    this.#is_over = true
    this.#done(dialled)
  }
}

function plain(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const values: Record<string, string> = {}
  for (const name in headers) if (headers[name] !== undefined) values[name] = String(headers[name])
  return values
}
