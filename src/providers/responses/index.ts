import type {ClientDialect, Json, ProviderFault} from '../translation.ts'
import {toResponse, unsentFailure} from './reply.ts'
import {responsesToChat} from './request.ts'
import {openResponseStream} from './stream.ts'

/** OpenAI Responses (OpenAI API reference, Responses) on any provider that has chat. */
export const responsesClient: ClientDialect = {
  toChat: responsesToChat,
  fromChat: toResponse,
  openStream: openResponseStream,
  error: responseError,
  failed: unsentFailure,
  repeats_request: true,
}

/** The Responses API tells errors as chat does. */
function responseError(_status: number, {message, type, param, code}: ProviderFault): Json {
  return {error: {message, type, param, code}}
}
