import {parseJson} from '../../base/json-object.ts'
import {type Assembler, createAssembler} from '../../cache/assemble.ts'
import {isStreamed} from '../../cache/rules.ts'
import {type JsonObject, type JsonValue, listOf, own} from '../../guardrails/json.ts'
import {mapJsonStrings} from '../../guardrails/json-strings.ts'
import type {Delta} from '../../guardrails/nested-pieces.ts'
import {viewOf} from '../../guardrails/view.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import {answerOf, deltasOf, isJsonSlot, isTokenSlot} from './deltas.ts'
import {OtherTexts} from './other-texts.ts'
import {hasOthers, partedOf} from './stream-strings.ts'

/** A longer text is judged by its end alone while it comes, and whole when it has come. */
const MAX_JUDGED_CHARS = 64 * 1024

/**
 * Strings are judged by themselves together, so many code units at a time, with separators: no match continues beyond
 * one.
 */
const ALONE_AT_ONCE_CHARS = 16 * 1024
const BETWEEN_ALONE = '\n;\n'
/**
 * A text is judged as it grows; what says it again beside it grows many times as fast, and hurries it by this part of
 * what it says.
 */
const AGAIN_SHARE = 16
/** Strings that are known to have been judged by themselves. */
const MAX_KNOWN = 10_000
/** A string that is so long and part of a text that came is that text again: it waits for nothing of its own. */
const REPEAT_CHARS = 32

/** A piece, and how long its text is with it. */
export interface TextPiece extends Delta {
  readonly end_chars: number
}

/** The text of a stream so far. */
export class StreamText {
  /** The texts of the answer by their places, in the order in which they began. */
  readonly texts = new Map<string, string>()
  /** Of all texts together. */
  chars = 0
  readonly #endpoint: EndpointName
  readonly #assembler: Assembler | null
  readonly #others: OtherTexts
  /** Texts that may be sent, by the length of their choice when they were sent last. */
  readonly #open = new Map<string, number>()
  /** How much came of each choice. */
  readonly #progress = new Map<string, number>()
  /** Texts of strings that are judged by themselves. */
  #alone = 0
  /** Such strings that came before. */
  readonly #known = new Set<string>()
  /** By arguments that were no whole JSON yet: how long they were. */
  readonly #cut = new Map<string, number>()
  #whole: JsonValue | undefined
  /** The whole is the answer itself: not its texts alone, which is all that is left of one without its end. */
  is_assembled = false

  constructor(endpoint: EndpointName) {
    this.#endpoint = endpoint
    this.#others = new OtherTexts(endpoint)
    this.#assembler = isStreamed(endpoint) ? createAssembler(endpoint) : null
  }

  /** The next bytes. */
  push(bytes: Buffer): void {
    this.#assembler?.push(bytes)
  }

