import {kindOfTelemetryName} from '../../providers/telemetry-names.ts'
import type {Usage} from '../../schema/usage.ts'
import type {SpanAttributes, SpanValue} from './received.ts'

/** The facts of a model's work as a span reports them. */
export interface ReportedWork {
  /** As the conventions name it; null where the span names none. */
  readonly operation: string | null
  /** True for an operation that a provider charges: an inference, an embedding. Agents and tools only add up others. */
  readonly is_charged: boolean
  /** The kind of provider; empty where none is named. */
  readonly provider: string
  /** The model that answered, then the one that was requested. */
  readonly models: readonly string[]
  readonly usage: Partial<Usage> | null
  /** The counts contradict each other, or are none. */
  readonly is_unfit: boolean
}

/** Each fact by its names in the order in which they count; OpenInference's are last. */
const INPUT = [
  'gen_ai.usage.input_tokens',
  'gen_ai.usage.prompt_tokens',
  'llm.usage.prompt_tokens',
  'llm.token_count.prompt',
]
const OUTPUT = [
  'gen_ai.usage.output_tokens',
  'gen_ai.usage.completion_tokens',
  'llm.usage.completion_tokens',
  'llm.token_count.completion',
]
/** Always a part of the input. */
const CACHED = [
  'gen_ai.usage.cache_read.input_tokens',
  'gen_ai.usage.cache_read_tokens',
  'gen_ai.usage.cache_read_input_tokens',
  'gen_ai.usage.input_cached_tokens',
  'gen_ai.usage.details.cache_read_tokens',
  'llm.token_count.prompt_details.cache_read',
]
const WRITTEN = [
  'gen_ai.usage.cache_write.input_tokens',
  'gen_ai.usage.cache_creation.input_tokens',
  'gen_ai.usage.cache_write_tokens',
  'llm.token_count.prompt_details.cache_write',
]
const PROVIDER = ['gen_ai.provider.name', 'gen_ai.system', 'llm.provider', 'llm.system']
const MODELS = ['gen_ai.response.model', 'gen_ai.request.model', 'llm.model_name', 'embedding.model_name']
const CHARGED: ReadonlySet<string> = new Set(['chat', 'text_completion', 'generate_content', 'embeddings'])
/** Kinds of OpenInference as the conventions name the operation. */
const OPEN_INFERENCE: Readonly<Record<string, string>> = {
  LLM: 'chat',
  EMBEDDING: 'embeddings',
  AGENT: 'invoke_agent',
  TOOL: 'execute_tool',
  CHAIN: 'invoke_workflow',
}

export function reportedWork(attributes: SpanAttributes): ReportedWork {
  const operation = operationOf(attributes)
  const counts = {
    input: countIn(attributes, INPUT),
    output: countIn(attributes, OUTPUT),
    cached: countIn(attributes, CACHED),
    written: countIn(attributes, WRITTEN),
  }
  const {input = 0, output = 0, cached = 0, written = 0} = counts
  const is_unfit = Object.values(counts).some(Number.isNaN) || cached + written > input
  const has_usage = counts.input !== undefined || counts.output !== undefined
  return {
    operation,
    is_charged: operation !== null && CHARGED.has(operation),
    provider: kindOfTelemetryName(textIn(attributes, PROVIDER) ?? ''),
    models: MODELS.flatMap(name => textIn(attributes, [name]) ?? []),
    usage:
      has_usage && !is_unfit
        ? {
            input_uncached_tokens: input - cached - written,
            cache_read_tokens: cached,
            cache_write_5m_tokens: written,
            output_text_tokens: output,
          }
        : null,
    is_unfit,
  }
}

function operationOf(attributes: SpanAttributes): string | null {
  const named = textIn(attributes, ['gen_ai.operation.name'])
  if (named !== undefined) return named
  const kind = textIn(attributes, ['openinference.span.kind'])?.toUpperCase()
  return kind !== undefined && Object.hasOwn(OPEN_INFERENCE, kind) ? OPEN_INFERENCE[kind]! : null
}

function firstOf(attributes: SpanAttributes, names: readonly string[]): SpanValue | undefined {
  const name = names.find(each => attributes.has(each))
  return name === undefined ? undefined : attributes.get(name)
}

function textIn(attributes: SpanAttributes, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = attributes.get(name)
    if (typeof value === 'string' && value.trim() !== '') return value
  }
  return undefined
}

/** A count, as a number or its digits; NaN for what is none, such as a negative one. */
function countIn(attributes: SpanAttributes, names: readonly string[]): number | undefined {
  const value = firstOf(attributes, names)
  if (value === undefined) return undefined
  const count = typeof value === 'string' && /^\d{1,16}$/.test(value.trim()) ? Number(value) : value
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : Number.NaN
}
