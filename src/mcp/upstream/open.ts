import {randomInt} from 'node:crypto'
import {isObject, type JsonObject} from '../../base/json-member.ts'
import {parsed} from '../../base/json-object.ts'
import {type RpcAnswer, requestText} from '../wire/messages.ts'
import {answerIn, initializeVerdict, isModernError} from '../wire/upstream-era.ts'
import {isLegacyVersion, LEGACY_VERSIONS} from '../wire/versions.ts'
import {CallDeadlines} from './deadlines.ts'
import {cancelled, EraDisprovedFault, nonsense, SessionLostFault, UnauthorisedFault, unreachable} from './faults.ts'
import {FIRST_ID, type FirstReply, firstReply} from './first-reply.ts'
import {helloOf} from './hello.ts'
import {UpstreamHttp} from './http.ts'
import {SseWire} from './http-sse.ts'
import {LegacyUpstream} from './legacy.ts'
import {MessageRouter} from './message-router.ts'
import {ModernUpstream} from './modern.ts'
import {OpenCall} from './open-call.ts'
import {probe} from './probe.ts'
import {CallTable, mayBeAsked} from './questions.ts'
import {StandingStream} from './standing-stream.ts'
import {StreamableWire} from './streamable.ts'
import type {
  EraFinding,
  HeaderSource,
  Hello,
  McpUpstream,
  OpenedUpstream,
  UpstreamOptions,
  UpstreamPlace,
  UpstreamServices,
} from './upstream.ts'

/** Ids of a continued conversation begin below it: they stay small numbers for any server. */
const MOST_FIRST_ID = 2 ** 30

/**
 * Opens a conversation with an upstream: by what is known of it, else after a probe. Rejects with an `McpFault`,
 * `UnauthorisedFault`, or an AbortError; the era found before stays then.
 */
export async function openUpstream(
  place: UpstreamPlace,
  headers: HeaderSource,
  options: UpstreamOptions,
  services: UpstreamServices,
): Promise<OpenedUpstream> {
  const {session, hello, known} = options
  const http = new UpstreamHttp(place, headers, services, session?.url)
  const modern = (of: Hello) => new ModernUpstream(http, of, options, options.timeout_ms)
  const found = (era: EraFinding['era'], upstream: McpUpstream, transport: EraFinding['transport'] = 'http') => ({
    upstream,
    finding: {era, transport, at_ms: services.wall()},
  })
  if (session) {
    // another process may have calls in it: equal ids would have the server answer one of two
    const last_id = randomInt(MOST_FIRST_ID)
    return {upstream: streamable(http, options, session.hello, session.id, last_id), finding: null}
  }
  if (place.transport === 'sse') return found('legacy', await openSse(http, options), 'sse')
  if (known?.era === 'modern' && hello?.era === 'modern') return {upstream: modern(hello), finding: null}
  if (known?.era === 'legacy') {
    try {
      if (known.transport === 'sse') return {upstream: await openSse(http, options), finding: null}
      const {upstream, finding} = await legacy(false)
      return {upstream, finding: finding?.transport === known.transport ? null : finding}
    } catch (fault) {
      if (!(fault instanceof EraDisprovedFault)) throw fault
    }
  }
  const outcome = await probe(http, options)
  if (outcome.era === 'modern') return found('modern', modern(outcome.hello))
  try {
    return await legacy(outcome.is_refused)
  } catch (fault) {
    throw fault instanceof EraDisprovedFault
      ? nonsense(place.server, 'it takes neither era of the protocol', fault)
      : fault
  }

  async function legacy(is_refused: boolean): Promise<OpenedUpstream> {
    const upstream = await initialize(http, options, is_refused)
    return upstream ? found('legacy', upstream) : found('legacy', await openSse(http, options), 'sse')
  }
}

/** The handshake over Streamable HTTP; null where that is refused, and HTTP+SSE may be tried. */
async function initialize(
  http: UpstreamHttp,
  options: UpstreamOptions,
  is_refused: boolean,
): Promise<McpUpstream | null> {
  const {server, transport} = http.place
  const first = await firstReply(http, {headers: {}, body: initializeText(options)}, options)
  const {reply} = first
  const answer = answerIn(reply.headers, reply.body)
  if (reply.status === 400 && isNewer(answer)) throw new EraDisprovedFault(reply.status)
  const verdict = initializeVerdict(reply, options.credential, transport === null && !is_refused)
  switch (verdict.verdict) {
    case 'legacy':
      return initialized(http, options, first, verdict.answer)
    case 'try_sse':
      return null
    case 'sign_in':
      throw new UnauthorisedFault(reply.status, first.www_authenticate)
    case 'none':
      if (reply.status === 401 || reply.status === 403)
        throw new UnauthorisedFault(reply.status, first.www_authenticate)
      throw reply.status >= 500 ? unreachable(server, verdict.reason) : nonsense(server, verdict.reason)
  }
}

