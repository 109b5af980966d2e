import {uriPart} from '../../base/uri-part.ts'
import {
  type Dialect,
  type Json,
  type Translated,
  type TranslationContext,
  UnsupportedInputFault,
} from '../translation.ts'
import {readFault} from '../unified/fault.ts'
import {nearReply} from '../unified/near-openai.ts'
import {normaliseStream} from '../unified/near-openai-stream.ts'

const near = {finish: {eos_token: 'stop', stop_sequence: 'stop'}} as const

/**
 * OpenAI's chat at a path of each tenant and base model: the model is `base` or `base:adapter`, the tenant is `user`.
 * Source: docs.predibase.com, OpenAI-compatible endpoints.
 */
function request(input: Json, context: TranslationContext): Translated {
  const {user, ...rest} = input
  const colon = context.model.indexOf(':')
  const base = colon < 0 ? context.model : context.model.slice(0, colon)
  const path = `/${segment(user, 'user')}/deployments/v2/llms/${segment(base, 'model')}/v1/chat/completions`
  return {path, body: {...rest, model: colon < 0 ? '' : context.model.slice(colon + 1), stream: context.is_stream}}
}

function segment(value: unknown, field: string): string {
  if (typeof value === 'string' && value !== '' && value !== '.' && value !== '..') return uriPart(value)
  throw new UnsupportedInputFault(
    field,
    field === 'user' ? 'expected the tenant that serves the model' : 'expected the name of a model',
  )
}

/** Predibase. Base URL: the serving host. */
export const predibase: Dialect = {
  name: 'predibase',
  keeps_errors: true,
  endpoints: {
    chatComplete: {
      request,
      reply: (response, context) => nearReply(response, context, near),
      stream: {framing: 'sse', open: (context, input) => normaliseStream(context, input, near)},
    },
  },
  fault: readFault,
}
