import type {Attributes} from '../otlp/model.ts'
import {AttributeList} from '../spans/attributes.ts'
import {isInference, operationOf, providerName} from '../spans/operations.ts'
import {type ExportedRecord, timesOf} from '../spans/record.ts'
import {placeOf, type SpanServices} from '../spans/span-services.ts'
import {attemptFault, isCharged, usageFacts} from '../spans/usage-facts.ts'
import {INSTRUMENTS, type Instrument} from './instruments.ts'

/** A value that a record of the journal adds to a metric. */
export interface Measurement {
  readonly of: Instrument
  readonly attributes: Attributes
  readonly value: number
}

/**
 * The values of an attempt at a provider: the same attempts, tokens and cost as its span has, so that each is counted
 * once. Hits of the cache and refused calls have none.
 */
export function measurements(
  record: ExportedRecord,
  {names, generation}: Pick<SpanServices, 'names' | 'generation'>,
): readonly Measurement[] {
  const {entry, row} = record
  if (row?.ending === 'again' || entry.attempt === 0) return []
  const metric = INSTRUMENTS[generation]
  const found: Measurement[] = []
  const common = () =>
    new AttributeList(names)
      .add('operation', operationOf(entry.endpoint))
      .add('provider', providerName(entry.provider))
      .add('request_model', entry.model)
  if (entry.cost_nanousd > 0) {
    const attributes = common().add('workspace_id', entry.workspace_id).list
    found.push({of: metric.cost, attributes, value: entry.cost_nanousd})
  }
  // messages of MCP are no operations of a model
  if (row?.detail.mcp) return found
  const {address, port} = placeOf(row?.detail.upstream_url ?? null)
  const here = () => common().add('server_address', address).add('server_port', port)
  const seconds = upstreamMs(record) / 1000
  const timed = here().add('error_type', attemptFault(entry)).list
  const is_inference = isInference(entry.endpoint) && operationOf(entry.endpoint) !== 'embeddings'
  found.push({of: is_inference ? metric.inference_duration : metric.duration, attributes: timed, value: seconds})
  const first_ms = firstChunkMs(record)
  if (first_ms !== null) found.push({of: metric.first_chunk, attributes: here().list, value: first_ms / 1000})
  const is_counted = entry.usage_source !== 'none' && entry.usage_source !== 'unmetered'
  if (!is_counted || !isCharged(entry)) return found
  const {input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens} = usageFacts(entry)
  const attributes = here().list
  const add = (of: Instrument, value: number) => void found.push({of, attributes, value})
  const {token_usage, operation_tokens, usage} = metric
  if (token_usage)
    for (const [type, value] of [
      ['input', input_tokens],
      ['output', output_tokens],
    ] as const)
      if (value > 0) found.push({of: token_usage, attributes: here().add('token_type', type).list, value})
  if (operation_tokens) {
    if (input_tokens > 0) add(operation_tokens.input, input_tokens)
    if (output_tokens > 0) add(operation_tokens.output, output_tokens)
  }
  if (usage) {
    if (input_tokens > 0) add(usage.input, input_tokens)
    if (output_tokens > 0) add(usage.output, output_tokens)
    if (cache_read_tokens > 0) add(usage.cache_read, cache_read_tokens)
    if (cache_write_tokens > 0) add(usage.cache_write, cache_write_tokens)
    if (reasoning_tokens > 0) add(usage.reasoning, reasoning_tokens)
  }
  return found
}

/** How long the provider took, as the span of the attempt shows it. */
function upstreamMs(record: ExportedRecord): number {
  const {row} = record
  if (row) return Math.max(0, row.detail.last_byte_ms - row.detail.overhead_ms)
  const {start_us, end_us} = timesOf(record)
  return (end_us - start_us) / 1000
}

/** From the request to the first byte of a streamed answer; null of others. */
function firstChunkMs({entry, row}: ExportedRecord): number | null {
  if (!row?.detail.is_stream || row.detail.first_byte_ms === null || entry.status === null || entry.status >= 400)
    return null
  return Math.max(0, row.detail.first_byte_ms - row.detail.overhead_ms)
}
