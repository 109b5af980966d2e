import type {Readable} from 'node:stream'
import type {MaybePromise} from '../../base/maybe-promise.ts'
import {type McpEvent, McpEventReader} from '../wire/events.ts'
import {McpFault, printable} from '../wire/faults.ts'
import {headerValue} from '../wire/header-values.ts'
import {type RpcAnswer, type RpcMessage, type RpcNotification, type RpcRequest, readBody} from '../wire/messages.ts'
import {isModernError} from '../wire/upstream-era.ts'
import {
  EraDisprovedFault,
  nonsense,
  SessionLostFault,
  transportFault,
  UnauthorisedFault,
  unreachable,
} from './faults.ts'
import {type IncomingReply, isRedirect, MOST_RESULT_BYTES} from './http.ts'

/** Of a refusal so much is read. */
const MOST_REFUSAL_BYTES = 64 * 1024

export type ReplyForm = 'json' | 'events' | 'html' | 'other'

export function formOf({headers}: IncomingReply): ReplyForm {
  const type = (headerValue(headers, 'content-type') ?? '').split(';', 1)[0]!.trim().toLowerCase()
  if (type === 'text/event-stream') return 'events'
  if (type === 'application/json' || type.endsWith('+json')) return 'json'
  return type === 'text/html' || type === 'application/xhtml+xml' ? 'html' : 'other'
}

/** The whole body. Throws `result_too_large` where it is longer than a result may be. */
export async function bodyText(reply: IncomingReply, server: string): Promise<string> {
  try {
    return await wholeText(reply.body)
  } catch (fault) {
    throw bodyFault(fault, reply, server)
  }
}

/** By events: an iterator over a body costs a hundredth of a call. */
function wholeText(body: Readable): Promise<string> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    let length = 0
    body.on('data', (part: Buffer) => {
      length += part.length
      if (length > MOST_RESULT_BYTES) reject(new McpFault('result_too_large', {limit: MOST_RESULT_BYTES}))
      else parts.push(part)
    })
    body.once('error', reject)
    body.once('end', () => resolve((parts.length === 1 ? parts[0]! : Buffer.concat(parts)).toString('utf8')))
    body.once('close', () => {
      // a body that was given up ends without a word
      if (!body.readableEnded) reject(body.errored ?? new Error('The answer ended before its time.'))
    })
    if (body.destroyed) reject(body.errored ?? new Error('The answer ended before its time.'))
  })
}

