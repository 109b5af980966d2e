import {own} from '../../base/json-member.ts'
import type {McpUpstream} from '../upstream/upstream.ts'
import {isLogLevel, LOG_LEVELS, type McpLogLevel} from '../wire/envelope.ts'
import type {RpcNotification} from '../wire/messages.ts'

/** The level that was set last at a legacy conversation, which has one for all its calls. */
const levels = new WeakMap<McpUpstream, McpLogLevel>()

/**
 * Asks a legacy upstream for log messages of a level, where it sends fewer so far. Others have no such request:
 * their level comes with each call.
 */
export async function setLevel(
  upstream: McpUpstream,
  level: McpLogLevel | null,
  signal: AbortSignal,
  timeout_ms: number,
): Promise<void> {
  const {hello} = upstream
  if (level === null || hello.era !== 'legacy' || own(hello.capabilities, 'logging') === undefined) return
  const before = levels.get(upstream)
  if (before !== undefined && LOG_LEVELS.indexOf(before) <= LOG_LEVELS.indexOf(level)) return
  levels.set(upstream, level)
  const sink = {notification: () => undefined, question: () => undefined}
  const request = {method: 'logging/setLevel', params: JSON.stringify({level})}
  await upstream.request(request, sink, {signal, total_ms: timeout_ms, idle_ms: timeout_ms})
}

/** True where a client that wants a level takes this message. */
export function isWanted(message: RpcNotification, level: McpLogLevel | null): boolean {
  if (message.method !== 'notifications/message') return true
  const of_message = own(message.params, 'level')
  if (level === null || !isLogLevel(of_message)) return false
  return LOG_LEVELS.indexOf(of_message) >= LOG_LEVELS.indexOf(level)
}
