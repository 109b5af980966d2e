import {Refusal} from '../../base/errors.ts'
import type {ClientRequest} from '../../base/ingress/request.ts'
import {decodedRequest, requestEncoding} from '../../base/request-encoding.ts'
import {type Body, isRead, readAs, readBytes} from '../inbound/body.ts'
import type {InboundRequest} from '../inbound/request.ts'
import type {ProxyServices} from '../services.ts'
import type {Call} from './call.ts'
import type {CallState} from './state.ts'

/** Reads a body in a form we know, decoded; one that we do not know is left on the wire. */
export async function readBody(call: Call, state: CallState, services: ProxyServices): Promise<Body> {
  const {headers, route} = call.incoming
  const type = headers['content-type'] ?? ''
  if (!hasBody(call.incoming)) {
    if (route.endpoint?.body === 'json') throw new Refusal('body.not_json', {reason: 'it is empty'})
    return {kind: 'none'}
  }
  // Ollama's and Bedrock's own clients send JSON under another type, or none.
  const is_json = call.operation?.operation.body === 'json' && !/^multipart\//i.test(type)
  if (!is_json && !isRead(type, route.endpoint)) return {kind: 'stream'}
  const limit_mb = services.settings.max_json_payload_size_in_mb
  const encoding = requestEncoding(headers['content-encoding'])
  let bytes = await bytesOf(call.incoming.request, limit_mb, state)
  if (encoding !== null) {
    bytes = await state.wait('reading_body', decodedRequest(bytes, encoding, limit_mb))
    call.request_encoding = encoding
  }
  return readAs(bytes, is_json ? 'application/json' : type, route.endpoint)
}

function bytesOf(request: ClientRequest, limit_mb: number, state: CallState): Buffer | Promise<Buffer> {
  const read = readBytes(request, limit_mb)
  return read instanceof Promise ? state.wait('reading_body', read) : read
}

export function hasBody({headers}: InboundRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