/** The text of a refusal, as far as it is of use. */
export async function refusalText(reply: IncomingReply, server: string): Promise<string> {
  const parts: Buffer[] = []
  let length = 0
  try {
    for await (const part of reply.body as AsyncIterable<Buffer>) {
      parts.push(part)
      length += part.length
      if (length > MOST_REFUSAL_BYTES) break
    }
  } catch (fault) {
    throw bodyFault(fault, reply, server)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** The events of a body as they come; `alive` hears of all bytes. The body is not ended when they are given up. */
export async function* eventsOf(
  reply: IncomingReply,
  server: string,
  alive: () => void = nothing,
): AsyncGenerator<McpEvent, void> {
  const reader = new McpEventReader(MOST_RESULT_BYTES)
  try {
    for await (const chunk of reply.body.iterator({destroyOnReturn: false}) as AsyncIterable<Buffer>) {
      alive()
      yield* reader.push(chunk)
    }
  } catch (fault) {
    throw bodyFault(fault, reply, server)
  }
}

/** The messages of an event: none of one that is there for its id, several of a batch. */
export function messagesIn(event: McpEvent, server: string): readonly RpcMessage[] {
  // stores of events repeat the first one of a stream as an empty object
  if (event.event !== 'message' || event.data === '' || event.data === '{}') return []
  return messagesOf(event.data, server)
}

export function messagesOf(text: string, server: string): readonly RpcMessage[] {
  try {
    const body = readBody(text)
    return Array.isArray(body) ? body : [body as RpcMessage]
  } catch (fault) {
    throw fault instanceof McpFault ? nonsense(server, fault.message, fault) : fault
  }
}

/** The answer to a request in a reply of JSON; other messages beside it go to `other`. */
export async function answerIn(
  reply: IncomingReply,
  id: number,
  server: string,
  other: (message: RpcRequest | RpcNotification) => MaybePromise<void>,
): Promise<RpcAnswer> {
  const text = await bodyText(reply, server)
  if (text === '') throw nonsense(server, `it answered with status ${reply.status} and no body`)
  let answer: RpcAnswer | undefined
  for (const message of messagesOf(text, server)) {
    if (message.kind !== 'answer') await other(message)
    else if (isAnswerTo(message, id)) answer ??= message
  }
  if (!answer) throw nonsense(server, 'it answered another request than the one that it got')
  return answer
}

/** True for the answer to a request; the error of one that the upstream could not read has no id. */
export function isAnswerTo(answer: RpcAnswer, id: number): boolean {
  return answer.id === id || (answer.id === null && answer.error !== undefined)
}

/** Errors of requests, as opposed to those of sessions: they are answers whatever their status. */
const REQUEST_ERRORS: ReadonlySet<number> = new Set([-32601, -32602, -32603])

/** The answer in a reply whose status is none of success. Throws what it says otherwise. */
export async function refusedAnswer(
  reply: IncomingReply,
  {id, server, session}: {readonly id: number; readonly server: string; readonly session: 'has' | 'none' | 'modern'},
): Promise<RpcAnswer> {
  const {status, headers} = reply
  if (status === 401 || status === 403) {
    reply.settle()
    throw new UnauthorisedFault(status, headerValue(headers, 'www-authenticate') ?? null)
  }
  const text = await refusalText(reply, server)
  const answer = formOf(reply) === 'html' ? null : errorIn(text, id)
  const is_own = answer?.id === id
  if (session === 'modern') {
    if (answer?.error?.code === VERSION_UNSERVED) throw new EraDisprovedFault(status)
    if (answer && (is_own || isModernError(status, answer))) return answer
    if (status === 400 || status === 404) throw new EraDisprovedFault(status)
  } else {
    if (answer && is_own && REQUEST_ERRORS.has(answer.error!.code)) return answer
    if (session === 'has' && (status === 404 || (status === 400 && !(answer && isNewer(answer)))))
      throw new SessionLostFault(status)
    if (answer && isNewer(answer) && status === 400) throw new EraDisprovedFault(status)
    if (answer && is_own && status !== 404 && status !== 410) return answer
  }
  throw faultOfStatus(reply, text, server)
}

const VERSION_UNSERVED = -32022

/** Errors of the revision 2026-07-28 alone. */
function isNewer({error}: RpcAnswer): boolean {
  return error !== undefined && error.code <= -32020 && error.code >= VERSION_UNSERVED
}

function errorIn(text: string, id: number): RpcAnswer | null {
  try {
    const body = readBody(text)
    const answers = (Array.isArray(body) ? body : [body as RpcMessage]).filter(each => each.kind === 'answer')
    return answers.find(each => each.error !== undefined && isAnswerTo(each, id)) ?? null
  } catch {
    return null
  }
}

/** The fault of a status that is no answer; of its text so much is repeated as a person may want. */
export function faultOfStatus(reply: IncomingReply, text: string, server: string): McpFault {
  const {status} = reply
  if (isRedirect(reply)) return nonsense(server, `it leads to another address (status ${status})`)
  const shown = formOf(reply) === 'html' ? '' : printable(text.trim())
  const words = `it answered with status ${status}${shown === '' ? '' : `: ${shown}`}`
  return status >= 500 || status === 429 ? unreachable(server, words) : nonsense(server, words)
}

function bodyFault(fault: unknown, {body}: IncomingReply, server: string): Error {
  body.destroy()
  if (fault instanceof Error && 'code' in fault && /^(?:Z_|ERR__|ZSTD_)/.test(String(fault.code)))
    return nonsense(server, 'its answer is not in the content-encoding that it names', fault)
  return transportFault(fault, server)
}

function nothing() {}
