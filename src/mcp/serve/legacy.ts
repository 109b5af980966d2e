import {isObject, own} from '../../base/json-member.ts'
import {memberText} from '../../base/json-splice.ts'
import {traceOf} from '../call/trace.ts'
import {SignInNeededFault, type UpstreamClient} from '../pool/source.ts'
import {agreedVersion, initializeResult} from '../relay/greeting.ts'
import {ClientSession, sessionDigest} from '../sessions/session.ts'
import {checkBatch, type LegacyHandshake, type LegacyPost} from '../wire/client-era.ts'
import {errorObjectText, McpFault} from '../wire/faults.ts'
import {answerText, paramsText, type RpcMessage, type RpcNotification, type RpcRequest} from '../wire/messages.ts'
import {DEFAULT_VERSION} from '../wire/versions.ts'
import {endOfAnswer, endOfFault, faultOf, headersOfFault, written} from './end.ts'
import {type McpExchange, metaOf, recordOf, type ServingParts} from './exchange.ts'
import {answerLegacy, type LegacyAnswer, type LegacyFacts} from './legacy-request.ts'
import {clientOf} from './session-client.ts'
import {signInFault} from './sign-in.ts'

/** The end of a stream can be had for so long. */
const KEPT_MS = 5 * 60_000
const NO_CLIENT = JSON.stringify({name: 'unknown', version: '0.0.0'})

/** Serves `initialize`: agrees with the upstream on a session, and begins one with the client. */
export async function serveHandshake(post: LegacyHandshake, exchange: McpExchange, parts: ServingParts): Promise<void> {
  const {message, version} = post
  const {reply, server, caller, request, validated} = exchange
  const {services, source, sessions} = parts
  const trace = traceOf(metaOf(message.params), request.headers, exchange.at_ms)
  const client_info = own(message.params, 'clientInfo')
  const id = sessions.newId()
  const record = recordOf(exchange, message, {trace, version, client_info, session_digest: sessionDigest(id)}, services)
  const ended = () => ({delivered: !reply.gone.aborted, rounds: 1, is_stream: reply.is_stream})
  try {
    const params = paramsText(message)!
    const capabilities = own(message.params, 'capabilities')
    const client: UpstreamClient = {
      ...{server, caller, validated, headers: request.headers, session_id: id},
      client_info: isObject(client_info) ? memberText(params, 'clientInfo')! : NO_CLIENT,
      client_capabilities: isObject(capabilities) ? memberText(params, 'capabilities')! : '{}',
    }
    const {hello, upstream_session} = await source.use(client, reply.gone, async upstream => ({
      hello: upstream.hello,
      upstream_session: upstream.session,
    }))
    const session = new ClientSession({
      ...{id, server, log_level: null, subscriptions: [], continued: undefined},
      version: agreedVersion(hello, version),
      client_info: client.client_info,
      client_capabilities: client.client_capabilities,
      capabilities: isObject(capabilities) ? capabilities : {},
    })
    await sessions.begin(session, server, caller, upstream_session)
    const text = initializeResult(hello, version, server)
    const answer = {kind: 'result', text, status: 200, outcome: 'ok', rpc_code: null, left_out: []} as const
    await written(record, endOfAnswer(answer, hello, ended()), services.log)
    reply.end(200, answerText(message.id_text, {result: text}), {'mcp-session-id': id})
  } catch (thrown) {
    const of_person = thrown instanceof SignInNeededFault ? signInFault(thrown, exchange, null) : thrown
    const fault = faultOf(of_person, services.log)
    await written(record, endOfFault(fault, 'legacy', ended()), services.log)
    reply.end(
      fault.httpFor('legacy'),
      answerText(message.id_text, {error: errorObjectText(fault)}),
      headersOfFault(fault),
    )
  }
}

/** The part of a legacy conversation that differs by the kind of server. */
export interface LegacyTaker {
  /** Never rejects. */
  answer(message: RpcRequest, facts: LegacyFacts): Promise<LegacyAnswer>
  /** Takes a notification that is not about a call. */
  passOn(
    notification: RpcNotification,
    session: ClientSession,
    exchange: McpExchange,
    parts: ServingParts,
  ): Promise<void>
}

