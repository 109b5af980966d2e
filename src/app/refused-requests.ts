import type {IncomingMessage, ServerResponse} from 'node:http'
import type {Socket} from 'node:net'
import type {FastifyError, FastifyReply, FastifyRequest} from 'fastify'
import {Refusal} from '../base/errors.ts'
import {newTimeId} from '../base/ids.ts'
import {refusalText} from '../base/ingress/refusal-text.ts'
import type {Log} from '../base/log.ts'
import {maskedUrl} from '../base/masked-url.ts'
import {refusalIdHeaders} from '../schema/headers.ts'

/** Headers may hold a whole config. */
export const MAX_HEADER_BYTES = 64 << 10

/**
 * Answers what the HTTP parser could not read, as everything else is refused: with an id and a sentence that says what
 * to mend.
 */
export function refuseUnread(fault: Error & {readonly code?: string}, socket: Socket): void {
  // a peer that left hears nothing
  if (fault.code === 'ECONNRESET' || socket.destroyed) return
  if (socket.writable) socket.write(refusalText(unread(fault)), 'latin1')
  socket.destroySoon()
}

function unread({code, message}: Error & {readonly code?: string}): Refusal {
  if (code === 'HPE_HEADER_OVERFLOW') return new Refusal('request.head_too_large', {limit_kb: MAX_HEADER_BYTES >> 10})
  return new Refusal('request.malformed', {reason: message.replace(/^Parse Error:? */, '') || 'it cannot be read'})
}

/** True for a request with several Host headers: servers would differ in which one counts. */
export function hasSeveralHosts({rawHeaders}: Pick<IncomingMessage, 'rawHeaders'>): boolean {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    if (name.length === HOST.length && name.toLowerCase() === HOST) hosts++
  }
  return hosts > 1
}

const HOST = 'host'

/** Answers such a request (RFC 9112, section 3.2). */
export function refuseHosts(response: ServerResponse): void {
  const {status, message, codes} = new Refusal('request.malformed', {reason: 'it has more than one Host header'})
  const ids = refusalIdHeaders({}, newTimeId(Date.now()))
  const headers = {'content-type': 'application/json; charset=utf-8', ...ids, connection: 'close'}
  response
    .writeHead(status, headers)
    .end(JSON.stringify({error: {message, type: codes.type, param: null, code: codes.code}}))
}

/**
 * Refusals of the router or a parser of bodies outside of the administration, in our envelope; our own faults are
 * logged.
 */
export function refuseRequest(fault: FastifyError, request: FastifyRequest, reply: FastifyReply, log: Log) {
  const id = newTimeId(Date.now())
  reply.headers(refusalIdHeaders(request.headers, id))
  const refusal = fault instanceof Refusal ? fault : refusalOf(fault)
  if (refusal.code === 'internal')
    log.error(
      {fault, trace_id: id, path: maskedUrl(request.url.split('?', 1)[0]!)},
      'a request failed inside the gateway',
    )
  const {status, message, codes} = refusal
  return reply.code(status).send({success: false, ok: false, message, data: {message, errorCode: codes.admin}})
}

function refusalOf(fault: FastifyError): Refusal {
  const {statusCode = 500} = fault
  if (statusCode < 400 || statusCode >= 500) return new Refusal('internal', {}, {cause: fault})
  return new Refusal('request.malformed', {reason: fault.message}, {cause: fault})
}
