import {AwsEventStream, BadFrame, readEvent} from '../base/aws-event-stream.ts'
import {Refusal} from '../base/errors.ts'
import {JsonValueFramer} from '../base/json-values.ts'
import {readFields, SseFramer} from '../base/sse.ts'
import {faultEvent} from '../providers/openai/error.ts'
import type {Fault, Framing, Json, StreamEvent} from '../providers/translation.ts'
import type {EndpointName} from '../schema/endpoints.ts'
import type {Stream} from './stream.ts'
import type {Translating} from './translate.ts'

/** Pictures and sound come inline. */
const MOST_EVENT_BYTES = 16 << 20
const NOTHING = Buffer.alloc(0)
const DONE = 'data: [DONE]\n\n'

/**
 * A stream in the provider's words on its way to a client of other words. What ends it for the client waits for its end at the provider,
 * since some tell their usage behind their last word.
 */
export function openTranslatedStream(endpoint: EndpointName, of: Translating): Stream {
  const {translation, client, context, asked, said} = of
  const translator = translation.stream!.open(context, asked)
  const writer = client?.openStream(context, said)
  let text = ''
  let has_begun = false
  let broken: string | null = null
  const write = (chunks: readonly Json[]) => {
    for (const chunk of chunks) {
      has_begun = true
      text += writer ? writer.chunk(chunk) : `data: ${JSON.stringify(chunk)}\n\n`
    }
  }
  const framer = framerOf(translation.stream!.framing, event => {
    if (event === null) broken ??= 'an event is too long'
    else if (!broken && !translator.failed) write(translator.event(event))
  })
  const guarded = (work: () => void) => {
    if (broken) return
    try {
      work()
    } catch (fault) {
      if (!(fault instanceof BadFrame) && !(fault instanceof RangeError)) throw fault
      broken = fault.message
    }
  }
  const taken = () => {
    const bytes = text ? Buffer.from(text) : NOTHING
    text = ''
    return bytes
  }
  const fault = (): Fault & {status: number | null} => {
    if (translator.failed) return translator.failed
    const message = `${context.provider} error: ${broken ?? 'the stream broke off'}`
    return {message, type: 'api_error', param: null, code: null, status: 502}
  }
  return {
    take(chunk, then) {
      guarded(() => framer.push(chunk))
      then(taken(), null)
    },
    end(then) {
      guarded(() => framer.end())
      guarded(() => write(translator.end()))
      if (!broken && !translator.failed && translator.finished) text += writer ? writer.end() : DONE
      then(taken())
    },
    faultEvent(refusal) {
      const told = translator.failed || broken ? fault() : {message: refusal.message, type: refusal.said.type, param: null, code: null}
      if (writer) return Buffer.from(writer.fault(told))
      return faultEvent(endpoint, {message: told.message, type: told.type ?? 'api_error'}, false)
    },
    close: () => undefined,
    get usage() {
      return translator.usage
    },
    get model() {
      return translator.model
    },
    get text_bytes() {
      return translator.text_bytes
    },
    get failed() {
      if (!translator.failed && !broken) return null
      const {type, message, status} = fault()
      return {type: type ?? 'api_error', message, status}
    },
    get has_begun() {
      return has_begun || translator.failed !== null || broken !== null
    },
    get fault() {
      if (translator.failed || broken) return new Refusal('upstream.told', {message: fault().message})
      return translator.finished ? null : new Refusal('upstream.broken', {provider: context.provider})
    },
    ends_on_fault: true,
  }
}

interface Framer {
  push(chunk: Buffer): void
  end(): void
}

/** `told` null: an event longer than any may be. */
function framerOf(framing: Framing, told: (event: StreamEvent | null) => void): Framer {
  if (framing === 'sse') {
    return new SseFramer(raw => {
      if (raw === null) return told(null)
      const {event, data} = readFields(raw)
      if (data.length > 0) told({name: event, data: parsed(data.join('\n'))})
    }, MOST_EVENT_BYTES)
  }
  if (framing === 'json_array') {
    const values = new JsonValueFramer(raw => told(raw && {name: null, data: parsed(raw.toString())}), MOST_EVENT_BYTES)
    return values
  }
  const messages = new AwsEventStream(message => told(readEvent(message)))
  return {push: chunk => messages.push(chunk), end: () => undefined}
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
