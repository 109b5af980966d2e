import {parseJson} from '../../base/json-object.ts'
import {type Assembler, createAssembler} from '../../cache/assemble.ts'
import {isStreamed} from '../../cache/rules.ts'
import {type JsonObject, type JsonValue, listOf, own} from '../../guardrails/json.ts'
import {mapJsonStrings} from '../../guardrails/json-strings.ts'
import {type BodyString, viewOf} from '../../guardrails/view.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import {answerOf, deltasOf, isJsonSlot, isTokenSlot} from './deltas.ts'
import type {Delta} from './nested-pieces.ts'
import {kindsOf, othersOf, partedOf} from './stream-strings.ts'

/** A longer text is judged by its end alone while it comes, and whole when it has come. */
const MAX_JUDGED_CHARS = 64 * 1024

/** Tokens are judged together, so many code units at a time, with what parts them: nothing of theirs goes on behind it. */
const TOKENS_AT_ONCE_CHARS = 16 * 1024
const BETWEEN_TOKENS = '\n;\n'
/** A text is judged as it grows; tokens beside it grow many times as fast, and hurry it by this part of what they say. */
const TOKENS_SHARE = 16

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
  /** Texts that may go on. */
  readonly #open = new Set<string>()
  /** Texts that came whole, not in pieces, and for the first time. */
  #strays = 0
  /** Tokens that came or were judged before. */
  readonly #tokens = new Set<string>()
  /** By arguments that were no whole JSON yet: how long they were. */
  readonly #cut = new Map<string, number>()
  #whole: JsonValue | undefined
  /** The whole is the answer itself: not its texts alone, which is all that is left of one without its end. */
  is_assembled = false

  constructor(endpoint: EndpointName) {
    this.#endpoint = endpoint
    this.#assembler = isStreamed(endpoint) ? createAssembler(endpoint) : null
  }

  /** The next bytes. */
  push(bytes: Buffer): void {
    this.#assembler?.push(bytes)
  }

  /** The next event; gives the pieces of text in it. */
  add(event: JsonObject): readonly TextPiece[] {
    const deltas = deltasOf(this.#endpoint, event)
    const pieces = deltas.map(delta => this.#put(delta))
    const {others, tokens} = partedOf(this.#endpoint, event, deltas)
    const strays = this.#unsaid(others)
    this.#close(event, pieces)
    const fresh = this.#fresh(tokens, pieces).map(text => this.#put({slot: `other tokens.${++this.#strays}`, path: null, text}))
    if (strays.length === 0) return fresh.length ? [...pieces, ...fresh] : pieces
    const kind = kindsOf(this.#endpoint, event)
    const put = strays.map(each => this.#put({slot: `${kind(each)} stray.${++this.#strays}`, path: null, text: each.text}))
    return [...pieces, ...put, ...fresh]
  }

  /** The tokens that neither a piece beside them nor an event before them says, in few texts. */
  #fresh(tokens: readonly string[], pieces: readonly TextPiece[]): readonly string[] {
    const texts: string[] = []
    let text = ''
    for (const token of tokens) {
      if (this.#tokens.has(token)) continue
      this.#tokens.add(token)
      if (pieces.some(each => each.text.includes(token))) continue
      if (text && text.length + token.length > TOKENS_AT_ONCE_CHARS) {
        texts.push(text)
        text = ''
      }
      text += (text && BETWEEN_TOKENS) + token
    }
    if (text) texts.push(text)
    return texts
  }

  /** True for an event that tells a text. */
  says(event: JsonObject): boolean {
    const deltas = deltasOf(this.#endpoint, event)
    return deltas.length > 0 || othersOf(this.#endpoint, event, deltas).length > 0
  }

  /** How much of each text is further back than the last `look_back_chars` that it may go on from. */
  behind(look_back_chars: number): ReadonlyMap<string, number> {
    const behind = new Map<string, number>()
    for (const [slot, {length}] of this.texts) behind.set(slot, this.#open.has(slot) ? length - look_back_chars : length)
    return behind
  }

  /** The whole answer where it can be put together, else its texts. The stream is over. */
  whole(): JsonValue {
    if (this.#whole !== undefined) return this.#whole
    const bytes = this.#assembler?.end()
    const whole = bytes ? (JSON.parse(bytes.toString()) as JsonValue) : undefined
    this.is_assembled = whole !== undefined && this.#isAllIn(whole)
    this.#whole = this.is_assembled ? whole! : answerOf(this.#endpoint, this.texts)
    return this.#whole
  }

  /** The texts, those that go on up to their last end of a word, should there be one among the last `look_back_chars`: what a word will be is not known before. */
  soFar(look_back_chars: number): JsonValue {
    const parts = [...this.texts].map(([slot, text]) => {
      const from = Math.max(0, text.length - look_back_chars)
      const space = this.#open.has(slot) ? text.slice(from).search(/\s\S*$/) : -1
      return [slot, text.slice(-MAX_JUDGED_CHARS, space < 0 ? undefined : from + space)] as const
    })
    return answerOf(this.#endpoint, new Map(parts))
  }

  #put(delta: Delta): TextPiece {
    const {slot, text} = delta
    const all = (this.texts.get(slot) ?? '') + text
    this.texts.set(slot, all)
    this.chars += isTokenSlot(slot) ? Math.ceil(text.length / TOKENS_SHARE) : text.length
    return {...delta, end_chars: all.length}
  }

  /** Those that are no part of a text that came before, as far as looking for them may go: one that is not found is judged once more. */
  #unsaid(others: readonly BodyString[]): readonly BodyString[] {
    if (others.length === 0) return others
    const isSaid = isWithin([...this.texts.values()])
    return others.filter(({text}) => !isSaid(text))
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
      else is_there = isTokenSlot(slot) ? text.split(BETWEEN_TOKENS).every(isThere) : isThere(text)
      if (!is_there) return false
    }
    return true
  }

  /** A text is over when its choice, or its answer, goes on with another. */
  #close(event: JsonObject, pieces: readonly TextPiece[]) {
    if (ENDS.has(event.type as string)) this.#open.clear()
    const groups = new Set(pieces.map(({slot}) => this.#groupOf(slot)))
    const going = new Set(pieces.map(({slot}) => slot))
    for (const group of groups) this.#closeAll(group, going)
    for (const slot of going) this.#open.add(slot)
    for (const choice of listOf(own(event, 'choices'))) if (own(choice, 'finish_reason')) this.#closeAll(String(own(choice, 'index') ?? 0))
  }

  #closeAll(group: string, going?: ReadonlySet<string>) {
    for (const slot of this.#open) if (!going?.has(slot) && this.#groupOf(slot) === group && !this.#goesOn(slot)) this.#open.delete(slot)
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
    if (this.#endpoint === 'messages' || this.#endpoint === 'createModelResponse') return ''
    return slot.slice(slot.indexOf(' ') + 1).split('.', 1)[0]!
  }
}

/** Code units that are searched for texts, all together. */
const MAX_SEARCHED_CHARS = 32 << 20

/** Whether a text is part of one of `all`: of texts that many others were looked for in, only whole ones are found. */
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

/** What a search costs at least, in code units. */
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

const ENDS: ReadonlySet<string> = new Set(['content_block_stop', 'response.output_item.done'])
