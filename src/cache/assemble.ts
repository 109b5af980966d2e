import {keyFault} from '../base/json-keys.ts'
import {isObject} from '../base/json-object.ts'
import {MAX_JSON_DEPTH} from '../base/json-shape.ts'
import {readFields, SseFramer} from '../base/sse.ts'
import {createChoices} from './assemble-choices.ts'
import {createMessage} from './assemble-messages.ts'
import {createResponse} from './assemble-responses.ts'
import type {Assembly} from './assembly.ts'
import {type JsonRecord, parseExactly} from './exact-json.ts'
import {InexactFault} from './merge.ts'
import {MAX_MEMBERS, type StreamedEndpoint} from './rules.ts'

export interface Assembler {
  /** The next bytes of the stream, cut anywhere. They are not kept. */
  push(chunk: Buffer): void
  /** The stream is over: the whole answer as JSON, or null when it cannot be assembled exactly. */
  end(): Buffer | null
  /** False when it is already clear that there will be no answer; more bytes cost nothing then. */
  readonly hopeful: boolean
}

const ASSEMBLIES: Readonly<Record<StreamedEndpoint, () => Assembly>> = {
  chatComplete: () => createChoices('chat.completion', 'delta'),
  complete: () => createChoices('text_completion', 'text'),
  messages: createMessage,
  createModelResponse: createResponse,
}

/** A stream says little with many bytes: of a chunk of 300 bytes a word is kept. */
const MAX_STREAM_BYTES = 32 << 20
/** The last event of a response holds all of it. */
const MAX_EVENT_BYTES = 4 << 20

/**
 * Makes of a stream the answer that the same call would have had without one. There is none when
 * the stream was cut, reported an error, was longer than `most_bytes`, or left open what the whole would be.
 */
export function createAssembler(endpoint: StreamedEndpoint, most_bytes = MAX_STREAM_BYTES): Assembler {
  const assembly = ASSEMBLIES[endpoint]()
  let hopeful = true
  let bytes = 0
  const framer = new SseFramer(
    raw => {
      if (!hopeful) return
      try {
        if (raw === null) throw new InexactFault('an event is too long')
        for (const event of eventsIn(raw)) assembly.take(event)
      } catch (fault) {
        if (!(fault instanceof InexactFault)) throw fault
        hopeful = false
      }
    },
    Math.min(most_bytes, MAX_EVENT_BYTES),
  )
  return {
    get hopeful() {
      return hopeful
    },
    push(chunk) {
      bytes += chunk.length
      hopeful &&= bytes <= most_bytes
      if (hopeful) framer.push(chunk)
    },
    end() {
      if (hopeful) framer.end()
      const answer = hopeful ? assembly.answer() : null
      hopeful = false
      return answer && Buffer.from(JSON.stringify(answer))
    },
  }
}

/** The answer that a whole stream tells, or null. */
export function assemble(endpoint: StreamedEndpoint, stream: Buffer): Buffer | null {
  const assembler = createAssembler(endpoint, stream.length)
  assembler.push(stream)
  return assembler.end()
}

function eventsIn(raw: Buffer): (JsonRecord | 'done')[] {
  const {event, data} = readFields(raw)
  if (data.length === 0) return []
  const whole = eventIn(data.join('\n'), event)
  if (whole !== undefined) return [whole]
  // Some providers end events with a single line end, so that several come as one.
  return data.map(line => {
    const each = eventIn(line, event)
    if (each === undefined) throw new InexactFault('an event is not JSON')
    return each
  })
}

/** A shorter event has few members. */
const LONG_EVENT_CHARS = 16 << 10

function eventIn(text: string, event: string | null): JsonRecord | 'done' | undefined {
  if (text.trim() === '[DONE]') return 'done'
  if (text.length > LONG_EVENT_CHARS && keyFault(text, MAX_JSON_DEPTH, MAX_MEMBERS)?.kind === 'wide')
    throw new InexactFault('an event has too many members')
  const json = parseExactly(text)
  if (!isObject(json)) return undefined
  const type = json.type ?? event
  if (type === 'error' || type === 'response.failed' || (json.error !== undefined && json.error !== null))
    throw new InexactFault('an error')
  return json
}
