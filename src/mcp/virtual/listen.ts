import {traceOf} from '../call/trace.ts'
import {endOfFault, endOfLeft, endOfOurs, faultOf, headersOfFault, written} from '../serve/end.ts'
import {metaOf, recordOf, type ServingParts} from '../serve/exchange.ts'
import {filterOf, withSubscription} from '../serve/listen.ts'
import type {ModernRequest} from '../wire/client-era.ts'
import {META_KEYS} from '../wire/envelope.ts'
import {errorObjectText} from '../wire/faults.ts'
import {answerText, notificationText} from '../wire/messages.ts'
import type {VirtualClient} from './client.ts'
import {MemberStreams} from './member-streams.ts'
import {TOOLS_CHANGED} from './stream.ts'

/** Serves `subscriptions/listen` of a virtual server: changes of its tools are all that it has to say. */
export async function serveVirtualListen(
  {message, envelope, version}: ModernRequest,
  client: VirtualClient,
  parts: ServingParts,
): Promise<void> {
  const {services, draining} = parts
  const {exchange} = client
  const {reply, request, at_ms} = exchange
  const trace = traceOf(metaOf(message.params), request.headers, at_ms)
  const record = recordOf(exchange, message, {trace, version, client_info: envelope.client_info}, services)
  const ended = () => ({delivered: !reply.gone.aborted, rounds: 1, is_stream: reply.is_stream})
  try {
    const {toolsListChanged} = filterOf(message.params, message.id_text)
    const notifications = toolsListChanged ? {toolsListChanged} : {}
    const agreed = JSON.stringify({notifications, _meta: {[META_KEYS.subscription_id]: '@'}})
    reply.event(notificationText('notifications/subscriptions/acknowledged', agreed.replace('"@"', message.id_text)))
    const ends = AbortSignal.any([reply.gone, draining])
    const send = () => void (toolsListChanged && reply.event(withSubscription(TOOLS_CHANGED, message.id_text)))
    await new MemberStreams(client, ends, send, parts).run()
    if (reply.gone.aborted) return written(record, endOfLeft(200, {rounds: 1, is_stream: true}), services.log)
    const text = `{"resultType":"complete","_meta":{"${META_KEYS.subscription_id}":${message.id_text}}}`
    await written(record, {...endOfOurs(ended()), answer: text}, services.log)
    reply.end(200, answerText(message.id_text, {result: text}))
  } catch (thrown) {
    const fault = faultOf(thrown, services.log)
    await written(record, endOfFault(fault, 'modern', ended()), services.log)
    reply.end(fault.http, answerText(message.id_text, {error: errorObjectText(fault)}), headersOfFault(fault))
  }
}
