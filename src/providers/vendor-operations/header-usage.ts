import {emptyUsage, type Usage} from '../../schema/usage.ts'
import {count} from '../openai/usage.ts'

/**
 * Headers that count tokens, lower case, by what they count; of several names for one count the first that is there.
 */
interface CountingHeaders {
  readonly input: readonly string[]
  readonly output?: readonly string[]
  readonly cache_read?: readonly string[]
  readonly cache_written?: readonly string[]
}

/**
 * Kinds of providers that count in headers what some of their replies do not tell. Sources: Bedrock user guide,
 * InvokeModel (the body of an embedding of Cohere's has no counts); text-embeddings-inference and
 * text-generation-inference, router/src (what dedicated endpoints of Hugging Face run).
 */
const HEADERS: Readonly<Record<string, CountingHeaders>> = {
  bedrock: {
    input: ['x-amzn-bedrock-input-token-count'],
    output: ['x-amzn-bedrock-output-token-count'],
    cache_read: ['x-amzn-bedrock-cache-read-input-token-count'],
    cache_written: ['x-amzn-bedrock-cache-write-input-token-count'],
  },
  huggingface: {input: ['x-prompt-tokens', 'x-compute-tokens'], output: ['x-generated-tokens']},
}

/**
 * The usage that the headers of a reply count, by the provider's kind; null where they count nothing. Names of
 * `headers` are lower case.
 */
export function usageInHeaders(kind: string, headers: Readonly<Record<string, string>>): Usage | null {
  const named = Object.hasOwn(HEADERS, kind) ? HEADERS[kind]! : null
  if (named === null) return null
  const counted = (names: readonly string[] = []) =>
    names.map(name => numberIn(headers[name])).find(found => found !== null) ?? null
  const [input, output] = [counted(named.input), counted(named.output)]
  if (input === null && output === null) return null
  const usage = emptyUsage()
  usage.input_uncached_tokens = input ?? 0
  usage.output_text_tokens = output ?? 0
  usage.cache_read_tokens = counted(named.cache_read) ?? 0
  usage.cache_write_5m_tokens = counted(named.cache_written) ?? 0
  return usage
}

function numberIn(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,15}$/.test(text) ? count(Number(text)) : null
}
