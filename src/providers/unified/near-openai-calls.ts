import {isObject, object} from '../../base/json-object.ts'
import {changed, changedEach} from '../as-came.ts'
import {JsonEnd} from '../messages/json-end.ts'
import {InvalidResponseFault, type Json} from '../translation.ts'
import {indexIn} from './near-openai.ts'
import {word} from './read.ts'
import {mayBeNull} from './stream.ts'

interface Call {
  /** Its index in the answer. */
  readonly position: number
  readonly id: string | null
  /** The beginning of arguments that may be no more than `null`, which some say for none. */
  held: string
  has_arguments: boolean
  readonly end: JsonEnd
}

/** The result of the entries of one delta. */
interface CallsHeard {
  readonly tool_calls: unknown
  readonly text_bytes: number
}

/**
 * The calls of one choice of a stream, whose fragments pass unchanged but for what clients put together wrong: calls
 * are numbered from 0 in their order, an id and a name come once, arguments are text, and those that never came are an
 * empty object.
 */
export class NearCalls {
  readonly #id: string
  /** By the number that the provider gives them. */
  readonly #known = new Map<number, Call>()
  #all: Call[] = []

  /** `id` begins the ids of calls that come without one. */
  constructor(id: string) {
    this.#id = id
  }

  /** The calls of a delta. Throws `InvalidResponseFault`. */
  of(tool_calls: unknown): CallsHeard {
    if (!Array.isArray(tool_calls)) return {tool_calls: tool_calls === null ? null : undefined, text_bytes: 0}
    let text_bytes = 0
    const entries = changedEach(tool_calls, (entry, at) => {
      const call = object(entry)
      const {name, arguments: given} = object(call.function)
      const number = indexIn(call.index) ?? at
      const text = typeof given === 'string' ? given : isObject(given) ? JSON.stringify(given) : ''
      const given_id = call.id === 'null' ? null : word(call.id)
      const before = this.#known.get(number)
      // A second id under one number is a second call: some engines number every call 0.
      // One without ids names the function again with each call, behind whole arguments.
      const is_again = given_id === null && word(name) !== null && text.trim() !== '' && before?.end.is_whole === true
      const is_more = before !== undefined && !is_again && (given_id === null || given_id === before.id || !word(name))
      if (!is_more && !word(name)) throw new InvalidResponseFault('a tool call has no name')
      const open = is_more ? before : this.#begin(number, given_id)
      open.end.push(text)
      const ready = readyOf(open, text)
      text_bytes += Buffer.byteLength(text) + (is_more ? 0 : Buffer.byteLength(word(name)!))
      const parts = given === undefined && ready === '' && is_more ? {} : {arguments: ready}
      if (!is_more) {
        const id = given_id ?? `${this.#id}_${open.position}`
        return changed(call, {
          index: open.position,
          id,
          type: word(call.type) ?? 'function',
          function: changed(object(call.function), parts),
        })
      }
      const id = call.id ? {id: undefined} : {}
      const spoken = changed(object(call.function), {...parts, ...(word(name) ? {name: undefined} : {})})
      return changed(call, {index: open.position, ...id, function: spoken})
    })
    return {tool_calls: entries, text_bytes}
  }

  /** The last delta of the choice: with arguments for the calls that have none. */
  completed(delta: Json): Json {
    const bare = this.#all.filter(({has_arguments}) => !has_arguments)
    if (bare.length === 0) return delta
    const calls: Json[] = Array.isArray(delta.tool_calls) ? delta.tool_calls.map(object) : []
    for (const call of bare) {
      call.has_arguments = true
      const at = calls.findIndex(({index}) => index === call.position)
      if (at < 0) calls.push({index: call.position, function: {arguments: '{}'}})
      else calls[at] = changed(calls[at]!, {function: changed(object(calls[at]!.function), {arguments: '{}'})})
    }
    return changed(delta, {tool_calls: calls})
  }

  #begin(number: number, id: string | null): Call {
    const call: Call = {position: this.#all.length, id, held: '', has_arguments: false, end: new JsonEnd()}
    this.#all.push(call)
    this.#known.set(number, call)
    return call
  }
}

/** The part of the arguments that may be sent with `text`. */
function readyOf(call: Call, text: string): string {
  if (text === '') return ''
  const so_far = call.held + text
  call.held = !call.has_arguments && mayBeNull(so_far) ? so_far : ''
  if (call.held) return ''
  call.has_arguments = true
  return so_far
}
