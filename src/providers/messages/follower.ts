import {isObject, object} from '../../base/json-object.ts'
import type {Usage} from '../../schema/usage.ts'
import {rawUsageIn} from '../openai/reply.ts'
import {mergeRawUsage, type RawObject, readUsage} from '../openai/usage.ts'
import {InvalidResponseFault, type Json, type ProviderFault, type TranslationContext} from '../translation.ts'
import {clientCallId} from './call-ids.ts'
import {type CallFragment, type Fragment, fragmentsIn, string} from './fragments.ts'
import {JsonEnd} from './json-end.ts'

/** A block as it begins. */
export type Opening =
  | {readonly kind: 'text' | 'refusal' | 'thinking'}
  | {readonly kind: 'redacted_thinking' | 'picture'; readonly data: string}
  | {readonly kind: 'call'; readonly id: string; readonly name: string; readonly extra: Json}

/**
 * The next step of an answer: a block begins, continues, ends. Blocks follow one another; none begins before the one
 * before it ended.
 */
export type BlockStep =
  | {readonly does: 'open'; readonly block: Opening}
  | {readonly does: 'more'; readonly text: string}
  | {readonly does: 'close'; readonly signature: string}

interface Entry {
  readonly kind: Opening['kind']
  readonly key: string
  readonly data: string
  id: string
  name: string
  extra: Json
  /** Text that came before the block could begin. */
  unsaid: string[]
  signature: string[]
  readonly end: JsonEnd
  state: 'waiting' | 'open' | 'closed'
}

/**
 * Follows an answer in OpenAI chat's words, whole or in chunks, and puts it into blocks one after the other, as
 * Messages and Responses clients read them. Fragments of parallel calls may come interleaved: what belongs to another
 * block waits until the open call's arguments are whole, or until the end.
 */
export class ChatFollower {
  readonly #context: TranslationContext
  #usage_so_far: RawObject | null = null
  #has_thinking_blocks = false
  #open: Entry | null = null
  #waiting: Entry[] = []
  /** The latest call at each place. */
  readonly #calls = new Map<number, Entry>()
  readonly #ids = new Set<string>()
  #calls_seen = 0
  id: string
  model: string
  finish_reason = ''
  has_refusal = false
  failed: ProviderFault | null = null

  constructor(context: TranslationContext) {
    this.#context = context
    this.id = context.call_id
    this.model = context.model
  }

