import {isObject} from '../../base/json-object.ts'
import {estimateTokens} from '../openai/reply.ts'
import type {Json} from '../translation.ts'

/** About the tokens of a picture that Anthropic scaled down (docs.anthropic.com, Vision). */
const IMAGE_TOKENS = 1600
/** A PDF's page: text and picture (docs.anthropic.com, PDF support), and about how many bytes a page has. */
const PAGE_TOKENS = 2300
const PAGE_BYTES = 50_000
/** The tokens that frame a message or a tool. */
const FRAME_TOKENS = 4
/** Blocks are not nested deeper. */
const DEEPEST = 16
/** Members that a model reads as JSON, names and all. */
const AS_JSON: ReadonlySet<string> = new Set(['input', 'input_schema', 'schema'])
/** Members that a model does not read. */
const FRAMING: ReadonlySet<string> = new Set([
  'type',
  'role',
  'id',
  'cache_control',
  'signature',
  'media_type',
  'tool_use_id',
])

/**
 * About how many input tokens a Messages request comes to: an estimate of ours, not a count by the model's tokenizer,
 * for providers that have no endpoint to count. Text is taken at four bytes a token; pictures and documents at what
 * they usually come to.
 */
export function countTokens(request: Json): Json {
  const sum = {text_bytes: 0, tokens: 0}
  for (const list of [request.messages, request.tools])
    if (Array.isArray(list)) sum.tokens += list.length * FRAME_TOKENS
  for (const part of [request.messages, request.system, request.tools, request.output_config]) add(sum, part, 0)
  return {input_tokens: estimateTokens(sum.text_bytes) + sum.tokens}
}

function add(sum: {text_bytes: number; tokens: number}, value: unknown, depth: number): void {
  if (typeof value === 'string') sum.text_bytes += Buffer.byteLength(value)
  else if (depth > DEEPEST) return
  else if (Array.isArray(value)) for (const each of value) add(sum, each, depth + 1)
  else if (isObject(value)) addBlock(sum, value, depth)
}

function addBlock(sum: {text_bytes: number; tokens: number}, block: Json, depth: number): void {
  const {type, source} = block
  if (type === 'redacted_thinking') return
  if (type === 'image') sum.tokens += IMAGE_TOKENS
  else if (type === 'document' && isObject(source) && (source.type === 'base64' || source.type === 'url')) {
    sum.tokens += pages(source.data) * PAGE_TOKENS
  } else {
    for (const [name, value] of Object.entries(block)) {
      if (AS_JSON.has(name)) sum.text_bytes += Buffer.byteLength(JSON.stringify(value) ?? '')
      else if (!FRAMING.has(name)) add(sum, value, depth + 1)
    }
  }
}

/** Of a document whose bytes are elsewhere nothing is known: one page. */
function pages(base64: unknown): number {
  return typeof base64 === 'string' ? Math.max(1, Math.ceil((base64.length * 3) / 4 / PAGE_BYTES)) : 1
}
