import {isObject, object, parsed} from '../../base/json-object.ts'
import {MAX_EVENT_BYTES, readFields, SseFramer} from '../../base/sse.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import type {Hop} from '../../schema/hops.ts'
import type {Usage} from '../../schema/usage.ts'
import {type UsageByHop, usageByHop} from '../anthropic/hops.ts'
import {type Refusals, refusalsIn} from '../anthropic/refusals.ts'
import {modelIn, rawUsageIn, withTools} from './reply.ts'
import {hasValue, keyBytes, stringBytes, stringTokens, valueAt} from './scan.ts'
import {failureIn, type StreamFailure} from './stream-failure.ts'
import {textKeysOf} from './text-keys.ts'
import {mergeRawUsage, type RawObject, readUsage} from './usage.ts'

export {estimateTokens, type ReplyFacts, readReply, requestUnits} from './reply.ts'

const USAGE = keyBytes('usage')
const ERROR = keyBytes('error')
const SEQUENCE = keyBytes('sequence_number')
const LONGEST_NUMBER = 16
const HANDOVER = Buffer.from('"fallback"')
const PING = Buffer.from('ping')
const DATA = Buffer.from('data')
const DONE = Buffer.from('[DONE]')
const EVENT = 'event:'
const LETTER_E = 101
const LF = 10
const COLON = 58
/** A longer event is no ping. */
const LONGEST_PING = 64
/** `data: [DONE]` with whatever spaces; a longer event is something else. */
const LONGEST_DONE = 64
/** Events in which we look for the model before we take it that the stream names none. */
const MODEL_TRIES = 8
const LONGEST_ID = 512
/** Small events have the model; a picture is not parsed to look for it. */
const MODEL_BYTES = 64 * 1024
/** Endpoints whose events carry pictures or all of the answer, and the usage behind them. */
const LARGE: ReadonlySet<EndpointName> = new Set([
  'createModelResponse',
  'getModelResponse',
  'imageGenerate',
  'imageEdit',
  'createSpeech',
])
const LARGE_EVENT_BYTES = 16 * 1024 * 1024

/** Types of the event after which a client takes the answer for whole; `[DONE]` is one everywhere. */
const LAST: Readonly<Partial<Record<EndpointName, readonly string[]>>> = {
  chatComplete: [],
  complete: [],
  createModelResponse: ['response.completed', 'response.failed', 'response.incomplete'],
  messages: ['message_stop'],
  createSpeech: ['speech.audio.done'],
  createTranscription: ['transcript.text.done'],
  imageGenerate: ['image_generation.completed'],
  imageEdit: ['image_edit.completed'],
}
/** Keys whose value says that an answer, or a choice of it, is whole: some providers send no event after it. */
const REASON: Readonly<Partial<Record<EndpointName, Buffer>>> = {
  chatComplete: keyBytes('finish_reason'),
  complete: keyBytes('finish_reason'),
  messages: keyBytes('stop_reason'),
}
/** Pass-through knows no endpoint. These two are unmistakable. */
const LAST_ANYWHERE = [...LAST.createModelResponse!, ...LAST.messages!]

/** Events that come before the provider has decided anything (core rule 20). */
const PREAMBLE: ReadonlySet<unknown> = new Set([
  'ping',
  'message_start',
  'response.created',
  'response.queued',
  'response.in_progress',
])

/**
 * Follows the stream of an answer to `endpoint` and remembers the facts in it, without touching it (core rules 6, 19,
 * 20). `choices`: see `awaits_usage`.
 */
export function observeStream(endpoint: EndpointName, choices = 0): StreamObserver {
  return new StreamObserver(endpoint, choices)
}

export class StreamObserver {
  readonly #endpoint: EndpointName
  readonly #choices: number
  readonly #last: readonly string[]
  readonly #last_bytes: readonly Buffer[]
  readonly #text_keys: readonly Buffer[]
  readonly #framer: SseFramer
  #usage_so_far: RawObject | null = null
  #refusals: Refusals | null = null
  /** Its words may be Anthropic's, whose models hand a refused answer over to others. */
  readonly #hands_over: boolean
  #response: RawObject = {}
  #model: string | null = null
  #background_id: string | null = null
  #model_tries = MODEL_TRIES
  #failed: StreamFailure | null = null
  #finished = false
  readonly #reason: Buffer | undefined
  /** Choices whose reason to end has not come. */
  #open_choices: number
  #has_reason = false
  #has_unread = false
  #ended: Set<number> | undefined
  #events = 0
  #first_event: 'none' | 'comment' | 'event' | 'error' = 'none'
  #text_bytes = 0
  #pieces = 0
  /** Null until the first read: it takes longer than bytes to count. */
  #most_tokens: number | null = null
  #hold_at = -1
  #sequence_number: number | null = null

