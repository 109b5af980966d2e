import type {JsonObject} from '../../base/json-member.ts'
import {traceOf} from '../call/trace.ts'
import {headerValue} from '../wire/header-values.ts'
import type {RpcMessage} from '../wire/messages.ts'
import {VERSION_HEADER} from '../wire/standard-headers.ts'
import {endOfFault, faultOf, written} from './end.ts'
import {type McpExchange, metaOf, recordOf, type ServingParts} from './exchange.ts'

const NOTHING: JsonObject = {}

/** Writes the row of a request that was refused before its method was served. `message`: where it was legible. */
export async function noteRefused(
  message: RpcMessage | undefined,
  exchange: McpExchange,
  thrown: unknown,
  {services}: ServingParts,
): Promise<void> {
  if (message && message.kind !== 'request') return
  const {headers} = exchange.request
  const request = message ?? {
    ...{kind: 'request' as const, id: 0, id_text: 'null', method: '', params: undefined},
    ...{text: '{}', value: NOTHING},
  }
  const trace = traceOf(metaOf(request.params), headers, exchange.at_ms)
  const version = headerValue(headers, VERSION_HEADER) ?? ''
  const record = recordOf(exchange, request, {trace, version: version.slice(0, 32), client_info: undefined}, services)
  const fault = faultOf(thrown, services.log)
  const end = endOfFault(fault, 'modern', {delivered: true, rounds: 1, is_stream: false})
  await written(record, end, services.log)
}