  /** Turns a chunk into steps. Choices after the first are not followed: these clients have no members for them. */
  take(chunk: Json): readonly BlockStep[] {
    this.#usage_so_far = mergeRawUsage(this.#usage_so_far, rawUsageIn(chunk))
    if (string(chunk.id)) this.id = string(chunk.id).replace(/^chatcmpl-/, '') || this.id
    if (string(chunk.model)) this.model = string(chunk.model)
    if (isObject(chunk.error) || string(chunk.error)) this.failed ??= faultIn(chunk.error, this.#context)
    const choice = (Array.isArray(chunk.choices) ? chunk.choices : []).find(each => (object(each).index ?? 0) === 0)
    const {delta, finish_reason} = object(choice)
    const steps: BlockStep[] = []
    for (const fragment of fragmentsIn(object(delta), this.#has_thinking_blocks)) this.#hear(fragment, steps)
    this.finish_reason = string(finish_reason) || this.finish_reason
    return steps
  }

  /** The steps that are still due. Throws `InvalidResponseFault` for a call without a name. */
  end(): readonly BlockStep[] {
    const steps: BlockStep[] = []
    if (this.#open) this.#close(this.#open, steps)
    for (const entry of this.#waiting) {
      if (entry.kind === 'call' && !entry.name)
        throw new InvalidResponseFault(`${this.#context.provider} called a tool without naming it`)
      this.#begin(entry, steps)
      this.#close(entry, steps)
    }
    this.#waiting = []
    return steps
  }

  get has_calls(): boolean {
    return this.#calls_seen > 0
  }

  get usage(): Usage | null {
    return this.#usage_so_far && readUsage(this.#usage_so_far, 'chatComplete')
  }

  #hear(fragment: Fragment, steps: BlockStep[]) {
    if (fragment.kind === 'refusal') this.has_refusal = true
    if (fragment.kind === 'redacted_thinking' || (fragment.kind === 'thinking' && fragment.key !== 'thinking'))
      this.#has_thinking_blocks = true
    const entry = fragment.kind === 'call' ? this.#callOf(fragment) : this.#blockOf(fragment)
    if (fragment.kind === 'thinking') entry.signature.push(fragment.signature)
    const text = fragment.kind === 'call' ? fragment.arguments : 'data' in fragment ? '' : fragment.text
    if (entry.state === 'closed') return // a call's arguments were whole: nothing can be added to them
    if (entry.kind === 'call') entry.end.push(text)
    if (text && entry.state === 'open') steps.push({does: 'more', text})
    else if (text) entry.unsaid.push(text)
    this.#advance(steps)
  }

  #callOf(fragment: CallFragment): Entry {
    const known = this.#calls.get(fragment.place)
    // Some servers give every call the place 0, and tell them apart by id.
    const is_other =
      fragment.name !== '' &&
      known !== undefined &&
      (fragment.id === '' ? isAgain(known, fragment) : known.id !== '' && known.id !== fragment.id)
    if (known && !is_other) {
      if (known.state === 'waiting') {
        known.id ||= fragment.id
        known.name ||= fragment.name
        known.extra = {...known.extra, ...fragment.extra}
      }
      return known
    }
    this.#calls_seen++
    const entry = this.#added({kind: 'call', key: `call ${this.#calls_seen}`, data: ''})
    entry.id = fragment.id
    entry.name = fragment.name
    entry.extra = fragment.extra
    this.#calls.set(fragment.place, entry)
    return entry
  }

  #blockOf(fragment: Exclude<Fragment, CallFragment>): Entry {
    const latest = this.#waiting.at(-1) ?? this.#open
    if (latest?.key === fragment.key && fragment.kind !== 'picture') return latest
    return this.#added({
      kind: fragment.kind,
      key: fragment.key,
      data: 'data' in fragment ? fragment.data : '',
    })
  }

  #added(fields: Pick<Entry, 'kind' | 'key' | 'data'>): Entry {
    const entry: Entry = {
      ...fields,
      id: '',
      name: '',
      extra: {},
      unsaid: [],
      signature: [],
      end: new JsonEnd(),
      state: 'waiting',
    }
    this.#waiting.push(entry)
    return entry
  }

  #advance(steps: BlockStep[]) {
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      if (next.kind === 'call' && !next.name) return
      if (this.#open?.kind === 'call' && !this.#open.end.is_whole) return
      if (this.#open) this.#close(this.#open, steps)
      this.#waiting.shift()
      this.#begin(next, steps)
      this.#open = next
    }
  }

  #begin(entry: Entry, steps: BlockStep[]) {
    entry.state = 'open'
    steps.push({does: 'open', block: this.#opening(entry)})
    if (entry.unsaid.length > 0) steps.push({does: 'more', text: entry.unsaid.join('')})
    entry.unsaid = []
  }

  #close(entry: Entry, steps: BlockStep[]) {
    entry.state = 'closed'
    steps.push({does: 'close', signature: entry.signature.join('')})
    this.#open = null
  }

  #opening(entry: Entry): Opening {
    if (entry.kind === 'redacted_thinking' || entry.kind === 'picture') return {kind: entry.kind, data: entry.data}
    if (entry.kind !== 'call') return {kind: entry.kind}
    // Results are matched to calls by id, so that each call has one, and one of its own.
    let id = entry.id && clientCallId(entry.id)
    for (let at = this.#ids.size; !id || this.#ids.has(id); at++) id = `call_${this.#context.call_id}_${at}`
    this.#ids.add(id)
    return {kind: 'call', id, name: entry.name, extra: entry.extra}
  }
}

/** Servers without ids name the function again with each call: after whole arguments it is another one. */
function isAgain({end}: Entry, {arguments: input}: CallFragment): boolean {
  return input.trim() !== '' && end.is_whole
}

/** The follower of a whole chat completion, and its steps. Throws `InvalidResponseFault` for what has no message. */
export function followWhole(
  completion: Json,
  context: TranslationContext,
): {readonly follower: ChatFollower; readonly steps: readonly BlockStep[]} {
  const choice = object(Array.isArray(completion.choices) ? completion.choices[0] : undefined)
  if (!isObject(choice.message))
    throw new InvalidResponseFault(`${context.provider} answered without choices[0].message`)
  const follower = new ChatFollower(context)
  const chunk = {
    ...completion,
    error: undefined,
    choices: [{delta: choice.message, finish_reason: choice.finish_reason}],
  }
  const steps = [...follower.take(chunk), ...follower.end()]
  return {follower, steps}
}

function faultIn(error: unknown, {provider}: TranslationContext): ProviderFault {
  const {message, type, param, code} = object(error)
  const text = string(error) || string(message) || 'no message'
  return {
    message: text.startsWith(`${provider} error: `) ? text : `${provider} error: ${text}`,
    type: string(type) || null,
    param: string(param) || null,
    code: typeof code === 'number' ? String(code) : string(code) || null,
  }
}
