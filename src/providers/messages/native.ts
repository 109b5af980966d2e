import {object} from '../../base/json-object.ts'
import {dataLines} from '../../base/sse.ts'
import {writtenAsCame} from '../as-came.ts'
import type {ClientDialect, ClientStream, Json} from '../translation.ts'
import {messageError, streamError} from './error.ts'

/** Messages at a provider that has them in another envelope: what goes and comes is the client's own already. */
export const nativeMessages: ClientDialect = {
  toChat: request => request,
  fromChat: response => response,
  openStream: () => OWN_STREAM,
  error: messageError,
  isOwnError: body => object(body).type === 'error' && typeof object(object(body).error).message === 'string',
}

const OWN_STREAM: ClientStream = {
  chunk: event,
  // The provider's own last event has gone before.
  end: () => '',
  fault: fault => event(streamError(fault)),
}

function event(payload: Json): string {
  return `event: ${String(payload.type)}\n${dataLines(writtenAsCame(payload))}\n`
}
