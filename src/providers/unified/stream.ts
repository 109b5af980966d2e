import type {Usage} from '../../schema/usage.ts'
import {asksUsage, chunk, usageChunk} from '../chat.ts'
import type {Json, ProviderFault, StreamEvent, StreamTranslator, TranslationContext} from '../translation.ts'
import {InvalidResponseFault} from '../translation.ts'
import {faultOf, type RawError} from './fault.ts'
import type {FunctionCall} from './tools.ts'

/**
 * Writes a chat stream for a translator: the role goes first, a call's id and name go once, arguments that never came
 * are an empty object, thinking goes as `content_blocks` and only where `strict` is off.
 */
export interface ChatWriter {
  /** The provider's id of the answer and the model; the first event that has them wins, before anything is written. */
  named(id: string | null, model: string | null): void
  /** The first chunk of a choice, with its role; every other word does this first. */
  begin(choice?: number): void
  text(text: string, choice?: number, logprobs?: Json | null): void
  thought(text: string, choice?: number): void
  /** Begins a call, with what is known of its arguments; gives its position for `more`. */
  call(call: FunctionCall, choice?: number): number
  more(position: number, given: string, choice?: number): void
  /** A delta of the provider's own kind. */
  delta(delta: Json, choice?: number): void
  finish(reason: string, choice?: number, more?: Json): void
  /** Returns the chunks since the last call. */
  take(): readonly Json[]
  readonly id: string | null
  readonly model: string | null
  readonly text_bytes: number
  /** True when each choice that began has ended, and one has. */
  readonly is_finished: boolean
}

interface Spoken {
  /** `held`: the beginning of arguments that may be no more than `null`, which some say for none. */
  readonly calls: {held: string; has_arguments: boolean}[]
  block: number
  kind: '' | 'text' | 'thinking'
  is_ended: boolean
}

export function chatWriter(context: TranslationContext): ChatWriter {
  const choices = new Map<number, Spoken>()
  let written: Json[] = []
  let id: string | null = null
  let model: string | null = null
  let text_bytes = 0

  function spoken(choice: number): Spoken {
    const known = choices.get(choice)
    if (known) return known
    const begun: Spoken = {calls: [], block: -1, kind: '', is_ended: false}
    choices.set(choice, begun)
    written.push(chunk(context, {id, model}, {role: 'assistant', content: ''}, null, choice))
    return begun
  }
  function say(delta: Json, choice: number, logprobs: Json | null = null) {
    spoken(choice)
    const base_chunk = chunk(context, {id, model}, delta, null, choice)
    written.push(
      logprobs ? {...base_chunk, choices: [{index: choice, delta, logprobs, finish_reason: null}]} : base_chunk,
    )
  }
  /** The position of the block that text of this kind belongs to: a new one where the kind changes. */
  function block(kind: 'text' | 'thinking', choice: number): {index: number; has_thought: boolean} {
    const now = spoken(choice)
    if (now.kind !== kind) {
      now.kind = kind
      now.block++
    }
    return {index: now.block, has_thought: now.block > 0 || kind === 'thinking'}
  }

  return {
    named(given_id, given_model) {
      // A name that comes after the first chunk comes too late: all chunks of an answer have one.
      if (choices.size > 0) return
      id ??= given_id
      model ??= given_model
    },
    begin: (choice = 0) => void spoken(choice),
    text(text, choice = 0, logprobs = null) {
      if (text === '') return
      text_bytes += Buffer.byteLength(text)
      const {index, has_thought} = block('text', choice)
      say(
        {content: text, ...(has_thought && !context.strict ? {content_blocks: [{index, delta: {text}}]} : {})},
        choice,
        logprobs,
      )
    },
    thought(text, choice = 0) {
      if (text === '') return
      text_bytes += Buffer.byteLength(text)
      const {index} = block('thinking', choice)
      if (!context.strict) say({content_blocks: [{index, delta: {thinking: text}}]}, choice)
    },
    call(call, choice = 0) {
      const {calls} = spoken(choice)
      text_bytes += Buffer.byteLength(call.name) + Buffer.byteLength(call.arguments)
      const held = mayBeNull(call.arguments) ? call.arguments : ''
      const given = held ? '' : call.arguments
      const index = calls.push({held, has_arguments: given !== ''}) - 1
      say({tool_calls: [{index, id: call.id, type: 'function', function: {name: call.name, arguments: given}}]}, choice)
      return index
    },
    more(position, given, choice = 0) {
      const call = spoken(choice).calls[position]
      if (!call) throw new InvalidResponseFault('arguments came for a call that was never begun')
      if (given === '') return
      text_bytes += Buffer.byteLength(given)
      const so_far = call.held + given
      call.held = !call.has_arguments && mayBeNull(so_far) ? so_far : ''
      if (call.held) return
      call.has_arguments = true
      say({tool_calls: [{index: position, function: {arguments: so_far}}]}, choice)
    },
    delta: (delta, choice = 0) => say(delta, choice),
    finish(reason, choice = 0, more = {}) {
      const now = spoken(choice)
      now.calls.forEach(({has_arguments}, index) => {
        if (!has_arguments) say({tool_calls: [{index, function: {arguments: '{}'}}]}, choice)
      })
      now.is_ended = true
      written.push({...chunk(context, {id, model}, {}, reason, choice), ...more})
    },
    take() {
      const given = written
      written = []
      return given
    },
    get id() {
      return id
    },
    get model() {
      return model
    },
    get text_bytes() {
      return text_bytes
    },
    get is_finished() {
      return choices.size > 0 && [...choices.values()].every(({is_ended}) => is_ended)
    },
  }
}

