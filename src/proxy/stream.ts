import type {Refusal} from '../base/errors.ts'
import {faultEvent} from '../providers/openai/error.ts'
import {meterFilter} from '../providers/openai/meter.ts'
import {observeStream} from '../providers/openai/observe.ts'
import type {EndpointName} from '../schema/endpoints.ts'
import type {Usage} from '../schema/usage.ts'
import {tap} from './decode.ts'

/** An event stream on its way through: what may go on at once, what must wait for the settlement, and what it told of itself. */
export interface Stream {
  /** `hold` is not null when the bytes so far would tell a client that the answer is whole. */
  take(chunk: Buffer, then: (send: Buffer, hold: Buffer | null) => void): void
  /** The stream ended; `rest` is what was still kept back. */
  end(then: (rest: Buffer) => void): void
  /** What to say in the stream when it is cut off, on a boundary of its events. */
  faultEvent(fault: Refusal): Buffer
  close(): void
  readonly usage: Usage | null
  readonly model: string | null
  readonly text_bytes: number
  /** An error the provider told inside the stream. */
  readonly failed: {readonly type: string; readonly message: string; readonly status?: number | null} | null
  /** True when the provider has decided something: an event came that is neither a comment nor a preamble. */
  readonly has_begun: boolean
  /** What is wrong with a stream that ended: it was cut off, or told an error. Null also where that cannot be known. */
  readonly fault: Refusal | null
  /** True when an error told inside ends the answer, which then is told in our words. */
  readonly ends_on_fault: boolean
}

const NOTHING = Buffer.alloc(0)

/** Follows a stream of `endpoint`. An encoded one is decoded for our own reading alone; its bytes go on as they are. */
export function openStream(endpoint: EndpointName, {encoding, is_metered}: {encoding: string | null; is_metered: boolean}): Stream {
  const observer = observeStream(endpoint)
  const filter = is_metered ? meterFilter() : null
  let ends = false
  const seen = (plain: Buffer) => {
    if (observer.take(plain) >= 0) ends = true
  }
  const decoder = encoding && encoding !== 'identity' ? tap(encoding, seen) : null
  const is_opaque = Boolean(encoding && encoding !== 'identity' && !decoder)
  return {
    take(chunk, then) {
      if (is_opaque) return then(chunk, null)
      if (decoder) return decoder.take(chunk, () => (ends ? then(NOTHING, chunk) : then(chunk, null)))
      const from = observer.take(chunk)
      if (filter) {
        const kept = filter.take(chunk)
        return from < 0 ? then(kept, null) : then(NOTHING, Buffer.concat([kept, filter.end()]))
      }
      if (from < 0) then(chunk, null)
      else then(chunk.subarray(0, from), chunk.subarray(from))
    },
    end(then) {
      const done = () => {
        observer.end()
        then(filter?.end() ?? NOTHING)
      }
      if (decoder) decoder.end(done)
      else done()
    },
    faultEvent: fault => faultEvent(endpoint, {message: fault.message, type: fault.said.type}, observer.is_mid_event),
    close: () => decoder?.close(),
    get usage() {
      return observer.usage
    },
    get model() {
      return observer.model
    },
    get text_bytes() {
      return observer.text_bytes
    },
    get failed() {
      return observer.failed
    },
    get has_begun() {
      return is_opaque || observer.first_event === 'event' || observer.first_event === 'error'
    },
    fault: null,
    ends_on_fault: false,
  }
}

/** The status an error told inside a stream would have had (core rule 20). */
export function statusOf({type, status}: {readonly type: string; readonly status?: number | null}): number {
  if (typeof status === 'number') return status
  if (/overload/i.test(type)) return 529
  if (/rate.?limit|too.?many/i.test(type)) return 429
  return 500
}
