import {isObject, object} from '../../base/json-object.ts'
import type {RawObject} from '../openai/usage.ts'

/** A refusal that a message shows. */
export interface ShownRefusal {
  /** The model that refused; null for the last model, or when no model is named. */
  readonly model: string | null
  /** The policy that it falls under; null where the provider names none. */
  readonly category: string | null
}

/** The refusals by models that a message, or the events of its stream so far, report. */
export interface Refusals {
  /** Those after which another model went on, in order. */
  readonly handed_over: readonly ShownRefusal[]
  /** That with which the message ends. */
  readonly last: ShownRefusal | null
}

/** A request may name three fallbacks; more than this is no answer of Anthropic's. */
const MAX_HANDED_OVER = 64
const MAX_BLOCKS = 4096
const LONGEST_MODEL = 255
const LONGEST_CATEGORY = 64

/**
 * `earlier` with what a whole message or the next event of a stream shows: blocks of type `fallback`, and the reason to
 * stop. Null while nothing was refused. Source: platform.claude.com/docs, Refusals and fallback; SDK types
 * BetaFallbackBlock, BetaRefusalStopDetails.
 */
export function refusalsIn(json: RawObject, earlier: Refusals | null = null): Refusals | null {
  const blocks = handoversIn(json)
  const end = endIn(json)
  if (blocks.length === 0 && end === null) return earlier
  const handed_over = [...(earlier?.handed_over ?? []), ...blocks].slice(0, MAX_HANDED_OVER)
  return {handed_over, last: end ?? earlier?.last ?? null}
}

function handoversIn({content, content_block}: RawObject): readonly ShownRefusal[] {
  if (content_block !== undefined) return isHandover(content_block) ? [shownIn(content_block)] : NONE
  return Array.isArray(content) ? content.slice(0, MAX_BLOCKS).filter(isHandover).map(shownIn) : NONE
}

const NONE: readonly ShownRefusal[] = []

function isHandover(block: unknown): block is RawObject {
  return isObject(block) && block.type === 'fallback'
}

function shownIn({from, trigger}: RawObject): ShownRefusal {
  return {model: word(object(from).model, LONGEST_MODEL), category: word(object(trigger).category, LONGEST_CATEGORY)}
}

function endIn(json: RawObject): ShownRefusal | null {
  const end = json.stop_reason === undefined ? object(json.delta) : json
  if (end.stop_reason !== 'refusal') return null
  return {model: null, category: word(object(end.stop_details).category, LONGEST_CATEGORY)}
}

function word(value: unknown, longest: number): string | null {
  return typeof value === 'string' && value !== '' && value.length <= longest ? value : null
}
