import {AwsEventStream, readEvent} from '../../base/aws-event-stream.ts'
import {parseJson, TooDeepFault} from '../../base/json-object.ts'
import {MAX_JSON_DEPTH} from '../../base/json-shape.ts'
import {JsonValueFramer} from '../../base/json-values.ts'
import {readFields, SseFramer} from '../../base/sse.ts'
import type {Framing, StreamEvent} from '../../providers/translation.ts'

/** Pictures and sound come inline. */
const MAX_EVENT_BYTES = 16 << 20

/** Cuts the bytes of a stream into events, however they come. */
export interface Framer {
  /** How many of the bytes so far are of an event that has begun and not ended. */
  readonly open_bytes: number
  push(chunk: Buffer): void
  end(): void
}

/**
 * `emit` gets each event, or a text: why what came is no event. Lines of JSON are read as an array's elements are.
 * Throws `FrameFault`.
 */
export function framerOf(framing: Framing | 'lines', emit: (event: StreamEvent | string) => void): Framer {
  if (framing === 'sse') {
    return new SseFramer(raw => {
      if (raw === null) return emit(TOO_LONG)
      const {event, data} = readFields(raw)
      const whole = eventOf(event, data.join('\n'))
      // Some providers end events with a single line end, so that several come as one.
      if (typeof whole === 'string' && data.length > 1) for (const line of data) emit(eventOf(event, line))
      else if (data.length > 0) emit(whole)
    }, MAX_EVENT_BYTES)
  }
  if (framing !== 'aws_event_stream') {
    const values = new JsonValueFramer(
      raw => emit(raw === null ? TOO_LONG : eventOf(null, raw.toString())),
      MAX_EVENT_BYTES,
    )
    const check = () => values.fault === null || emit(NOT_JSON)
    return {
      get open_bytes() {
        return values.open_bytes
      },
      push(chunk) {
        values.push(chunk)
        check()
      },
      end() {
        values.end()
        check()
      },
    }
  }
  const messages = new AwsEventStream(message => emit(readEvent(message)))
  return {
    get open_bytes() {
      return messages.open_bytes
    },
    push: chunk => messages.push(chunk),
    end: () => undefined,
  }
}

const TOO_LONG = 'an event of its stream is too long'
const NOT_JSON = 'an event of its stream is not JSON'
const TOO_DEEP = `an event of its stream is nested deeper than the ${MAX_JSON_DEPTH} levels that are read`

/**
 * An event that is no JSON is an error, for with it a piece of the answer is gone; except empty ones, and OpenAI's last
 * word.
 */
function eventOf(name: string | null, text: string): StreamEvent | string {
  if (text.trim() === '' || text.trim() === '[DONE]') return {name, data: text.trim()}
  try {
    return {name, data: parseJson(text), text}
  } catch (fault) {
    return fault instanceof TooDeepFault ? TOO_DEEP : NOT_JSON
  }
}
