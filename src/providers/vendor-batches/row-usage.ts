import {isObject} from '../../base/json-object.ts'
import type {Hop} from '../../schema/hops.ts'
import {emptyUsage, type Usage} from '../../schema/usage.ts'
import {refusalsIn} from '../anthropic/refusals.ts'
import {withTools} from '../openai/reply.ts'
import type {Json} from '../translation.ts'
import {vendorModel} from '../vendor-operations/facts.ts'
import {rawUsageOf, usageByHopOf} from '../vendor-operations/raw-usage.ts'
import {amount} from './words.ts'

/** The usage of the reply in a row, in the vendor's format. */
export interface RowUsage {
  readonly usage: Usage
  readonly model: string | null
  readonly hops: readonly Hop[] | null
}

/** The usage of a reply that a row holds; null where it tells none that can be read. */
export function usageOfRow(reply: Json): RowUsage | null {
  const report = rawUsageOf(reply)
  const {usage, hops} = report ? usageByHopOf(report, refusalsIn(reply)) : {usage: vectorUsage(reply), hops: null}
  if (!usage) return null
  return {usage: withTools(usage, reply), model: vendorModel(reply), hops}
}

/** Gemini tells the tokens of a vector beside it. */
function vectorUsage({embedding, tokenCount}: Json): Usage | null {
  const tokens = amount(tokenCount)
  return isObject(embedding) && tokens !== null ? {...emptyUsage(), input_uncached_tokens: tokens} : null
}
