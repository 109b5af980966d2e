import {type JsonObject, type JsonPath, type JsonValue, own} from '../../guardrails/json.ts'
import type {Delta} from '../../guardrails/nested-pieces.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import {type EventString, kindsOf, type TokenStrings} from './stream-strings.ts'

/**
 * A string that comes again may be the next piece of a text, `42` and `42`, or a constant of the provider's: it is a
 * piece so often.
 */
const MAX_RUN = 16
const MAX_RUN_CHARS = 128
/** A longer one is a constant; one of digits and signs alone when it is so long. */
const SHORT_CHARS = 8
const SHORT_DIGITS_CHARS = 16
/** Places beyond these share one text. */
const MAX_PLACES = 4096
/** Members that tell which of several texts an object is about. */
const ITEM = /^[a-z]+_\w{1,90}$/
const INDEX = /^(?:index|[a-z]+_index|item_id)$/

/** A place where events have a string, and what they had there. */
interface Place {
  readonly slot: string
  last: string
  /** How often the last one came in a row. */
  run: number
  count: number
}

/** The strings of an event beside the texts at their places. */
export interface OtherPieces {
  /** Pieces of the texts at their places. */
  readonly pieces: readonly Delta[]
  /**
   * The same strings by themselves, where their text has more than them: a place may hold a string of its own each
   * time.
   */
  readonly alone: readonly string[]
  /** Tokens in their order. */
  readonly tokens: readonly Delta[]
}

/**
 * The texts that come where a dialect streams none: each string is a piece of the string at the same place of the
 * events before it. A member of a list is known by its `index`, else by its place. A string that comes again and again
 * is a constant, and one that repeats the last and continues it is the text so far: neither is joined to it. What is
 * left alone everywhere (`left-alone.ts`: ids, types, roles, models) is not read here either.
 */
export class OtherTexts {
  readonly #endpoint: EndpointName
  readonly #places = new Map<string, Place>()

  constructor(endpoint: EndpointName) {
    this.#endpoint = endpoint
  }

  read(event: JsonObject, others: readonly EventString[], {sequences}: TokenStrings): OtherPieces {
    const pieces: Delta[] = []
    const alone: string[] = []
    let kinds: ((other: EventString) => string) | undefined
    for (const each of others) {
      if (each.path === null) continue
      kinds ??= kindsOf(this.#endpoint, event)
      const place = this.#placeOf(event, each.path, () => kinds!(each))
      if (place.count === 1) alone.push(place.last)
      if (place.count > 0) alone.push(each.text)
      pieces.push(piece(place, each.path, each.text))
    }
    const tokens = sequences.map(({path, text}) => {
      const {slot} = this.#placeOf(event, [...path, 'sequence'], () => 'other', 'tokens')
      return {slot, path: null, text}
    })
    return {pieces, alone, tokens}
  }

  #placeOf(event: JsonObject, path: JsonPath, kind: () => string, name = 'at'): Place {
    const key = keyOf(event, path)
    const known = this.#places.get(key)
    if (known) return known
    const is_one_too_many = this.#places.size >= MAX_PLACES
    const shared = is_one_too_many ? this.#places.get(REST) : undefined
    if (shared) return shared
    const slot = is_one_too_many ? 'other .rest' : `${kind()} ${groupOf(event, path)}.${name}.${this.#places.size}`
    const place = {slot, last: '', run: 0, count: 0}
    this.#places.set(is_one_too_many ? REST : key, place)
    return place
  }
}

const REST = 'rest'

function piece(place: Place, path: JsonPath, text: string): Delta {
  const {slot, last} = place
  place.count++
  place.last = text
  if (text === last) {
    place.run++
    if (isShort(text) && place.run < MAX_RUN && place.run * text.length < MAX_RUN_CHARS)
      return {slot, path, text, is_other: true}
    return {slot, path, text, is_other: true, is_again: true}
  }
  place.run = 1
  if (last && text.startsWith(last) && !isShort(last))
    return {slot, path: null, text: text.slice(last.length), is_other: true}
  return {slot, path, text, is_other: true}
}

function isShort(text: string): boolean {
  const {length} = text
  return length < SHORT_CHARS || (length < SHORT_DIGITS_CHARS && !/\p{L}/u.test(text))
}

/** The choice that a string is part of; the blocks or items of other dialects follow one another. */
function groupOf(event: JsonObject, path: JsonPath): string {
  if (path[0] !== 'choices' || typeof path[1] !== 'number') return ''
  const index = own(own(own(event, 'choices'), path[1]), 'index')
  return String(index ?? path[1]).replaceAll(/[ .]/g, '_')
}

/** The same for the same place of every event of a kind. */
function keyOf(event: JsonObject, path: JsonPath): string {
  const parts: JsonValue[] = [String(event.type ?? '').slice(0, 100)]
  let holder: JsonValue | undefined = event
  for (const key of path) {
    const index = indexesOf(holder)
    if (index) parts.push(index)
    holder = own(holder, key)
    parts.push(typeof key === 'number' && isIndex(own(holder, 'index')) ? -1 : key)
  }
  return JSON.stringify(parts)
}

function indexesOf(value: JsonValue | undefined): JsonObject | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const found = Object.keys(value).filter(key => INDEX.test(key) && isIndex(own(value, key)))
  return found.length ? Object.fromEntries(found.map(key => [key, own(value, key)!])) : undefined
}

function isIndex(value: JsonValue | undefined): boolean {
  return typeof value === 'number' || (typeof value === 'string' && ITEM.test(value))
}
