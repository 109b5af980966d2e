import {type Context, type Dialect, type Json, type Translated, UnsupportedInput} from '../translation.ts'
import {readFault} from '../unified/fault.ts'
import {nearReply} from '../unified/near-openai.ts'
import {normaliseStream} from '../unified/near-openai-stream.ts'

const near = {finish: {eos_token: 'stop', stop_sequence: 'stop'}} as const

/**
 * OpenAI's chat at a path of each tenant and base model (reference: Predibase): the model is `base` or `base:adapter`, the tenant is `user`.
 * Source: docs.predibase.com, OpenAI-compatible endpoints.
 */
function request(asked: Json, context: Context): Translated {
  const {user, ...rest} = asked
  const colon = context.model.indexOf(':')
  const base = colon < 0 ? context.model : context.model.slice(0, colon)
  const path = `/${segment(user, 'user')}/deployments/v2/llms/${segment(base, 'model')}/v1/chat/completions`
  return {path, body: {...rest, model: colon < 0 ? '' : context.model.slice(colon + 1), stream: context.is_stream}}
}

function segment(said: unknown, field: string): string {
  if (typeof said === 'string' && said !== '' && said !== '.' && said !== '..') return encodeURIComponent(said)
  throw new UnsupportedInput(field, field === 'user' ? 'expected the tenant that serves the model' : 'expected the name of a model')
}

/** Predibase. Base URL: the serving host. */
export const predibase: Dialect = {
  name: 'predibase',
  endpoints: {
    chatComplete: {
      request,
      reply: (said, context) => nearReply(said, context, near),
      stream: {framing: 'sse', open: (context, asked) => normaliseStream(context, asked, near)},
    },
  },
  fault: readFault,
}
