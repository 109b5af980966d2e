import {isObject, object, parsed} from '../../../base/json-object.ts'
import {linesOf} from '../../../base/lines.ts'
import {CostSum} from '../../../pricing/cost-sum.ts'
import type {Price} from '../../../pricing/price.ts'
import {MAX_ROW_BYTES} from '../../../providers/jobs/rows.ts'
import {factsOf} from '../../../providers/openai/reply.ts'
import {count, readUsage} from '../../../providers/openai/usage.ts'
import {usageOfKind} from '../../../providers/service-tiers.ts'
import type {EndpointName} from '../../../schema/endpoints.ts'
import {UnreadRows} from './unreadable.ts'

/** The usage of a batch. */
export interface BatchUsage {
  readonly tally: CostSum
  /** Rows that were answered. */
  readonly requests: number
  /** The model of its rows; of several the first. */
  readonly model: string | null
  readonly bytes: number
  readonly unread: UnreadRows
}

export interface BatchTerms {
  readonly endpoint: EndpointName
  /** Of the provider that made it. */
  readonly kind: string
  /** When the call that made it was admitted: its price is of then. */
  readonly at_ms: number
  /** The price of the model that a row names. */
  priceOf(model: string | null): Price | undefined
}

/**
 * The usage of a batch's output: each row's, at the rate of batches. Rows that failed used nothing; what cannot be read
 * is counted.
 */
export async function usageOfRows(
  rows: AsyncIterable<Uint8Array>,
  {endpoint, kind, at_ms, priceOf}: BatchTerms,
): Promise<BatchUsage> {
  const tally = new CostSum()
  const unread = new UnreadRows()
  let model: string | null = null
  let bytes = 0
  for await (const line of linesOf(rows, MAX_ROW_BYTES)) {
    bytes += line.bytes.length + 1
    const row = object(parsed(line.bytes.toString()))
    const {body, status_code: status = 200} = object(row.response)
    if (isObject(row.error) || typeof row.error === 'string' || (typeof status === 'number' && status >= 300)) continue
    const facts = isObject(body) ? factsOf(endpoint, body) : null
    if (!facts?.usage) {
      unread.add(`line ${line.number} ${facts ? 'has no usage that is known' : 'is no row of results'}`)
      continue
    }
    model ??= facts.model
    const {hops} = facts
    const usage = usageOfKind(kind, facts.usage)
    const options = {at: at_ms, batch: true}
    if (hops) tally.addHops({usage, hops}, hop_model => priceOf(hop_model ?? facts.model), options)
    else tally.add(usage, priceOf(facts.model), options)
  }
  return {tally, requests: tally.requests, model, bytes, unread}
}

/** The usage that a batch itself reports, as OpenAI's do; null for none. */
export function usageOfBatch(
  batch: Readonly<Record<string, unknown>>,
  {kind, at_ms, priceOf}: BatchTerms,
): BatchUsage | null {
  const usage = isObject(batch.usage) ? readUsage(batch.usage, 'createModelResponse') : null
  if (!usage) return null
  const model = typeof batch.model === 'string' && batch.model !== '' ? batch.model : null
  const {completed} = object(batch.request_counts)
  const tally = new CostSum()
  tally.add(usageOfKind(kind, usage), priceOf(model), {at: at_ms, batch: true})
  return {tally, requests: count(completed) ?? 1, model, bytes: 0, unread: new UnreadRows()}
}
