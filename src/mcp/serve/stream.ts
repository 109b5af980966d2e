import {sealedNotice} from '../relay/task-ids.ts'
import {readEventId} from '../sessions/kept-stream.ts'
import type {ClientSession} from '../sessions/session.ts'
import type {ListenFilter, Listening, McpUpstream} from '../upstream/upstream.ts'
import {McpFault} from '../wire/faults.ts'
import {headerValue} from '../wire/header-values.ts'
import type {RpcNotification} from '../wire/messages.ts'
import {faultOf} from './end.ts'
import type {McpExchange, ServingParts} from './exchange.ts'
import {LIST_KINDS} from './list-changes.ts'
import {isListNotice, ListNotices} from './list-notices.ts'
import {clientOf} from './session-client.ts'

/** A client comes back after so long. */
export const RETRY_MS = 2_000
/** Pauses before the upstream's stream is opened again. */
const PAUSE_MS = 5_000

/**
 * Serves GET: the stream of a session, for as long as the client keeps it. It is ours, whatever the upstream offers;
 * what that sends on its own comes on it.
 */
export async function serveStream(session_id: string, exchange: McpExchange, parts: ServingParts): Promise<void> {
  const {reply, server, caller} = exchange
  const session = await parts.sessions.find(session_id, server, caller)
  const last_id = headerValue(exchange.request.headers, 'last-event-id')
  if (last_id !== undefined) return resumeStream(last_id, session, exchange)
  reply.open(RETRY_MS)
  const detach = session.attach({event: text => reply.event(text), close: () => reply.close()})
  const notices = new ListNotices(parts.services.after, text => session.send(text))
  const send = (method: string, text: string) => notices.take(method, text)
  const unwatch = parts.list_changes.watch({exchange, kinds: new Set(LIST_KINDS), send})
  try {
    while (!reply.over.aborted) {
      await relayed(session, notices, exchange, parts)
      if (reply.over.aborted) return
      await paused(exchange, parts)
    }
  } finally {
    unwatch()
    detach()
    // they are for the stream that comes next
    for (const text of notices.close()) session.send(text)
  }
}

/** Continues the stream of a call, from the last event that the client has. */
export async function resumeStream(last_id: string, session: ClientSession, {reply}: McpExchange): Promise<void> {
  const place = readEventId(last_id)
  const stream = place && session.findStream(place.stream_id)
  if (!stream) throw new McpFault('session_unknown')
  const taker = {event: (text: string, id?: string) => reply.event(text, id), close: () => reply.close()}
  if (!stream.resume(taker, place.after)) return reply.empty(204)
  reply.open(RETRY_MS)
}

/** Until the upstream's stream ends, or the client's does. A fault of the upstream ends no stream of a client. */
async function relayed(
  session: ClientSession,
  notices: ListNotices,
  exchange: McpExchange,
  parts: ServingParts,
): Promise<void> {
  const {reply} = exchange
  const {source, services, task_ids} = parts
  try {
    await source.use(clientOf(session, exchange), reply.over, async upstream => {
      const over = Promise.withResolvers<void>()
      const sink = {
        async notification(message: RpcNotification) {
          if (isListNotice(message)) {
            if (upstream.hello.era === 'modern') services.noticed(exchange.server.integration_id)
            notices.take(message.method, message.text)
          } else session.send(sealedNotice(message, id => task_ids.close(id, exchange)))
          await reply.taken()
        },
        ended: () => over.resolve(),
      }
      let listening: Listening = await upstream.listen(filterOf(upstream, session), sink)
      session.onSubscriptions = () => {
        if (upstream.hello.era === 'legacy') return
        const before = listening
        void upstream
          .listen(filterOf(upstream, session), {...sink, ended: () => undefined})
          .then(next => {
            listening = next
            before.close()
          })
          .catch(fault => services.log.warn({fault: String(fault)}, 'a stream of an MCP server was not opened again'))
      }
      const close = () => {
        listening.close()
        over.resolve()
      }
      reply.over.addEventListener('abort', close, {once: true})
      if (reply.over.aborted) close()
      await over.promise
      session.onSubscriptions = null
      reply.over.removeEventListener('abort', close)
      listening.close()
    })
  } catch (thrown) {
    if (reply.over.aborted) return
    const {reason} = faultOf(thrown, services.log)
    services.log.warn({reason, server: exchange.server.slug}, 'the stream of an MCP server ended with a fault')
  }
}

function filterOf({hello}: McpUpstream, {subscriptions}: ClientSession): ListenFilter {
  if (hello.era === 'legacy') return 'all'
  return {
    ...{toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true},
    ...(subscriptions.size > 0 && {resourceSubscriptions: [...subscriptions]}),
  }
}

/** Until the pause is over, or the client leaves. */
function paused({reply}: McpExchange, {services}: ServingParts): Promise<void> {
  return new Promise(resolve => {
    const callOff = services.after(PAUSE_MS, () => {
      reply.over.removeEventListener('abort', left)
      resolve()
    })
    const left = () => {
      callOff()
      resolve()
    }
    reply.over.addEventListener('abort', left, {once: true})
  })
}