  constructor(endpoint: EndpointName, choices: number) {
    this.#endpoint = endpoint
    this.#choices = this.#open_choices = choices
    this.#last = LAST[endpoint] ?? LAST_ANYWHERE
    this.#reason = REASON[endpoint]
    this.#hands_over = endpoint === 'messages' || endpoint === 'proxy'
    this.#last_bytes = this.#last.map(type => Buffer.from(type))
    this.#text_keys = textKeysOf(endpoint).map(keyBytes)
    const most_bytes = LARGE.has(endpoint) ? LARGE_EVENT_BYTES : MAX_EVENT_BYTES
    this.#framer = new SseFramer((raw, start) => this.#examine(raw, start), most_bytes)
  }

  /**
   * Reads the next bytes. Returns −1, or where in `chunk` the bytes begin that would let a client take the answer for
   * whole: there begins the last event, or 0 when it began earlier and became whole with this chunk. Settle before
   * passing those on. Told once.
   */
  take(chunk: Buffer): number {
    if (this.#finished) {
      this.#framer.push(chunk)
      return -1
    }
    const offset = this.#framer.offset
    this.#framer.push(chunk)
    // A client that reads by lines acts on the line, before the blank line that the standard asks for.
    const lines = this.#finished ? null : this.#framer.whole_lines
    if (lines && this.#mayBeLast(lines)) this.#read(lines, this.#framer.open_start)
    return this.#hold_at < 0 ? -1 : Math.max(0, this.#hold_at - offset)
  }

  /** The stream is over: an event that lacks its blank line is read too. */
  end(): void {
    this.#framer.end()
  }

  /** The last value of each count; null while none came. */
  get usage(): Usage | null {
    const {usage} = this.#counted
    return usage && withTools(usage, this.#response)
  }

  get hops(): readonly Hop[] | null {
    return this.#counted.hops
  }

  get #counted(): UsageByHop {
    const usage = this.#usage_so_far && readUsage(this.#usage_so_far, this.#endpoint)
    return usageByHop(this.#usage_so_far, usage, this.#refusals)
  }

  get model(): string | null {
    return this.#model
  }

  /**
   * The id of a response that is made in the background, whether or not anybody reads its stream; null for all others.
   */
  get background_id(): string | null {
    return this.#background_id
  }

  /** True when the last event of a whole answer was seen. */
  get finished(): boolean {
    return this.#finished
  }

  get failed(): StreamFailure | null {
    return this.#failed
  }

  /**
   * True when the answer is known not to be whole where it ends now: no event ended it, and every event was short
   * enough to be read.
   */
  get is_cut(): boolean {
    return !this.#finished && !this.#has_reason && !this.#has_unread && !this.#failed
  }

  /**
   * True when each of the choices that a client waits for gave its reason to end, and the usage, which comes behind
   * them, has not come.
   */
  get awaits_usage(): boolean {
    return (
      this.#choices > 0 && this.#open_choices <= 0 && !this.#finished && !this.#failed && this.#usage_so_far === null
    )
  }

  /** Events that came, comments and pings apart. */
  get events(): number {
    return this.#events
  }

  /**
   * About how many bytes of text the model wrote, escapes as sent: some providers report usage before it is all there.
   */
  get text_bytes(): number {
    return this.#text_bytes
  }

  /** The most tokens that all text of the model comes to. Text before the first read counts a token a byte. */
  get most_tokens(): number {
    this.#most_tokens ??= this.#text_bytes
    return this.#most_tokens
  }

  /** In how many events that text came. */
  get pieces(): number {
    return this.#pieces
  }

  /** The first event that is neither a comment, a ping nor `message_start`; `comment` while only such were seen. */
  get first_event(): 'none' | 'comment' | 'event' | 'error' {
    return this.#first_event
  }

  /** True when the bytes so far end inside an event: an event of our own must begin with a blank line. */
  get is_mid_event(): boolean {
    return this.#framer.open_start >= 0
  }

  /** The number of the last event of a response; null where its events have none. */
  get sequence_number(): number | null {
    return this.#sequence_number
  }

  /** How many of the bytes so far are of an event that is not whole yet: nothing of it was counted. */
  get open_bytes(): number {
    return this.#framer.open_bytes
  }

  #examine(raw: Buffer | null, start: number) {
    if (this.#finished) return
    if (raw === null) {
      this.#has_unread = true
      this.#events++
      if (this.#first_event !== 'error') this.#first_event = 'event'
      return
    }
    if (!isIdle(raw)) this.#events++
    if (this.#endpoint === 'createModelResponse') this.#sequence_number = numberIn(raw) ?? this.#sequence_number
    if (this.#reason && (!this.#has_reason || this.#open_choices > 0) && hasValue(raw, this.#reason)) {
      this.#has_reason = true
      this.#open_choices = this.#choices > 1 ? this.#choices - this.#endedBy(raw) : 0
    }
    const is_settled = this.#first_event === 'event' || this.#first_event === 'error'
    const wants_model = this.#model === null && this.#model_tries > 0 && raw.length <= MODEL_BYTES
    const hands_over = this.#hands_over && raw.includes(HANDOVER)
    if (
      !is_settled ||
      wants_model ||
      hands_over ||
      hasValue(raw, USAGE) ||
      hasValue(raw, ERROR) ||
      this.#mayBeLast(raw)
    )
      this.#read(raw, start)
    this.#countText(raw)
  }

  /** How many choices gave their reason to end, with those of this event. */
  #endedBy(raw: Buffer): number {
    const {choices} = object(parsed(readFields(raw).data.join('\n')))
    this.#ended ??= new Set()
    for (const choice of Array.isArray(choices) ? choices.map(object) : []) {
      if (choice.finish_reason && Number.isSafeInteger(choice.index)) this.#ended.add(choice.index as number)
    }
    return this.#ended.size
  }

  #mayBeLast(raw: Buffer): boolean {
    if (raw.length <= LONGEST_DONE && raw.includes(DONE)) return true
    if (this.#last.length === 0) return false
    // Most dialects name the event in its first line: then the rest need not be searched.
    const stop = raw[0] === LETTER_E ? raw.indexOf(LF) : -1
    const line = stop > 0 ? raw.toString('latin1', 0, stop) : ''
    if (line.startsWith(EVENT)) return this.#last.includes(line.slice(EVENT.length).trim())
    return this.#last_bytes.some(type => raw.includes(type))
  }

  #read(raw: Buffer, start: number) {
    const {event, data} = readFields(raw)
    if (data.length === 0) {
      if (this.#first_event === 'none') this.#first_event = 'comment'
      return
    }
    const whole = data.join('\n')
    const json = parsed(whole)
    // Some providers end events with a single line end, so that several come as one.
    const parts =
      json === undefined && data.length > 1 ? data.map(line => [line, parsed(line)] as const) : [[whole, json] as const]
    for (const [text, value] of parts) {
      if (this.#finished) return
      if (text.trim() === '[DONE]') this.#finish(start)
      else this.#readJson(object(value), event, start)
    }
  }

  #readJson(json: RawObject, event: string | null, start: number) {
    const type = typeof json.type === 'string' ? json.type : event
    const failure = failureIn(json, type)
    this.#failed ??= failure
    if (this.#first_event === 'none' || this.#first_event === 'comment') {
      this.#first_event = failure ? 'error' : PREAMBLE.has(type) ? 'comment' : 'event'
    }
    this.#usage_so_far = mergeRawUsage(this.#usage_so_far, rawUsageIn(json))
    if (this.#hands_over) this.#refusals = refusalsIn(json, this.#refusals)
    if (this.#model === null) {
      this.#model = modelIn(json)
      this.#model_tries--
    }
    const {response} = json
    if (isObject(response) && response.background === true) this.#background_id = idOf(response)
    if (type === null || !this.#last.includes(type)) return
    if (isObject(response)) this.#response = response
    this.#finish(start)
  }

  #finish(start: number) {
    if (this.#first_event === 'none' || this.#first_event === 'comment') this.#first_event = 'event'
    this.#finished = true
    this.#hold_at = start
  }

  #countText(raw: Buffer) {
    if (this.#most_tokens !== null) for (const key of this.#text_keys) this.#most_tokens += stringTokens(raw, key)
    for (const key of this.#text_keys) {
      const bytes = stringBytes(raw, key)
      if (bytes === 0) continue
      this.#text_bytes += bytes
      this.#pieces++
      return
    }
  }
}

/** Its `sequence_number`; null where it has none. */
function numberIn(raw: Buffer): number | null {
  const at = valueAt(raw, SEQUENCE)
  const digits = at < 0 ? null : /^\d{1,15}/.exec(raw.toString('latin1', at, at + LONGEST_NUMBER))
  return digits && Number(digits[0])
}

/** The id of a response; null for what is none. */
function idOf({id}: RawObject): string | null {
  return typeof id === 'string' && id !== '' && id.length <= LONGEST_ID ? id : null
}

/** True for an event that only says that the connection is alive. */
function isIdle(raw: Buffer): boolean {
  if (raw[0] === COLON) return !raw.includes(DATA)
  return raw.length <= LONGEST_PING && raw[0] === LETTER_E && raw.includes(PING)
}
