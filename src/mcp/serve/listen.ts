import {isObject, type JsonObject, own} from '../../base/json-member.ts'
import {memberText} from '../../base/json-splice.ts'
import {traceOf} from '../call/trace.ts'
import type {UpstreamClient} from '../pool/source.ts'
import {checkAllowed} from '../relay/allowed.ts'
import {sealedNotice} from '../relay/task-ids.ts'
import type {NotificationFilter} from '../upstream/upstream.ts'
import type {ModernRequest} from '../wire/client-era.ts'
import {edited} from '../wire/edits.ts'
import {META_KEYS} from '../wire/envelope.ts'
import {errorObjectText, McpFault} from '../wire/faults.ts'
import {answerText, notificationText, paramsText} from '../wire/messages.ts'
import {endOfAnswer, endOfFault, endOfLeft, faultOf, written} from './end.ts'
import {type McpExchange, metaOf, recordOf, type ServingParts} from './exchange.ts'
import {LIST_KINDS} from './list-changes.ts'
import {isListNotice, ListNotices} from './list-notices.ts'

const KINDS = ['toolsListChanged', 'promptsListChanged', 'resourcesListChanged'] as const
const MOST_ADDRESSES = 1_000
/** Messages that come before the stream is acknowledged. */
const MOST_EARLY = 100
/** The client has a first byte by then, however long the server takes; a fault before it still has its status. */
const FIRST_BYTE_MS = 150

/** Serves `subscriptions/listen`: a stream of a modern client's own, until one of the two ends it. */
export async function serveListen(post: ModernRequest, exchange: McpExchange, parts: ServingParts): Promise<void> {
  const {message, envelope, version} = post
  const {reply, server, caller, request, validated} = exchange
  const {services, source} = parts
  const trace = traceOf(metaOf(message.params), request.headers, exchange.at_ms)
  const record = recordOf(exchange, message, {trace, version, client_info: envelope.client_info}, services)
  const ended = () => ({delivered: !reply.gone.aborted, rounds: 1, is_stream: reply.is_stream})
  let callOff = () => {}
  try {
    const wanted = filterOf(message.params, message.id_text)
    const open = (id: string) => parts.task_ids.open(id, exchange)
    const seal = (id: string) => parts.task_ids.close(id, exchange)
    const filter = withTaskIds(wanted, open)
    for (const uri of filter.resourceSubscriptions ?? [])
      checkAllowed('resources/subscribe', {uri}, server, message.id_text)
    if (reply.may_stream) callOff = services.after(FIRST_BYTE_MS, () => reply.open())
    const meta_text = memberText(paramsText(message)!, '_meta')!
    const client: UpstreamClient = {
      ...{server, caller, validated, headers: request.headers, session_id: null},
      client_info: memberText(meta_text, META_KEYS.client_info) ?? JSON.stringify({name: 'unknown', version: '0.0.0'}),
      client_capabilities: memberText(meta_text, META_KEYS.client_capabilities)!,
    }
    const hello = await source.use(client, reply.gone, async upstream => {
      const early: string[] = []
      let is_acknowledged = false
      const {promise, resolve, reject} = Promise.withResolvers<void>()
      const send = async (text: string) => {
        if (is_acknowledged) {
          reply.event(text)
          return reply.taken()
        }
        early.push(text)
        if (early.length > MOST_EARLY) early.shift()
      }
      const notices = new ListNotices(services.after, text => void send(text))
      const listening = await upstream.listen(filter, {
        notification: each => {
          const text = withSubscription(sealedNotice(each, seal), message.id_text)
          if (!isListNotice(each)) return send(text)
          if (upstream.hello.era === 'modern') services.noticed(server.integration_id)
          notices.take(each.method, text)
          return reply.taken()
        },
        ended: fault => (fault ? reject(fault) : resolve()),
      })
      const agreed = JSON.stringify({
        notifications: withTaskIds(listening.agreed, seal),
        _meta: {[META_KEYS.subscription_id]: '@'},
      }).replace('"@"', message.id_text)
      reply.event(notificationText('notifications/subscriptions/acknowledged', agreed))
      is_acknowledged = true
      for (const text of early.splice(0)) reply.event(text)
      const unwatch = parts.list_changes.watch({
        exchange,
        kinds: new Set(LIST_KINDS.filter(kind => filter[`${kind}ListChanged`])),
        send: (method, text) => notices.take(method, withSubscription(text, message.id_text)),
      })
      const ends = AbortSignal.any([reply.gone, parts.draining])
      const close = () => listening.close()
      ends.addEventListener('abort', close, {once: true})
      if (ends.aborted) close()
      await promise.finally(() => {
        ends.removeEventListener('abort', close)
        unwatch()
        notices.close()
      })
      return upstream.hello
    })
    if (reply.gone.aborted) return written(record, endOfLeft(200, {rounds: 1, is_stream: true}), services.log)
    const text = `{"resultType":"complete","_meta":{"${META_KEYS.subscription_id}":${message.id_text}}}`
    const answer = {kind: 'result', text, status: 200, outcome: 'ok', rpc_code: null, left_out: []} as const
    await written(record, endOfAnswer(answer, hello, ended()), services.log)
    reply.end(200, answerText(message.id_text, {result: text}))
  } catch (thrown) {
    if (reply.gone.aborted) return written(record, endOfLeft(200, {rounds: 1, is_stream: true}), services.log)
    const fault = faultOf(thrown, services.log)
    await written(record, endOfFault(fault, 'modern', ended()), services.log)
    reply.end(fault.http, answerText(message.id_text, {error: errorObjectText(fault)}))
  } finally {
    callOff()
  }
}

/** The filter with its ids of tasks written otherwise. */
function withTaskIds(filter: NotificationFilter, change: (id: string) => string): NotificationFilter {
  const {taskIds} = filter
  return Array.isArray(taskIds) ? {...filter, taskIds: taskIds.map(id => change(String(id)))} : filter
}

/** The filter of a request. Throws `params_invalid`. */
export function filterOf(params: JsonObject | undefined, id_text: string): NotificationFilter {
  const wanted = own(params, 'notifications')
  const invalid = (reason: string) => new McpFault('params_invalid', {reason}, {id_text})
  if (!isObject(wanted)) throw invalid('notifications has to be an object')
  const filter: {-readonly [K in keyof NotificationFilter]: NotificationFilter[K]} = {}
  for (const kind of KINDS) {
    const value = own(wanted, kind)
    if (value !== undefined && typeof value !== 'boolean') throw invalid(`notifications.${kind} has to be a boolean`)
    if (value) filter[kind] = true
  }
  for (const member of ['resourceSubscriptions', 'taskIds'] as const) {
    const value = own(wanted, member)
    if (value === undefined) continue
    if (!Array.isArray(value) || value.length > MOST_ADDRESSES || value.some(each => typeof each !== 'string'))
      throw invalid(`notifications.${member} has to be a list of at most ${MOST_ADDRESSES} texts`)
    filter[member] = value as string[]
  }
  return filter
}

/** The notification under the id of the client's own request. */
export function withSubscription(text: string, id_text: string): string {
  return edited(text, [{path: ['params', '_meta', META_KEYS.subscription_id], set: id_text}])
}
