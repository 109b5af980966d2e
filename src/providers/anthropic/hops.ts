import {isObject, object} from '../../base/json-object.ts'
import {type Hop, MAX_HOPS} from '../../schema/hops.ts'
import {addUsage, emptyUsage, geographyUnit, totals, UNIT, type Usage} from '../../schema/usage.ts'
import {type RawObject, readUsage} from '../openai/usage.ts'
import type {Refusals} from './refusals.ts'

/** The usage of a reply, and the parts of it that are charged by themselves; null where it is charged as a whole. */
export interface UsageByHop {
  readonly usage: Usage | null
  readonly hops: readonly Hop[] | null
}

/** Parts whose model writes an answer, and may refuse to; the others read it or advise on it. */
const ANSWERS: ReadonlySet<string> = new Set(['message', 'fallback_message'])
const KNOWN: ReadonlySet<string> = new Set([...ANSWERS, 'compaction', 'advisor_message'])
/**
 * Policies under which a request that is refused before any output is billed all the same, since 2026-09-24
 * (platform.claude.com/docs, Refusals and fallback, billing). The vendor may change it.
 */
const BILLED_BEFORE_OUTPUT: ReadonlySet<string> = new Set(['bio', 'frontier_llm', 'reasoning_extraction'])
/** The others that it names (SDK types, BetaRefusalStopDetails). */
const NOT_BILLED: ReadonlySet<string> = new Set(['cyber', 'general_harms'])
const TYPE = /^\w{1,32}$/
const LONGEST_MODEL = 255

/**
 * `usage`, read from the top level of `raw`, as it is billed: where `iterations` is a list that is not empty, it alone
 * counts tokens, since the top level leaves out what was summarized and what advisors and refused models used. Units
 * (searches) are those of the top level. What was refused before any output is billed for some policies alone. Source:
 * platform.claude.com/docs, Compaction, Advisor tool, Refusals and fallback; SDK types BetaIterationsUsage,
 * BetaFallbackCreditUsage.
 */
export function usageByHop(raw: RawObject | null, usage: Usage | null, refusals: Refusals | null): UsageByHop {
  if (
    raw === null ||
    (raw.iterations === undefined &&
      raw.fallback_credit === undefined &&
      isAnywhere(raw.inference_geo) &&
      refusals === null)
  )
    return {usage, hops: null}
  const units = {...usage?.units}
  const {status} = object(raw.fallback_credit)
  if (object(status).type === 'redeemed') units[UNIT.fallback_credit_requests] = 1
  if (!isAnywhere(raw.inference_geo)) units[geographyUnit(String(raw.inference_geo))] = 1
  if (Array.isArray(raw.iterations) && raw.iterations.length > 0) {
    const seen = read.get(raw)
    if (seen?.refusals === refusals) return seen.counted
    const hops = hopsIn(raw.iterations, refusals, units)
    if (hops.length > 0) {
      const counted = {usage: {...hops.reduce((sum, hop) => addUsage(sum, hop.usage), emptyUsage()), units}, hops}
      read.set(raw, {refusals, counted})
      return counted
    }
    units[UNIT.iterations] = 1
  }
  if (usage === null) return {usage, hops: null}
  const is_refused = refusals?.last && totals(usage).completion_tokens === 0
  const is_billed = !is_refused || isBilled(refusals.last?.category, units)
  return {
    usage: {...usage, units},
    hops: is_billed ? null : [{model: null, type: '', usage: {...usage, units: {}}, is_billed}],
  }
}

/**
 * Words for a request that was served wherever there was room, or where the request names no region
 * (platform.claude.com/docs, Data residency).
 */
const ANYWHERE: ReadonlySet<string> = new Set(['global', 'not_available', ''])

function isAnywhere(geography: unknown): boolean {
  return typeof geography !== 'string' || ANYWHERE.has(geography)
}

/** Streams are looked at again and again; a long list is read once. */
const read = new WeakMap<RawObject, {readonly refusals: Refusals | null; readonly counted: UsageByHop}>()

/** Notes in `units` what cannot be priced for sure. */
function hopsIn(
  iterations: readonly unknown[],
  refusals: Refusals | null,
  units: Record<string, number>,
): readonly Hop[] {
  const hops: Hop[] = []
  const handed_over = [...(refusals?.handed_over ?? [])]
  const last_answer = iterations.findLastIndex(each => isAnswer(object(each).type))
  const flag = () => {
    units[UNIT.iterations] = (units[UNIT.iterations] ?? 0) + 1
  }
  for (const [at, entry] of iterations.entries()) {
    const counts = isObject(entry) ? readUsage(entry, 'messages') : null
    if (!isObject(entry) || !counts) {
      flag()
      continue
    }
    const usage: Usage = {...counts, units: {}}
    const type = typeof entry.type === 'string' && TYPE.test(entry.type) ? entry.type : ''
    const model =
      typeof entry.model === 'string' && entry.model !== '' && entry.model.length <= LONGEST_MODEL ? entry.model : null
    const earlier = hops.at(-1)
    if (hops.length >= MAX_HOPS && earlier) {
      hops[hops.length - 1] = {...earlier, usage: {...addUsage(earlier.usage, usage), units: {}}, is_billed: true}
      flag()
      continue
    }
    if (!KNOWN.has(type)) flag()
    hops.push({model, type, usage, is_billed: true})
    if (!isAnswer(entry.type)) continue
    const is_last = at === last_answer
    const is_silent = totals(usage).completion_tokens === 0
    if (!is_last && !is_silent && model === nextModel(iterations, at)) continue
    const refusal = is_last ? refusals?.last : handedOverBy(model, handed_over)
    if (!is_silent || (is_last && !refusal)) continue
    hops[hops.length - 1] = {model, type, usage, is_billed: isBilled(refusal?.category, units)}
  }
  return hops
}

/** The model of the next part that answers. */
function nextModel(iterations: readonly unknown[], at: number): unknown {
  for (let next = at + 1; next < iterations.length; next++) {
    const {type, model = null} = object(iterations[next])
    if (isAnswer(type)) return model
  }
  return null
}

/** A part of a kind that is not known is charged as an answer. */
function isAnswer(type: unknown): boolean {
  return typeof type !== 'string' || ANSWERS.has(type) || !KNOWN.has(type)
}

/**
 * The refusal of the model that answered no more, taken out of those that are left; undefined where none of them is its
 * own.
 */
function handedOverBy(model: string | null, left: {readonly model: string | null; readonly category: string | null}[]) {
  const at = model === null ? 0 : left.findIndex(each => each.model === null || isSame(each.model, model))
  return at < 0 ? undefined : left.splice(at, 1)[0]
}

/** A model may be named with its date, and without. */
function isSame(one: string, other: string): boolean {
  return one.replace(DATE, '') === other.replace(DATE, '')
}
const DATE = /-20\d{6}$/

/** `category` null: the vendor names no policy, and does not bill it; undefined: none was shown. */
function isBilled(category: string | null | undefined, units: Record<string, number>): boolean {
  if (category && BILLED_BEFORE_OUTPUT.has(category)) return true
  if (category !== null && !(category && NOT_BILLED.has(category)))
    units[UNIT.refusal_unpriced] = (units[UNIT.refusal_unpriced] ?? 0) + 1
  return false
}
