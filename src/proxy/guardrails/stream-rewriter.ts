import {keyFault, WIDEST_OF_ANSWERS} from '../../base/json-keys.ts'
import {parseJson} from '../../base/json-object.ts'
import {readFields} from '../../base/sse.ts'
import {at, isObject, type JsonObject} from '../../guardrails/json.ts'
import type {PhaseOutcome} from '../../guardrails/run.ts'
import {DEEPEST} from '../../guardrails/strings.ts'
import {viewOf} from '../../guardrails/view.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import {answerOf, isTokenSlot, textsIn, withoutPieces, withoutTokens, withTexts} from './deltas.ts'
import type {TextPiece} from './stream-text.ts'

/** An event that waits. */
export interface QueuedEvent {
  readonly bytes: Buffer
  readonly event: JsonObject | null
  readonly name: string | null
  readonly deltas: readonly TextPiece[]
  /** It would tell the client that the answer is whole. */
  readonly is_last: boolean
}

type Texts = ReadonlyMap<string, string>
type Taken = readonly QueuedEvent[] | null

/** So much of a piece that comes again is judged in a row. */
const ROW_CHARS = 128
/** Boundaries that are tried when a rewriting reaches over the last one. */
const MAX_TRIES = 16

/**
 * A stream whose text guardrails rewrite while it passes. Events leave as they came until something was rewritten; from
 * then on each text leaves as far as what was sent of it and what comes next are together the beginning of the text as
 * it was rewritten so far.
 */
export class StreamRewriter {
  readonly #endpoint: EndpointName
  /** By text: what of it has left the queue, and what was sent for it; undefined while both are the same. */
  #taken = new Map<string, string>()
  #sent: Texts | undefined
  #outcome: PhaseOutcome | undefined

  constructor(endpoint: EndpointName) {
    this.#endpoint = endpoint
  }

