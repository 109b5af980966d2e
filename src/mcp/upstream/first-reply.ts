import {headerValue} from '../wire/header-values.ts'
import type {RpcMessage} from '../wire/messages.ts'
import {SESSION_HEADER} from '../wire/standard-headers.ts'
import type {ProbeReply} from '../wire/upstream-era.ts'
import {CallDeadlines} from './deadlines.ts'
import {cancelled, nonsense} from './faults.ts'
import {type IncomingReply, isRedirect, type UpstreamHttp} from './http.ts'
import {bodyText, eventsOf, faultOfStatus, formOf, isAnswerTo, messagesIn} from './replies.ts'
import {EITHER_TYPE, JSON_TYPE} from './wire-parts.ts'

/** The id of the requests that open a conversation. */
export const FIRST_ID = 0
const SESSION_ID = /^[\x21-\x7e]{1,1024}$/

export interface FirstReply {
  /** A stream is read as far as its answer, which is the body then. */
  readonly reply: ProbeReply
  readonly session_id: string | null
  readonly www_authenticate: string | null
}

/** Sends a request that opens a conversation, and gives whatever comes: the era is read off it. */
export async function firstReply(
  http: UpstreamHttp,
  {headers, body}: {readonly headers: Readonly<Record<string, string>>; readonly body: string},
  {timeout_ms, signal}: {readonly timeout_ms: number; readonly signal?: AbortSignal | undefined},
): Promise<FirstReply> {
  const {server} = http.place
  if (signal?.aborted) throw cancelled(signal.reason)
  const deadlines = new CallDeadlines(http.services, {total_ms: timeout_ms, idle_ms: timeout_ms}, server)
  const abort = () => deadlines.end(cancelled(signal!.reason))
  signal?.addEventListener('abort', abort, {once: true})
  try {
    const sent = {...headers, 'content-type': JSON_TYPE, accept: EITHER_TYPE}
    const reply = await http.send({method: 'POST', headers: sent, body, signal: deadlines.signal})
    deadlines.begun()
    if (isRedirect(reply)) {
      reply.settle()
      throw faultOfStatus(reply, '', server)
    }
    const text = await textOf(reply, server)
    const id = headerValue(reply.headers, SESSION_HEADER) ?? null
    if (id !== null && !SESSION_ID.test(id)) throw nonsense(server, 'its session id has other than visible characters')
    return {
      reply: {status: reply.status, headers: {'content-type': typeOf(reply)}, body: text},
      session_id: id,
      www_authenticate: headerValue(reply.headers, 'www-authenticate') ?? null,
    }
  } finally {
    signal?.removeEventListener('abort', abort)
    deadlines.clear()
  }
}

function typeOf(reply: IncomingReply): string {
  return formOf(reply) === 'events' ? JSON_TYPE : (headerValue(reply.headers, 'content-type') ?? '')
}

async function textOf(reply: IncomingReply, server: string): Promise<string> {
  if (formOf(reply) !== 'events') return bodyText(reply, server)
  let answer: RpcMessage | undefined
  for await (const event of eventsOf(reply, server)) {
    answer = messagesIn(event, server).find(each => each.kind === 'answer' && isAnswerTo(each, FIRST_ID))
    if (answer) break
  }
  reply.settle()
  return answer?.text ?? ''
}
