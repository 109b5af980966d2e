import {isObject} from '../base/json-object.ts'
import type {Assembly} from './assembly.ts'
import {type JsonRecord, without} from './exact-json.ts'
import {InexactFault, mergeDelta, put} from './merge.ts'
import {isFailure, MAX_MEMBERS} from './rules.ts'

interface Choice {
  /** The members of the chunks beside the content: the reason to finish, filters, probabilities. */
  readonly about: JsonRecord
  /** The message, or for text completions its one member. */
  readonly fields: JsonRecord
  readonly blocks: JsonRecord[]
}

/**
 * Chat chunks (`part` is `delta`) or text chunks (`text`) as one answer with `object`. An answer ends with `[DONE]`,
 * and each of its choices with a reason.
 */
export function createChoices(object: string, part: 'delta' | 'text'): Assembly {
  const top: JsonRecord = {}
  const choices = new Map<number, Choice>()
  let is_done = false
  let members = 0

  return {
    take(chunk) {
      if (chunk === 'done') {
        is_done = true
        return
      }
      if (is_done) throw new InexactFault('something follows the end')
      const {choices: deltas} = chunk
      members += mergeTop(top, chunk)
      if (members > MAX_MEMBERS) throw new InexactFault('the chunks have too many members')
      if (deltas === undefined || deltas === null) return
      if (!Array.isArray(deltas)) throw new InexactFault('choices is no list')
      for (const [place, choice] of deltas.entries()) takeChoice(choice, place)
    },
    answer() {
      const all = [...choices].toSorted(([one], [other]) => one - other)
      if (
        !is_done ||
        all.length === 0 ||
        !all.every(([index, {about}], place) => index === place && isEnd(about.finish_reason))
      )
        return null
      return {
        ...top,
        ...('object' in top ? {object} : {}),
        choices: all.map(([index, choice]) => ({index, ...spoken(choice), ...choice.about})),
      }
    },
  }

  function takeChoice(choice: unknown, place: number) {
    if (!isObject(choice)) throw new InexactFault('a choice is no object')
    if (isWide(choice) || isWide(choice.delta)) throw new InexactFault('a choice has too many members')
    const {index = place, logprobs, ...rest} = choice
    if (typeof index !== 'number' || !Number.isSafeInteger(index) || index < 0 || index >= MAX_CHOICES) {
      throw new InexactFault('a choice has no index')
    }
    let known = choices.get(index)
    if (!known) {
      known = {about: {}, fields: {}, blocks: []}
      choices.set(index, known)
    }
    if (part === 'text') {
      if ('text' in rest) mergeDelta(known.fields, {text: rest.text})
    } else if (rest.delta !== undefined && rest.delta !== null) {
      if (!isObject(rest.delta)) throw new InexactFault('a delta is no object')
      takeDelta(known, rest.delta)
    }
    if ('logprobs' in choice) mergeDelta(known.about, {logprobs})
    // Some providers put the whole message so far beside the delta.
    for (const [key, value] of Object.entries(without(rest, part, 'message'))) putLatest(known.about, key, value)
  }

  function spoken({fields, blocks}: Choice): JsonRecord {
    if (part === 'text') return fields
    return {message: blocks.length > 0 ? {...fields, content_blocks: blocks} : fields}
  }
}

function isWide(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length > MAX_MEMBERS
}

/** A provider's error in mid-stream becomes the reason why a choice ended. */
const isEnd = (reason: unknown) => typeof reason === 'string' && reason !== '' && !isFailure(reason)

const MAX_CHOICES = 128

function takeDelta(choice: Choice, delta: JsonRecord) {
  const {content_blocks, ...rest} = delta
  mergeDelta(choice.fields, rest)
  if (!Array.isArray(content_blocks) || content_blocks.length === 0) {
    if (content_blocks !== undefined) mergeDelta(choice.fields, {content_blocks})
    return
  }
  for (const block of content_blocks) {
    if (!isObject(block) || !isObject(block.delta) || typeof block.index !== 'number')
      throw new InexactFault('a content block is not told')
    const {index, delta} = block
    if (!(index in choice.blocks) && index !== choice.blocks.length)
      throw new InexactFault('a content block is missing')
    const had = choice.blocks[index] ?? {}
    choice.blocks[index] = had
    mergeDelta(had, delta)
    had.type ??= typeOf(delta)
    if (had.type === undefined) delete had.type
  }
}

function typeOf(delta: JsonRecord): string | undefined {
  if ('thinking' in delta || 'signature' in delta) return 'thinking'
  if ('text' in delta) return 'text'
  return 'data' in delta ? 'redacted_thinking' : undefined
}

/**
 * For members of every chunk, the first value counts when chunks are stamped; else the last that is not empty. Returns
 * how many members are new: more than `MAX_MEMBERS` are not walked.
 */
function mergeTop(top: JsonRecord, chunk: JsonRecord): number {
  let added = 0
  for (const key in chunk) {
    if (NO_PART.has(key)) continue
    if (!Object.hasOwn(top, key) && ++added > MAX_MEMBERS) return added
    const value = chunk[key]
    const is_said = Object.hasOwn(top, key) && !NOTHING.has(top[key])
    if (STAMPS.has(key) && is_said) continue
    putLatest(top, key, value)
  }
  return added
}

/** Before the first chunk of the answer some providers send one that is blank. */
const NOTHING: ReadonlySet<unknown> = new Set([null, '', 0])
const STAMPS: ReadonlySet<string> = new Set(['id', 'created', 'model', 'object'])
/** Members that are assembled separately, and those that make chunks of one length and are no part of the answer. */
const NO_PART: ReadonlySet<string> = new Set(['choices', 'obfuscation'])

function putLatest(record: JsonRecord, key: string, value: unknown) {
  const says = value !== null && value !== '' && !(isObject(value) && Object.keys(value).length === 0)
  if (says || !Object.hasOwn(record, key) || record[key] === null) put(record, key, value)
}