/** Arguments are an object, so that nothing else of theirs begins like `null`. */
export function mayBeNull(text: string): boolean {
  return text.length <= 8 && text !== '' && 'null'.startsWith(text.trim())
}

/** A dialect's own reader of the events of a chat stream. */
export interface StreamReader {
  /** Throws `InvalidResponseFault` for what is not the provider's shape; the stream then fails with it. */
  event(event: StreamEvent): void
  /**
   * The connection's end, for providers that say no other: what is written still goes out, of a stream that is whole.
   */
  end?(): void
  readonly finished: boolean
  readonly usage: Usage | null
  /** The usage that a client is shown, when it is not the charged one. */
  readonly shown_usage?: Usage | null
}

/** Tells a failure inside the stream. */
export type Fail = (error: RawError, status?: number | null) => void

/**
 * A chat stream's translator around a dialect's reader: usage goes last, a failure ends it, what is no event breaks
 * nothing.
 */
export function chatStream(
  context: TranslationContext,
  request: Json,
  open: (write: ChatWriter, fail: Fail) => StreamReader,
): StreamTranslator {
  let failed: (ProviderFault & {readonly status: number | null}) | null = null
  const write = chatWriter(context)
  const reader = open(write, (error, status = null) => {
    failed ??= {...faultOf(context, error, 'the answer broke off'), status}
  })
  return {
    event(event) {
      if (failed || event.data === '' || event.data === null || event.data === undefined) return []
      try {
        reader.event(event)
      } catch (error) {
        if (!(error instanceof InvalidResponseFault)) throw error
        failed = {...faultOf(context, {}, `its stream is not what it documents: ${error.message}`), status: null}
      }
      return write.take()
    },
    end() {
      if (failed || !reader.finished) return []
      reader.end?.()
      const usage = reader.shown_usage ?? reader.usage
      return [
        ...write.take(),
        ...(usage && asksUsage(request) ? [usageChunk(context, {id: write.id, model: write.model}, usage)] : []),
      ]
    },
    get finished() {
      return !failed && reader.finished
    },
    get usage() {
      return reader.usage
    },
    get model() {
      return write.model
    },
    get failed() {
      return failed
    },
    get text_bytes() {
      return write.text_bytes
    },
  }
}
