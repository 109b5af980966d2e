import {type Assembler, createAssembler} from '../../cache/assemble.ts'
import {isStreamed} from '../../cache/rules.ts'
import {type Json, type JsonObject, listOf, own} from '../../guardrails/json.ts'
import {slotsOf} from '../../guardrails/texts.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import {answerOf, type Delta, deltasOf, othersOf, strayKind} from './deltas.ts'

/** A longer text is judged by its end alone while it comes, and whole when it has come. */
const MOST_JUDGED_CHARS = 64 * 1024

/** A piece, and how long its text is with it. */
export interface Piece extends Delta {
  readonly end_chars: number
}

/** What a stream has said so far. */
export class Said {
  /** The texts of the answer by their places, in the order in which they began. */
  readonly texts = new Map<string, string>()
  /** Of all texts together. */
  chars = 0
  readonly #endpoint: EndpointName
  readonly #assembler: Assembler | null
  /** Texts that may go on. */
  readonly #open = new Set<string>()
  /** Texts that came in no piece, and were not said before. */
  readonly #strays: string[] = []
  #whole: Json | undefined

  constructor(endpoint: EndpointName) {
    this.#endpoint = endpoint
    this.#assembler = isStreamed(endpoint) ? createAssembler(endpoint) : null
  }

  /** The next bytes. */
  push(bytes: Buffer): void {
    this.#assembler?.push(bytes)
  }

  /** The next event; gives the pieces of text in it. */
  add(event: JsonObject): readonly Piece[] {
    const pieces = deltasOf(this.#endpoint, event).map(delta => this.#put(delta))
    const strays = othersOf(this.#endpoint, event)
      .filter(({text}) => !this.#has(text))
      .map(({slot, ...delta}) => {
        this.#strays.push(delta.text)
        return this.#put({...delta, slot: `${strayKind(this.#endpoint, slot === 'judged')} stray.${this.#strays.length}`})
      })
    this.#close(event, pieces)
    return strays.length ? [...pieces, ...strays] : pieces
  }

  /** How much of each text is further back than the last `look_back_chars` that it may go on from. */
  behind(look_back_chars: number): ReadonlyMap<string, number> {
    const behind = new Map<string, number>()
    for (const [slot, {length}] of this.texts) behind.set(slot, this.#open.has(slot) ? length - look_back_chars : length)
    return behind
  }

  /** The whole answer where it can be put together, else its texts. The stream is over. */
  whole(): Json {
    if (this.#whole !== undefined) return this.#whole
    const bytes = this.#assembler?.end()
    const whole = bytes ? (JSON.parse(bytes.toString()) as Json) : undefined
    this.#whole = whole !== undefined && this.#isAllIn(whole) ? whole : answerOf(this.#endpoint, this.texts)
    return this.#whole
  }

  /** The texts, those that go on up to their last end of a word, should there be one among the last `look_back_chars`: what a word will be is not known before. */
  soFar(look_back_chars: number): Json {
    const parts = [...this.texts].map(([slot, text]) => {
      const from = Math.max(0, text.length - look_back_chars)
      const space = this.#open.has(slot) ? text.slice(from).search(/\s\S*$/) : -1
      return [slot, text.slice(-MOST_JUDGED_CHARS, space < 0 ? undefined : from + space)] as const
    })
    return answerOf(this.#endpoint, new Map(parts))
  }

  #put(delta: Delta): Piece {
    const {slot, text} = delta
    const all = (this.texts.get(slot) ?? '') + text
    this.texts.set(slot, all)
    this.chars += text.length
    return {...delta, end_chars: all.length}
  }

  #has(text: string): boolean {
    for (const each of this.texts.values()) if (each.includes(text)) return true
    return false
  }

  #isAllIn(whole: Json): boolean {
    if (this.#strays.length === 0) return true
    const texts = slotsOf(this.#endpoint, 'output', whole).map(({text}) => text)
    return this.#strays.every(stray => texts.some(text => text.includes(stray)))
  }

  /** A text is over when its choice, or its answer, goes on with another. */
  #close(event: JsonObject, pieces: readonly Piece[]) {
    if (ENDS.has(event.type as string)) this.#open.clear()
    const groups = new Set(pieces.map(({slot}) => this.#groupOf(slot)))
    for (const group of groups) this.#closeAll(group)
    for (const {slot} of pieces) this.#open.add(slot)
    for (const choice of listOf(own(event, 'choices'))) if (own(choice, 'finish_reason')) this.#closeAll(String(own(choice, 'index') ?? 0))
  }

  #closeAll(group: string) {
    for (const slot of this.#open) if (this.#groupOf(slot) === group) this.#open.delete(slot)
  }

  /** The choice of a text; an answer of blocks or items is told one after the other. */
  #groupOf(slot: string): string {
    if (this.#endpoint === 'messages' || this.#endpoint === 'createModelResponse') return ''
    return slot.slice(slot.indexOf(' ') + 1).split('.', 1)[0]!
  }
}

const ENDS: ReadonlySet<string> = new Set(['content_block_stop', 'response.output_item.done'])
