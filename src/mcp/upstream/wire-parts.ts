import type {RpcAnswer, RpcNotification, RpcRequest} from '../wire/messages.ts'
import type {OpenCall} from './open-call.ts'

export const JSON_TYPE = 'application/json'
export const EVENTS_TYPE = 'text/event-stream'
/** A client of Streamable HTTP takes both. */
export const EITHER_TYPE = `${JSON_TYPE}, ${EVENTS_TYPE}`

/** Takes what an upstream sends of itself. What it gives is resolved when its stream may be read further. */
export interface MessageTaker {
  /** On the stream of a call. */
  onCall(call: OpenCall, message: RpcRequest | RpcNotification): Promise<void>
  /** On a stream that is of no call. */
  outside(message: RpcRequest | RpcNotification): Promise<void>
}

/** The transport of one legacy conversation. */
export interface LegacyWire {
  readonly transport: 'http' | 'sse'
  /** True when its session is known to be gone. */
  readonly is_lost: boolean
  /** Sends a request once, and gives its answer. */
  exchange(call: OpenCall, text: string): Promise<RpcAnswer>
  /** Sends a notification, or an answer. */
  post(text: string, signal: AbortSignal): Promise<void>
  /** Ends the session. */
  end(signal: AbortSignal): Promise<void>
}
