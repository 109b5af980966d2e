import type {ClientSession} from '../sessions/session.ts'
import type {ListenFilter, Listening, McpUpstream} from '../upstream/upstream.ts'
import {faultOf} from './end.ts'
import type {McpExchange, ServingParts} from './exchange.ts'
import {clientOf} from './session-client.ts'

/** Pauses before the upstream's stream is opened again. */
const PAUSE_MS = 5_000

/**
 * Serves GET: the stream of a session, for as long as the client keeps it. It is ours, whatever the upstream offers;
 * what that sends on its own comes on it.
 */
export async function serveStream(session_id: string, exchange: McpExchange, parts: ServingParts): Promise<void> {
  const {reply, server, caller} = exchange
  const session = await parts.sessions.find(session_id, server, caller)
  reply.open()
  const detach = session.attach({event: text => reply.event(text), close: () => reply.close()})
  try {
    while (!reply.over.aborted) {
      await relayed(session, exchange, parts)
      if (reply.over.aborted) return
      await paused(exchange, parts)
    }
  } finally {
    detach()
  }
}

/** Until the upstream's stream ends, or the client's does. A fault of the upstream ends no stream of a client. */
async function relayed(session: ClientSession, exchange: McpExchange, {source, services}: ServingParts): Promise<void> {
  const {reply} = exchange
  try {
    await source.use(clientOf(session, exchange), reply.over, async upstream => {
      const over = Promise.withResolvers<void>()
      const sink = {
        async notification(message: {readonly text: string}) {
          session.send(message.text)
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
