import type {JsonObject} from '../../base/json-member.ts'
import type {McpTrace} from '../call/trace.ts'
import {GuardedCall} from '../guards/guarded-call.ts'
import {outputSchemaOf} from '../guards/output-schema.ts'
import type {UpstreamClient} from '../pool/source.ts'
import type {MessageEnd} from '../records/message-record.ts'
import {nameOf} from '../relay/allowed.ts'
import type {RpcAnswer, RpcRequest} from '../wire/messages.ts'
import type {McpExchange, ServingParts} from './exchange.ts'

/** The guardrails of a request: null where none judges it, as of everything that calls no tool. */
export async function guardedCall(
  message: RpcRequest,
  {server, metadata, masked_headers}: McpExchange,
  trace: McpTrace,
  {services}: Pick<ServingParts, 'services'>,
): Promise<GuardedCall | null> {
  const tool = nameOf(message.method, message.params)
  if (!services.guards || message.method !== 'tools/call' || tool === null) return null
  const guards = await services.guards.find(server)
  if (!guards) return null
  const {workspace_id, slug} = server
  const facts = {workspace_id, model: `${slug}/${tool}`, metadata, headers: masked_headers, trace}
  return new GuardedCall(guards, facts, services.guards)
}

/** The answer as its guardrails leave it. */
export function judgedAnswer(
  guarded: GuardedCall | null,
  answer: RpcAnswer,
  of: {readonly message: RpcRequest; readonly client: UpstreamClient; readonly signal: AbortSignal},
  {source, services}: ServingParts,
): RpcAnswer | Promise<RpcAnswer> {
  if (!guarded) return answer
  const {message, client, signal} = of
  const tool = nameOf(message.method, message.params)!
  const total_ms = services.settings.mcp_request_timeout_ms
  const readSchema = (): Promise<JsonObject | null> =>
    source.use(client, signal, upstream => outputSchemaOf(upstream, tool, {signal, total_ms, idle_ms: total_ms}))
  return guarded.judgeOutput(answer, readSchema)
}

/** The part of the end of a record that guardrails give. */
export function guardsEnd(guarded: GuardedCall | null): Pick<MessageEnd, 'hooks'> & {
  readonly row_status?: number
  readonly denial?: string
} {
  if (!guarded) return {}
  const {status, denial} = guarded
  return {
    hooks: {late: guarded.late, results: () => guarded.results},
    ...(status !== null && {row_status: status}),
    ...(denial !== null && {denial}),
  }
}

/** The denial of a request as the result that its client gets. Results of 2026-07-28 name their kind. */
export function deniedResult(guarded: GuardedCall, era: 'modern' | 'legacy'): string {
  const {denialText} = guarded
  return era === 'modern' ? `${denialText.slice(0, -1)},"resultType":"complete"}` : denialText
}
