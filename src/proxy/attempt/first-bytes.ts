import {encodingOf} from '../../base/content-encoding.ts'
import {isEventStream} from '../upstream/vendor-stream.ts'
import type {AttemptParts} from './host.ts'

/** The field of an event stream's first line (WHATWG HTML, 9.2.5), or a comment. */
const FIELD = /^\uFEFF?\s*(?:data|event|id|retry)?:/
/** Longer than any field with what stands before it. */
const MOST_BYTES = 64

/** A good response to a request for a stream that is not labelled as one: only its first bytes tell what it is. */
export interface UnlabelledResponse {
  readonly status: number
  readonly headers: Record<string, string | string[]>
  readonly parts: Buffer[]
}

/** Whether the head of a response has to wait for the first bytes of its body. */
export function waitsForStart({call, request}: AttemptParts, status: number, headers: Record<string, string | string[]>): boolean {
  if (status >= 300 || request.translating || !('stream' in call.body && call.body.stream)) return false
  return !isEventStream(String(headers['content-type'] ?? '')) && encodingOf(String(headers['content-encoding'] ?? '')) === null
}

/** Whether a body begins as an event stream does; null: too little of it has come to tell. */
export function beginsAsEvents(first: Buffer): boolean | null {
  const text = first.toString('utf8', 0, MOST_BYTES)
  if (FIELD.test(text)) return true
  const word = text.replace(/^\uFEFF?\s*/, '')
  return first.length < MOST_BYTES && ['data:', 'event:', 'id:', 'retry:'].some(field => field.startsWith(word)) ? null : false
}
