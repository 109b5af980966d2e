import type {McpExchange, ServingParts} from '../serve/exchange.ts'
import {RETRY_MS, resumeStream} from '../serve/stream.ts'
import {headerValue} from '../wire/header-values.ts'
import {notificationText} from '../wire/messages.ts'
import {legacyClient} from './legacy.ts'
import {MemberStreams} from './member-streams.ts'

export const TOOLS_CHANGED = notificationText('notifications/tools/list_changed', undefined)

/** Serves GET of a virtual server: the stream of a session, for as long as the client keeps it. */
export async function serveVirtualStream(
  session_id: string,
  exchange: McpExchange,
  parts: ServingParts,
): Promise<void> {
  const {reply, server, caller} = exchange
  const session = await parts.sessions.find(session_id, server, caller)
  const last_id = headerValue(exchange.request.headers, 'last-event-id')
  if (last_id !== undefined) return resumeStream(last_id, session, exchange)
  reply.open(RETRY_MS)
  const detach = session.attach({event: text => reply.event(text), close: () => reply.close()})
  const client = legacyClient(session, exchange)
  const streams = new MemberStreams(client, reply.over, () => session.send(TOOLS_CHANGED), parts)
  await streams.run().finally(detach)
}