  /** The next event; gives the pieces of text in it. */
  add(event: JsonObject): readonly TextPiece[] {
    const deltas = deltasOf(this.#endpoint, event)
    const {others, tokens} = partedOf(this.#endpoint, event, deltas)
    const pieces = deltas.map(delta => this.#put(delta))
    if (others.length === 0 && tokens.all.length === 0) {
      this.#close(event, pieces)
      return pieces
    }
    const read = this.#others.read(event, others, tokens)
    const besides = [...read.pieces, ...read.tokens].map(delta => this.#putOther(delta, pieces))
    this.#close(event, [...pieces, ...besides])
    const strays = this.#unsaid(others.flatMap(({text, path}) => (path === null ? [text] : [])))
    const alone = [
      ...this.#fresh([...strays, ...read.alone], pieces, 'alone'),
      ...this.#fresh(tokens.all, pieces, 'tokens'),
    ]
    return [...pieces, ...besides, ...alone]
  }

  /** A piece of a text that the dialect does not stream. One that says a text again that came leaves with it. */
  #putOther(delta: Delta, pieces: readonly TextPiece[]): TextPiece {
    const {slot, text} = delta
    const before = this.texts.get(slot)
    const is_said = isTokenSlot(slot)
      ? pieces.some(each => each.text.includes(text))
      : text.length >= REPEAT_CHARS && this.#unsaid([text]).length === 0
    const put = this.#put(delta, delta.path === null || is_said)
    return is_said && (before === undefined || before === '') ? {...put, end_chars: 0} : put
  }

  /** Strings by themselves that came for the first time, but for those that a piece beside them says: in few texts. */
  #fresh(strings: readonly string[], pieces: readonly TextPiece[], name: 'alone' | 'tokens'): readonly TextPiece[] {
    const put: TextPiece[] = []
    for (const text of strings) {
      if (this.#known.has(text)) continue
      if (this.#known.size >= MAX_KNOWN) this.#known.clear()
      this.#known.add(text)
      if (pieces.some(each => each.text.includes(text))) continue
      const length = this.texts.get(`other ${name}.${this.#alone}`)?.length ?? 0
      if (length + text.length > ALONE_AT_ONCE_CHARS) this.#alone++
      const slot = `other ${name}.${this.#alone}`
      put.push(this.#put({slot, path: null, text: this.texts.has(slot) ? BETWEEN_ALONE + text : text}, true))
    }
    return put
  }

  /** True for an event that tells a text. */
  says(event: JsonObject): boolean {
    const deltas = deltasOf(this.#endpoint, event)
    return deltas.length > 0 || hasOthers(this.#endpoint, event, deltas)
  }

  /** The length of each text that is further back than the last `look_back_chars` before its next part. */
  behind(look_back_chars: number): ReadonlyMap<string, number> {
    const behind = new Map<string, number>()
    for (const [slot, {length}] of this.texts)
      behind.set(slot, this.#isOpen(slot, look_back_chars) ? length - look_back_chars : length)
    return behind
  }

  /** The whole answer where it can be put together, else its texts. The stream is over. */
  whole(): JsonValue {
    if (this.#whole !== undefined) return this.#whole
    const bytes = this.#assembler?.end()
    const whole = bytes ? (JSON.parse(bytes.toString()) as JsonValue) : undefined
    this.is_assembled = whole !== undefined && this.#isAllIn(whole)
    this.#whole = this.is_assembled ? whole! : answerOf(this.#endpoint, this.#judged)
    return this.#whole
  }

  /**
   * The texts, those that continue up to their last end of a word, should there be one among the last
   * `look_back_chars`: an incomplete word is not known yet.
   */
  soFar(look_back_chars: number): JsonValue {
    const parts = [...this.#judged].map(([slot, text]) => {
      const from = Math.max(0, text.length - look_back_chars)
      const space = this.#isOpen(slot, look_back_chars) ? text.slice(from).search(/\s\S*$/) : -1
      return [slot, text.slice(-MAX_JUDGED_CHARS, space < 0 ? undefined : from + space)] as const
    })
    return answerOf(this.#endpoint, new Map(parts))
  }

  /** The texts but for those that say another once more. */
  get #judged(): ReadonlyMap<string, string> {
    const judged = new Map<string, string>()
    const seen = new Set<string>()
    const mine: string[] = []
    for (const [slot, text] of this.texts) if (!OTHER.test(slot)) mine.push(text)
    for (const text of mine) seen.add(text)
    for (const [slot, text] of this.texts) {
      if (OTHER.test(slot)) {
        if (seen.has(text) || ((isTokenSlot(slot) || isProse(slot)) && mine.some(each => each.includes(text)))) continue
        seen.add(text)
      }
      judged.set(slot, text)
    }
    return judged
  }

  #put(delta: Delta, is_again = false): TextPiece {
    const {slot, text} = delta
    if (delta.is_again) return {...delta, end_chars: this.texts.get(slot)!.length}
    const all = (this.texts.get(slot) ?? '') + text
    this.texts.set(slot, all)
    this.chars += is_again ? Math.ceil(text.length / AGAIN_SHARE) : text.length
    const group = this.#groupOf(slot)
    for (const each of group === '' ? [''] : [group, ''])
      this.#progress.set(each, (this.#progress.get(each) ?? 0) + text.length)
    return {...delta, end_chars: all.length}
  }

  /**
   * Those that are no part of a text that came before, as far as looking for them may go: one that is not found is
   * judged once more.
   */
  #unsaid(strings: readonly string[]): readonly string[] {
    if (strings.length === 0) return strings
    const isSaid = isWithin([...this.texts.values()])
    return strings.filter(text => !isSaid(text))
  }

  /** True when every piece is part of the whole text. */
  #isAllIn(whole: JsonValue): boolean {
    const strings = viewOf(this.#endpoint, 'output', whole).strings.map(({text}) => text)
    const isPart = isWithin(strings)
    const isThere = (text: string) => text === '' || isPart(text)
    for (const [slot, text] of this.texts) {
      let is_there = true
      if (isJsonSlot(slot))
        mapJsonStrings(text, each => {
          is_there &&= isThere(each) || isNumber(each)
          return each
        })
      else is_there = ALONE.test(slot) ? text.split(BETWEEN_ALONE).every(isThere) : isThere(text)
      if (!is_there) return false
    }
    return true
  }

  /**
   * A text is over when its choice, or its block, is; one that others of its choice went on without for long is taken
   * for over.
   */
  #close(event: JsonObject, pieces: readonly TextPiece[]) {
    if (ENDS.has(event.type as string)) this.#open.clear()
    for (const {slot, is_again} of pieces)
      if (!is_again) this.#open.set(slot, this.#progress.get(this.#groupOf(slot)) ?? 0)
    for (const choice of listOf(own(event, 'choices')))
      if (own(choice, 'finish_reason')) this.#closeAll(String(own(choice, 'index') ?? 0))
  }

  #closeAll(group: string) {
    for (const slot of this.#open.keys())
      if (this.#groupOf(slot) === group && !this.#goesOn(slot)) this.#open.delete(slot)
  }

  /** The growth of the choice since the last piece of a text tells whether it continues: texts come by turns. */
  #isOpen(slot: string, look_back_chars: number): boolean {
    const at = this.#open.get(slot)
    if (at === undefined) return false
    return (this.#progress.get(this.#groupOf(slot)) ?? 0) - at < look_back_chars || this.#goesOn(slot)
  }

  /** Calls of tools may come side by side: the arguments of one are over when they are whole. */
  #goesOn(slot: string): boolean {
    if (!isJsonSlot(slot)) return false
    const text = this.texts.get(slot)!
    if (this.#cut.get(slot) === text.length) return true
    if (isJson(text)) return false
    this.#cut.set(slot, text.length)
    return true
  }

  /** The choice of a text; the blocks or items of an answer follow one another. */
  #groupOf(slot: string): string {
    if (this.#endpoint === 'messages' || this.#endpoint === 'createModelResponse' || this.#endpoint === 'realtime')
      return ''
    return slot.slice(slot.indexOf(' ') + 1).split('.', 1)[0]!
  }
}

/** Code units that are searched for texts, all together. */
const MAX_SEARCHED_CHARS = 32 << 20

/**
 * True when a text is part of one of `all`: of texts that many others were looked for in, only whole ones are found.
 */
function isWithin(all: readonly string[]): (text: string) => boolean {
  let whole: Set<string> | undefined
  let left = MAX_SEARCHED_CHARS
  return text => {
    if (text === '') return all.length > 0
    whole ??= new Set(all)
    if (whole.has(text)) return true
    for (const each of all) {
      left -= each.length + SEARCH_CHARS
      if (left <= 0) return false
      if (each.includes(text)) return true
    }
    return false
  }
}

/** The least cost of a search, in code units. */
const SEARCH_CHARS = 32

/** True for a whole object or list. */
function isJson(text: string): boolean {
  if (!/[}\]]\s{0,16}$/.test(text.slice(-17))) return false
  try {
    parseJson(text)
    return true
  } catch {
    return false
  }
}

function isNumber(text: string): boolean {
  return text.trim() !== '' && !Number.isNaN(Number(text))
}

/** Texts in places where the dialect streams none. */
const OTHER = /^\S+ [^ .]*\.(?:at|tokens|rest)\b/
/** Strings that are judged by themselves. */
const ALONE = /^other (?:alone|tokens)\./

function isProse(slot: string): boolean {
  return !/^(?:other|arguments|echo) /.test(slot)
}

const ENDS: ReadonlySet<string> = new Set(['content_block_stop', 'response.output_item.done'])
