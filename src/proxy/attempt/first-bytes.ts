import {encodingOf} from '../../base/content-encoding.ts'
import {isEventStream, saysFraming} from '../upstream/vendor-stream.ts'
import type {AttemptParts} from './attempt-owner.ts'

/** The field of an event stream's first line (WHATWG HTML, 9.2.5), or a comment. */
const FIELD = /^\uFEFF?\s*(?:data|event|id|retry)?:/
/** Longer than any field with the bytes before it. */
const MOST_BYTES = 64

/** A good response to a request for a stream that is not labelled as one: only its first bytes tell what it is. */
export interface UnlabelledResponse {
  readonly status: number
  readonly headers: Record<string, string | string[]>
  readonly parts: Buffer[]
}

/**
 * True when the head of a response has to wait for the first bytes of its body: a stream was requested, by a member of
 * the body or by the path.
 */
export function waitsForStart(
  {call, request}: AttemptParts,
  status: number,
  headers: Record<string, string | string[]>,
): boolean {
  if (status >= 300 || request.translating) return false
  const type = String(headers['content-type'] ?? '')
  const is_requested = 'stream' in call.body && call.body.stream
  const is_by_path = !is_requested && call.is_passthrough && (call.operation?.operation.framing ?? null) !== null
  return (
    (is_requested ? !isEventStream(type) : is_by_path && !saysFraming(type)) &&
    encodingOf(String(headers['content-encoding'] ?? '')) === null
  )
}

/** True when a body begins as an event stream does; null: too little of it has come to tell. */
export function beginsAsEvents(first: Buffer): boolean | null {
  const text = first.toString('utf8', 0, MOST_BYTES)
  if (FIELD.test(text)) return true
  const word = text.replace(/^\uFEFF?\s*/, '')
  return first.length < MOST_BYTES && ['data:', 'event:', 'id:', 'retry:'].some(field => field.startsWith(word))
    ? null
    : false
}

/** So much of a refusal is read while it waits. */
const MAX_HELD_BYTES = 1 << 18

/** A response that waits until it is known whether the client gets it. */
export class HeldResponse {
  readonly status: number
  readonly headers: Record<string, string | string[]>
  readonly parts: Buffer[] = []
  has_ended = false
  #length = 0

  constructor(status: number, headers: Record<string, string | string[]>) {
    this.status = status
    this.headers = headers
  }

  /** False when no more should come for now. */
  takes(chunk: Buffer): boolean {
    this.parts.push(chunk)
    this.#length += chunk.length
    return this.#length < MAX_HELD_BYTES
  }

  end(): void {
    this.has_ended = true
  }
}