const RELAYED: LegacyTaker = {answer: answerLegacy, passOn}

/** Serves any other POST of a legacy client: requests are answered, all else is taken with 202. */
export async function serveLegacy(
  post: LegacyPost,
  exchange: McpExchange,
  parts: ServingParts,
  taker: LegacyTaker = RELAYED,
): Promise<void> {
  const {server, caller, reply} = exchange
  const session = post.session_id === null ? null : await parts.sessions.find(post.session_id, server, caller)
  checkBatch(post, session?.version ?? null)
  for (const message of post.messages)
    if (message.kind !== 'request') await take(message, session, {exchange, parts, taker})
  const requests = post.messages.filter(message => message.kind === 'request')
  if (requests.length === 0) return reply.empty(202)
  const version = session?.version ?? post.version ?? DEFAULT_VERSION
  const answered = (message: RpcRequest) => taker.answer(message, {session, version, exchange, parts})
  if (!post.is_batch) return serveOne(requests[0]!, {session, version, exchange, parts}, taker)
  const answers = await Promise.all(requests.map(answered))
  if (reply.is_stream) {
    for (const {text} of answers) reply.event(text)
    return reply.close()
  }
  reply.end(200, `[${answers.map(({text}) => text).join(',')}]`)
}

/** The reply to one request: JSON, or a stream that the client may resume on another connection. */
async function serveOne(message: RpcRequest, facts: LegacyFacts, {answer}: LegacyTaker): Promise<void> {
  const {session, exchange, parts} = facts
  const {reply} = exchange
  const stream = session?.newStream()
  const events = {event: (text: string, id?: string) => reply.event(text, id), close: () => reply.close()}
  stream?.attach(events)
  const {text, status, headers, is_error} = await answer(message, {...facts, stream})
  const is_plain = !reply.is_stream && !reply.is_over && (!stream || stream.isTakenBy(events))
  if (is_plain || !session || !stream) {
    if (session && stream) session.forgetStream(stream)
    return reply.end(status, text, headers)
  }
  stream.finish(text, is_error)
  parts.services.after(KEPT_MS, () => session.forgetStream(stream))
}

/** Serves DELETE: the session ends here and at the upstream. */
export async function serveDelete(session_id: string, exchange: McpExchange, parts: ServingParts): Promise<void> {
  const session = await parts.sessions.find(session_id, exchange.server, exchange.caller)
  await parts.sessions.end(session)
  exchange.reply.empty(204)
}

/** A notification or an answer of a client. */
async function take(
  message: Exclude<RpcMessage, RpcRequest>,
  session: ClientSession | null,
  {exchange, parts, taker}: {exchange: McpExchange; parts: ServingParts; taker: LegacyTaker},
): Promise<void> {
  if (!session) return
  if (message.kind === 'answer') return session.answered(message)
  if (message.method === 'notifications/cancelled') {
    const id = own(message.params, 'requestId')
    if (typeof id === 'string' || typeof id === 'number') session.cancel(id)
    return
  }
  if (message.method === 'notifications/initialized') return
  await taker.passOn(message, session, exchange, parts)
}

/** Other notifications are the upstream's, where it has sessions. One that cannot be passed on is only noted. */
async function passOn(
  {method, text, params}: RpcNotification,
  session: ClientSession,
  exchange: McpExchange,
  {source, services}: ServingParts,
): Promise<void> {
  try {
    await source.use(clientOf(session, exchange), exchange.reply.gone, async upstream => {
      if (upstream.hello.era === 'legacy') await upstream.notify(method, params && memberText(text, 'params'))
    })
  } catch (thrown) {
    const fault = thrown instanceof McpFault ? thrown.reason : 'internal'
    services.log.warn(
      {method, fault, server: exchange.server.slug},
      'a notification of an MCP client was not passed on',
    )
  }
}
