import {CommandFault, EXIT} from './fault.ts'
import type {Transport, TransportReply} from './transport.ts'

export interface There {
  /** Base address of a gateway, with or without `/v1` at its end. */
  readonly url: string
  readonly api_key: string | undefined
  /** Authorities to trust, PEM; without it, the usual ones. */
  readonly ca?: readonly string[]
  readonly if_unknown?: string
  /** Of an answer: its bytes, and the milliseconds until all of it is there. */
  readonly most?: {readonly bytes: number; readonly ms: number}
  /** Ends open requests. */
  readonly signal?: AbortSignal
}

const CONNECT_TIMEOUT_MS = 10_000
const MAX_REPLY_BYTES = 256 * 2 ** 20

/**
 * A gateway at a URL, called with an API key. Redirects are not followed: the key goes nowhere but to the address it
 * was given for.
 */
export async function openThere({url, api_key, ca, if_unknown, most, signal}: There): Promise<Transport> {
  const {Agent, request} = await import('undici')
  const dispatcher = new Agent({
    connect: {timeout: CONNECT_TIMEOUT_MS, ...(ca && {ca: [...ca]})},
    maxResponseSize: most?.bytes ?? MAX_REPLY_BYTES,
  })
  const root = url.replace(/\/+$/, '').replace(/\/v1$/, '')
  return {
    kind: 'there',
    ...(if_unknown && {if_unknown}),
    async send({method, path, body, headers: own, onEvent}): Promise<TransportReply> {
      const headers = {
        accept: onEvent ? 'application/json, text/event-stream' : 'application/json',
        ...(body !== undefined && {'content-type': 'application/json'}),
        ...(api_key !== undefined && {'x-gateway-api-key': api_key}),
        ...own,
      }
      const ends = [...(signal ? [signal] : []), ...(most ? [AbortSignal.timeout(most.ms)] : [])]
      try {
        const reply = await request(`${root}${path}`, {
          method: method as 'GET',
          headers,
          dispatcher,
          ...(ends.length && {signal: AbortSignal.any(ends)}),
          ...(body !== undefined && {body: typeof body === 'string' ? body : JSON.stringify(body)}),
        })
        const is_stream = onEvent !== undefined && /^text\/event-stream\b/.test(String(reply.headers['content-type']))
        if (is_stream && reply.statusCode < 300)
          return {
            status: reply.statusCode,
            body: await (await import('./event-stream.ts')).replyOfEvents(reply.body, onEvent),
          }
        const text = await reply.body.text()
        if (reply.statusCode >= 300 && reply.statusCode < 400) throw redirected(root, reply.headers.location)
        return {status: reply.statusCode, body: parsed(text)}
      } catch (error) {
        throw error instanceof CommandFault ? error : unreachable(root, error)
      }
    },
    close: () => dispatcher.close(),
  }
}

function parsed(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

function redirected(root: string, location: unknown): CommandFault {
  const to = typeof location === 'string' ? ` to ${location.split('?', 1)[0]}` : ''
  return new CommandFault(`${root} redirects${to}.`, {
    exit: EXIT.failure,
    code: 'redirect',
    next: 'Give the address of the gateway itself with --url.',
  })
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the host name could not be resolved',
  ECONNRESET: 'the connection was closed',
  UND_ERR_SOCKET: 'the connection was closed',
  UND_ERR_CONNECT_TIMEOUT: `no connection within ${CONNECT_TIMEOUT_MS / 1000} seconds`,
  UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
  UND_ERR_BODY_TIMEOUT: 'the answer stopped half way',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'the answer is larger than one of a gateway',
  TimeoutError: 'no answer in time',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed (NODE_EXTRA_CA_CERTS names authorities to trust)',
  SELF_SIGNED_CERT_IN_CHAIN:
    'its certificate is of an unknown authority (NODE_EXTRA_CA_CERTS names authorities to trust)',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'its certificate is of an unknown authority (NODE_EXTRA_CA_CERTS names authorities to trust)',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
}

function unreachable(root: string, cause: unknown): CommandFault {
  const {name, code = ''} = cause as NodeJS.ErrnoException
  const reason = REASONS[String(code)] ?? REASONS[name] ?? (cause instanceof Error ? cause.message : String(cause))
  return new CommandFault(`The gateway at ${root} could not be reached: ${reason}.`, {
    exit: EXIT.failure,
    code: 'unreachable',
    next: 'Check that it runs there, or name another with --url.',
    cause,
  })
}
