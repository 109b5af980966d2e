import {McpFault} from '../wire/faults.ts'
import type {RpcAnswer, RpcNotification, RpcRequest} from '../wire/messages.ts'
import {pause, type WaitClock} from './deadlines.ts'
import {unreachable} from './faults.ts'
import type {IncomingReply} from './http.ts'
import type {OpenCall} from './open-call.ts'
import {eventsOf, isAnswerTo, messagesIn} from './replies.ts'

/** Without a `retry` of the server, and after a resumption that brought nothing; doubled up to the longest. */
const PAUSE_MS = 1_000
const LEAST_PAUSE_MS = 50
const MOST_PAUSE_MS = 60_000
/** An event id of this form can be sent in a header. */
const SENDABLE = /^[\x20-\x7e]{1,4096}$/

export interface StreamReading {
  readonly server: string
  readonly clock: WaitClock
  take(message: RpcRequest | RpcNotification): Promise<void>
  /** Asks for the rest of the stream after an event; null: later. Absent where streams cannot be resumed. */
  readonly resume?: (last_event_id: string) => Promise<IncomingReply | null>
}

/** How far a stream was read. */
interface Cursor {
  last_id: string | null
  retry_ms: number | null
  pause_ms: number
  /** True when something came since the last resumption. */
  has_moved: boolean
}

/**
 * The answer on the stream that a request got. A stream that ends before it is resumed behind its last event, after the
 * pause that the server set; the request is never sent again.
 */
export async function answerOnStream(call: OpenCall, first: IncomingReply, how: StreamReading): Promise<RpcAnswer> {
  const cursor: Cursor = {last_id: null, retry_ms: null, pause_ms: PAUSE_MS, has_moved: true}
  for (let stream = first; ; ) {
    const answer = await readToAnswer(call, stream, cursor, how)
    if (answer) return answer
    if (!how.resume || cursor.last_id === null)
      throw unreachable(how.server, 'the stream of its reply ended before the answer')
    stream = await resumed(call, cursor, how)
  }
}

/** Null when the stream ended, or broke off, where it may be resumed. */
async function readToAnswer(
  call: OpenCall,
  stream: IncomingReply,
  cursor: Cursor,
  {server, take, resume}: StreamReading,
): Promise<RpcAnswer | null> {
  const {signal} = call.deadlines
  let answer: RpcAnswer | null = null
  try {
    reading: for await (const event of eventsOf(stream, server)) {
      cursor.has_moved = true
      if (event.id !== null) cursor.last_id = SENDABLE.test(event.id) ? event.id : null
      cursor.retry_ms = event.retry_ms ?? cursor.retry_ms
      for (const message of messagesIn(event, server)) {
        if (message.kind !== 'answer') await take(message)
        else if (isAnswerTo(message, call.id)) {
          answer = message
          break reading
        }
      }
    }
    if (answer) stream.settle()
    return answer
  } catch (fault) {
    stream.destroy()
    if (signal.aborted) throw signal.reason
    const is_broken = fault instanceof McpFault && fault.reason === 'upstream_unreachable'
    if (is_broken && resume && cursor.last_id !== null) return null
    throw fault
  }
}

async function resumed(call: OpenCall, cursor: Cursor, {clock, resume}: StreamReading): Promise<IncomingReply> {
  const {deadlines} = call
  for (;;) {
    const {has_moved, retry_ms} = cursor
    cursor.pause_ms = has_moved ? PAUSE_MS : Math.min(cursor.pause_ms * 2, MOST_PAUSE_MS)
    const wished_ms = retry_ms ?? PAUSE_MS
    const wait_ms = has_moved ? wished_ms : Math.max(wished_ms, cursor.pause_ms)
    cursor.has_moved = false
    const bounded_ms = Math.min(Math.max(wait_ms, LEAST_PAUSE_MS), MOST_PAUSE_MS)
    await deadlines.aside(() => pause(clock, bounded_ms, deadlines.signal))
    const stream = await resume!(cursor.last_id!)
    if (stream) return stream
  }
}
