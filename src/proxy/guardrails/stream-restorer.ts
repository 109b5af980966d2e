import {parseJson} from '../../base/json-object.ts'
import {readFields} from '../../base/sse.ts'
import {isStreamed} from '../../cache/rules.ts'
import {synthesizeStream} from '../../cache/synthesize-stream.ts'
import {type JsonObject, type JsonValue, listOf, own} from '../../guardrails/json.ts'
import type {Delta} from '../../guardrails/nested-pieces.ts'
import type {Restore, Restorer} from '../../guardrails/pii/restore.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import type {CallGuardrails} from '../call/call-guardrails.ts'
import {deltasOf, isJsonSlot, withoutPieces, withTexts} from './deltas.ts'
import {eventBytes, type QueuedEvent} from './stream-rewriter.ts'

/** A text of the stream, and an event that brought a piece of it: what is left of the text goes the same way. */
interface Restored {
  restorer: Restorer
  template: {readonly name: string | null; readonly event: JsonObject; readonly delta: Delta}
}

/**
 * Puts back, in a stream, what placeholders stand for, however they are cut. What it is not sure of yet waits for the
 * next piece.
 */
export class StreamRestorer {
  readonly #endpoint: EndpointName
  readonly #restore: Restore
  readonly #texts = new Map<string, Restored>()

  constructor(endpoint: EndpointName, restore: Restore) {
    this.#endpoint = endpoint
    this.#restore = restore
  }

  /** The bytes of an event as the client gets them. */
  restoreEvent({event, name, bytes}: QueuedEvent): Buffer {
    if (!event && readFields(bytes).data.length === 0) return bytes
    if (!event) return Buffer.concat([...this.#rest(), bytes])
    if (event.type === 'ping') return bytes
    const all = deltasOf(this.#endpoint, event, true)
    if (all.length === 0) {
      const whole = this.#restore.restoreBody(event) as JsonObject
      return Buffer.concat([...this.#rest(event), whole === event ? bytes : eventBytes(name, whole)])
    }
    const put = all.map(delta => {
      const known = this.#texts.get(delta.slot)
      const restorer = known?.restorer ?? this.#restore.restorer(isJsonSlot(delta.slot) ? 'json' : 'text')
      this.#texts.set(delta.slot, {restorer, template: {name, event, delta}})
      return restorer.push(delta.text)
    })
    const bare = withoutPieces(event, all)
    const others = this.#restore.restoreBody(bare) as JsonObject
    if (others === bare && put.every((text, place) => text === all[place]!.text)) return bytes
    return eventBytes(name, withTexts(others, all, put))
  }

  /** The rest of the texts, each in an event of its own: of all, or of the choices in `event`. */
  #rest(event?: JsonObject): Buffer[] {
    const choices = listOf(event && own(event, 'choices')).map((choice, place) => String(own(choice, 'index') ?? place))
    const over = [...this.#texts].filter(([slot]) => choices.length === 0 || choices.includes(slot.split(/[ .]/)[1]!))
    const left = over.flatMap(
      ([
        ,
        {
          restorer,
          template: {name, event, delta},
        },
      ]) => {
        const rest = restorer.end()
        if (!rest) return []
        const others = deltasOf(this.#endpoint, event, true).filter(({slot}) => slot !== delta.slot)
        return [eventBytes(name, withTexts(event, [...others, delta], [...others.map(() => ''), rest]))]
      },
    )
    for (const [slot] of over) this.#texts.delete(slot)
    return left
  }
}

/** A whole answer with what its placeholders stand for; the same bytes where it has none. */
export function restored(restore: Restore | null, bytes: Buffer): Buffer {
  if (!restore) return bytes
  const body = parseJson(bytes.toString()) as JsonValue
  const put = restore.restoreBody(body)
  return put === body ? bytes : Buffer.from(JSON.stringify(put))
}

/**
 * A rewritten answer of which nothing has left yet, as the stream it would have been: as it is cached, and as the
 * client gets it.
 */
export interface Replayed {
  readonly kept: Buffer
  readonly shown: Buffer
}

/** Null where it cannot be streamed. */
export function replayed({endpoint, restore}: CallGuardrails, body: JsonValue, asks_usage: boolean): Replayed | null {
  const streamed = (answer: Buffer) =>
    isStreamed(endpoint) ? synthesizeStream(endpoint, answer, {include_usage: asks_usage}) : null
  const answer = Buffer.from(JSON.stringify(body))
  const kept = streamed(answer)
  const shown = restore ? streamed(restored(restore, answer)) : kept
  return kept && shown && {kept, shown}
}