  /** The last verdict on the text. */
  heard(outcome: PhaseOutcome): void {
    if (!this.#sent && !outcome.is_transformed) return
    this.#outcome = outcome
    this.#sent ??= this.#taken
  }

  /**
   * Takes up to `most` events out of `queue` as they may leave: at once while nothing was rewritten. Null: what was
   * sent already does not agree with the text as it is now. `texts`: the whole text so far; `is_whole`: nothing will be
   * added.
   */
  take(queue: QueuedEvent[], most: number, texts: Texts, is_whole: boolean): Taken | Promise<Taken> {
    // a copy: texts continue, and new ones begin, while this one is rewritten
    if (this.#sent) return most === 0 ? [] : this.#retold(queue, most, new Map(texts), is_whole)
    const leaving = queue.splice(0, most)
    addPieces(this.#taken, leaving)
    return leaving
  }

  async #retold(queue: QueuedEvent[], most: number, texts: Texts, is_whole: boolean): Promise<Taken> {
    const all = queue.length
    const whole = await this.#rewritten(texts)
    if (!whole) return null
    for (let count = most; count > 0 && count > most - MAX_TRIES; count--) {
      const leaving = queue.slice(0, count)
      const taken = withPieces(this.#taken, leaving)
      const put = is_whole && count === all ? whole : await this.#rewritten(taken)
      if (!put || ![...put].every(([slot, text]) => whole.get(slot)?.startsWith(text))) continue
      const events = await this.#withTexts(leaving, put, taken)
      if (!events) return null
      queue.splice(0, count)
      this.#taken = taken
      this.#sent = put
      return events
    }
    return is_whole && all > 0 ? null : []
  }

  /** The events with what is new in `put` in the places of their texts; null where it goes into none. */
  async #withTexts(leaving: readonly QueuedEvent[], put: Texts, taken: Texts): Promise<Taken> {
    const sent = this.#sent!
    if (![...put].every(([slot, text]) => text.startsWith(sent.get(slot) ?? ''))) return null
    const left = new Map([...put].map(([slot, text]) => [slot, text.slice((sent.get(slot) ?? '').length)]))
    const spread = new Map(
      [...otherPieces(leaving)].map(([slot, pieces]) => [slot, spreadOver(pieces, left.get(slot) ?? '')]),
    )
    for (const slot of spread.keys()) left.delete(slot)
    const events: QueuedEvent[] = []
    for (const held of leaving) {
      if (!held.event) {
        events.push(held)
        continue
      }
      const texts = held.deltas.map(({slot, text: own, is_again, is_other}) => {
        if (is_again) return put.get(slot) === taken.get(slot) ? own : ''
        if (is_other) return spread.get(slot)!.shift()!
        const text = left.get(slot) ?? ''
        left.set(slot, '')
        return text
      })
      const event = await this.#again(held.event, held.deltas, texts)
      events.push(event === held.event ? held : {...held, event, bytes: eventBytes(held.name, event)})
    }
    return [...left.values()].some(text => text !== '') ? null : events
  }

  /**
   * An event with other pieces of text; what else it says is rewritten as the answer was. A text in a place where the
   * dialect streams none is rewritten twice: as it was joined, and each string of it by itself; one that was changed
   * before, and says the same again, is gone.
   */
  async #again(event: JsonObject, deltas: readonly TextPiece[], texts: readonly string[]): Promise<JsonObject> {
    const is_same = deltas.every(
      ({path, slot, text}, place) => (path === null && !isTokenSlot(slot)) || text === texts[place],
    )
    const pieces = deltas.filter(each => !each.is_other)
    const put = texts.filter((_, place) => !deltas[place]!.is_other)
    const others = deltas.map((delta, place) => ({delta, text: texts[place]!})).filter(({delta}) => delta.is_other)
    const joined = others.filter(({delta}) => !delta.is_again)
    const held = withTexts(
      event,
      joined.map(({delta}) => delta),
      joined.map(({text}) => text),
    )
    const bare = viewOf(this.#endpoint, 'output', withoutPieces(held, pieces))
    const other = bare.strings.length === 0 ? bare : await this.#outcome!.rewrite(bare)
    if (is_same && other.body === bare.body) return event
    const gone: TextPiece[] = []
    for (const {delta, text} of others) {
      if (!delta.is_again || text !== '' || at(other.body, delta.path!) !== delta.text) continue
      if (await this.#saysMoreInARow(delta)) gone.push(delta)
    }
    const all = withTexts(
      other.body as JsonObject,
      gone,
      gone.map(() => ''),
    )
    return withoutTokens(withTexts(all, pieces, put))
  }

  /** True for a piece that is harmless by itself, and not when it comes again and again. */
  async #saysMoreInARow({slot, text}: TextPiece): Promise<boolean> {
    const row = new Map([[slot, text.repeat(Math.max(2, Math.ceil(ROW_CHARS / text.length)))]])
    return (await this.#rewritten(row))?.get(slot) !== row.get(slot)
  }

  async #rewritten(texts: Texts): Promise<Texts | null> {
    const view = await this.#outcome!.rewrite(viewOf(this.#endpoint, 'output', answerOf(this.#endpoint, texts)))
    return textsIn(this.#endpoint, view.body, texts.keys())
  }
}

function withPieces(texts: Texts, events: readonly QueuedEvent[]): Map<string, string> {
  const all = new Map(texts)
  addPieces(all, events)
  return all
}

/** By text in a place where the dialect streams none: its pieces in these events. */
function otherPieces(events: readonly QueuedEvent[]): ReadonlyMap<string, readonly string[]> {
  const pieces = new Map<string, string[]>()
  for (const {deltas} of events)
    for (const {slot, text, is_other, is_again} of deltas) {
      if (!is_other || is_again) continue
      const known = pieces.get(slot)
      if (known) known.push(text)
      else pieces.set(slot, [text])
    }
  return pieces
}

/**
 * `text` over as many pieces: those at both ends that it begins and ends with stay, the first of the others has what is
 * between.
 */
function spreadOver(pieces: readonly string[], text: string): string[] {
  const put = pieces.map(() => '')
  let [first, last] = [0, pieces.length - 1]
  let [from, to] = [0, text.length]
  for (; first <= last && text.startsWith(pieces[first]!, from); first++) {
    put[first] = pieces[first]!
    from += put[first]!.length
  }
  for (
    ;
    first <= last && to - pieces[last]!.length >= from && text.startsWith(pieces[last]!, to - pieces[last]!.length);
    last--
  ) {
    put[last] = pieces[last]!
    to -= put[last]!.length
  }
  put[Math.min(first, put.length - 1)] += text.slice(from, to)
  return put
}

function addPieces(all: Map<string, string>, events: readonly QueuedEvent[]) {
  for (const {deltas} of events)
    for (const {slot, text, is_again} of deltas) if (!is_again) all.set(slot, (all.get(slot) ?? '') + text)
}

export function eventBytes(name: string | null, event: JsonObject): Buffer {
  return Buffer.from(`${name === null ? '' : `event: ${name}\n`}data: ${JSON.stringify(event)}\n\n`)
}

/** An event as it is read; `event` null: it says nothing, or ends the stream. */
export type Read = Pick<QueuedEvent, 'bytes' | 'name' | 'event'>

/**
 * An event of these bytes, or the events where a provider parts them by a single line end; null: it says what is no
 * JSON object.
 */
export function readEvents(bytes: Buffer): readonly Read[] | null {
  const {event: name, data} = readFields(bytes)
  const event = data.length ? parsed(data.join('\n')) : null
  if (event !== undefined) return [{bytes, name, event}]
  if (data.length < 2) return null
  const all = data.map(parsed)
  if (all.includes(undefined)) return null
  const pieces = bytes.toString('latin1').split(/(?<=(?:^|[\r\n])data[^\r\n]*(?:\r\n|\n|\r))/)
  if (pieces.length < all.length) return null
  const rest = pieces.splice(all.length - 1).join('')
  return all.map((each, place) => ({bytes: Buffer.from(pieces[place] ?? rest, 'latin1'), name, event: each!}))
}

/** Types of the event that ends an answer, where it is not `[DONE]` alone. */
const LAST: Partial<Readonly<Record<EndpointName, readonly unknown[]>>> = {
  messages: ['message_stop'],
  createModelResponse: ['response.completed', 'response.failed', 'response.incomplete'],
}

/** True when a client takes the answer for whole once it has read this event. */
export function isLast(endpoint: EndpointName, {event, name, bytes}: Read): boolean {
  if (event) return LAST[endpoint]?.includes(event.type ?? name) ?? false
  return bytes.includes('[DONE]') && readFields(bytes).data.length > 0
}

/** Undefined: neither a JSON object that all readers read alike, nor the stream's end. */
function parsed(text: string): JsonObject | null | undefined {
  if (text.trim() === '[DONE]') return null
  try {
    if (keyFault(text, DEEPEST, WIDEST_OF_ANSWERS)) return undefined
    const value: unknown = parseJson(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
