import {uriPart} from '../../base/uri-part.ts'
import type {Json, Translated, TranslationContext} from '../translation.ts'
import {UnsupportedInputFault} from '../translation.ts'

/** The hosts that serve Messages: Anthropic's API, Vertex AI, Bedrock's InvokeModel. */
export type AnthropicHost = 'api' | 'vertex' | 'bedrock'

/**
 * The clouds take the version in the body instead of the `anthropic-version` header. Sources: Vertex AI and Bedrock
 * user guides, Claude.
 */
const VERSIONS = {vertex: 'vertex-2023-10-16', bedrock: 'bedrock-2023-05-31'} as const
const WORD = /^[\w.-]{1,64}$/
const MAX_BETAS = 32

/**
 * A Messages body in the envelope of its place. The clouds name the model in the path and the version in the body;
 * Bedrock has the betas in the body too and tells streaming by the path. Betas and the version are those of the headers
 * (`options.anthropic_beta`, `options.anthropic_version`), else of the request's body.
 */
export function placed(messages: Json, request: Json, context: TranslationContext, place: AnthropicHost): Translated {
  const betas = betasOf(context.options.anthropic_beta ?? request.anthropic_beta)
  const beta_header: Record<string, string> = betas.length > 0 ? {'anthropic-beta': betas.join(',')} : {}
  if (place === 'api') {
    const version = context.options.anthropic_version ?? request.anthropic_version
    if (version === undefined || version === null) return {path: '/messages', headers: beta_header, body: messages}
    if (typeof version !== 'string' || !WORD.test(version)) {
      throw new UnsupportedInputFault('anthropic_version', 'expected a date such as 2023-06-01')
    }
    return {path: '/messages', headers: {...beta_header, 'anthropic-version': version}, body: messages}
  }
  const {model: _, stream, ...rest} = messages
  const body: Json = {anthropic_version: VERSIONS[place], ...rest}
  if (place === 'bedrock') {
    return {
      path: `/model/${segment(context.model)}/${context.is_stream ? 'invoke-with-response-stream' : 'invoke'}`,
      body: betas.length > 0 ? {...body, anthropic_beta: betas} : body,
    }
  }
  // A version follows an @, which a path may have as it is.
  const model = segment(context.model.replace(/^anthropic\./, '')).replaceAll('%40', '@')
  return {
    path: `/publishers/anthropic/models/${model}:${context.is_stream ? 'streamRawPredict' : 'rawPredict'}`,
    headers: beta_header,
    body: stream === undefined ? body : {...body, stream},
  }
}

/** A model as one part of a path, which it can neither leave nor leave empty. */
function segment(model: string): string {
  if (/^\.{0,2}$/.test(model)) throw new UnsupportedInputFault('model', 'expected the name of a model')
  return uriPart(model, 'The model')
}

/**
 * Names of beta features, from a list or from words with commas between them. They go into a header, so they are words
 * and nothing else.
 */
function betasOf(value: unknown): readonly string[] {
  if (value === undefined || value === null) return []
  const words = typeof value === 'string' ? value.split(',', MAX_BETAS + 1) : value
  if (!Array.isArray(words) || words.length > MAX_BETAS) throw wrong()
  return words
    .map(word => (typeof word === 'string' ? word.trim() : word))
    .filter(word => word !== '')
    .map(checked)
}

function checked(word: unknown): string {
  if (typeof word !== 'string' || !WORD.test(word)) throw wrong()
  return word
}

function wrong(): UnsupportedInputFault {
  return new UnsupportedInputFault('anthropic_beta', `expected at most ${MAX_BETAS} names such as files-api-2025-04-14`)
}