/** An error that no legacy server gives: what was taken for one is modern by now. */
function isNewer(answer: RpcAnswer | null): boolean {
  const code = answer?.error?.code ?? 0
  return code <= -32020 && code >= -32022 && isModernError(400, answer)
}

async function initialized(
  http: UpstreamHttp,
  options: UpstreamOptions,
  {session_id}: FirstReply,
  answer: RpcAnswer,
): Promise<McpUpstream> {
  const hello = helloOf(answer, 'legacy', versionOf(answer, http.place.server))
  const upstream = streamable(http, options, hello, session_id)
  try {
    await upstream.notify('notifications/initialized', undefined)
  } catch (fault) {
    await upstream.close()
    throw fault instanceof SessionLostFault ? nonsense(http.place.server, 'it forgot the session that it began') : fault
  }
  upstream.begin()
  return upstream
}

/** A conversation over Streamable HTTP. `last_id`: of one that is continued, whose stream opens at once. */
function streamable(
  http: UpstreamHttp,
  options: UpstreamOptions,
  hello: Hello,
  session_id: string | null,
  last_id?: number,
): LegacyUpstream {
  const capabilities = capabilitiesOf(options)
  const router = new MessageRouter(new CallTable(capabilities), options.onListChange)
  const wire = new StreamableWire(http, {session_id, version: hello.protocol_version, taker: router})
  const {server} = http.place
  const standing = new StandingStream({
    ...{server, clock: http.services, taker: router},
    get: (last_id, signal) => wire.get(last_id, signal, true),
  })
  const needs_stream = mayBeAsked(capabilities)
  const {timeout_ms} = options
  const upstream = new LegacyUpstream({
    ...{http, wire, router, hello, standing, needs_stream, timeout_ms, session_id},
    ...(last_id !== undefined && {last_id}),
  })
  if (last_id !== undefined) upstream.begin()
  return upstream
}

/** The handshake over HTTP+SSE. */
async function openSse(http: UpstreamHttp, options: UpstreamOptions): Promise<McpUpstream> {
  const {server} = http.place
  const {timeout_ms, signal} = options
  const router = new MessageRouter(new CallTable(capabilitiesOf(options)), options.onListChange)
  const deadlines = new CallDeadlines(http.services, {total_ms: timeout_ms, idle_ms: timeout_ms}, server)
  const abort = () => deadlines.end(cancelled(signal!.reason))
  signal?.addEventListener('abort', abort, {once: true})
  if (signal?.aborted) abort()
  let wire: SseWire | undefined
  try {
    wire = await SseWire.open(http, router, () => router.end(new SessionLostFault(null)), deadlines.signal)
    const sink = {notification: nothing, question: nothing}
    const call = new OpenCall({id: FIRST_ID, method: 'initialize', params: undefined, sink, deadlines, server})
    const answer = await wire.exchange(call, initializeText(options))
    const {error} = answer
    if (error) throw nonsense(server, `it answered initialize with the error ${error.code}`)
    const version = versionOf(answer, server)
    wire.version = version
    const hello = helloOf(answer, 'legacy', version)
    const parts = {http, wire, router, hello, standing: null, needs_stream: false, timeout_ms, session_id: null}
    const upstream = new LegacyUpstream(parts)
    await upstream.notify('notifications/initialized', undefined)
    return upstream
  } catch (fault) {
    await wire?.end()
    throw fault instanceof SessionLostFault ? nonsense(server, 'it forgot the session that it began') : fault
  } finally {
    signal?.removeEventListener('abort', abort)
    deadlines.clear()
  }
}

function initializeText({client_info, client_capabilities}: UpstreamOptions): string {
  const of_client = `"capabilities":${client_capabilities},"clientInfo":${client_info}`
  const params = `{"protocolVersion":"${LEGACY_VERSIONS[0]}",${of_client}}`
  return requestText(String(FIRST_ID), 'initialize', params)
}

/** The revision that the upstream chose. */
function versionOf({result}: RpcAnswer, server: string): string {
  const version = result?.protocolVersion
  if (typeof version === 'string' && isLegacyVersion(version)) return version
  throw nonsense(server, `it speaks the revision ${typeof version === 'string' ? version : 'of no name'}`)
}

function capabilitiesOf({client_capabilities}: UpstreamOptions): JsonObject {
  const capabilities = parsed(client_capabilities)
  return isObject(capabilities) ? capabilities : {}
}

function nothing() {}
