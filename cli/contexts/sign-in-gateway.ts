import {isObject} from '../../src/base/json-object.ts'
import {refused} from '../connect.ts'
import {CommandFault, EXIT} from '../fault.ts'
import {openThere} from '../remote.ts'
import type {Request, TransportReply} from '../transport.ts'

const MOST = {bytes: 64 * 1024, ms: 15_000}
const LONGEST = 320
/** Characters that a header can carry. */
const TOKEN = /^[\x21-\x7e]{16,8192}$/

/** The gateway at which a command line signs in. */
export interface SignInPlace {
  readonly url: string
  /** Authorities to trust, PEM; the usual ones where undefined. */
  readonly ca: readonly string[] | undefined
  /** Ends open requests. */
  readonly signal: AbortSignal
  readonly most?: {readonly bytes: number; readonly ms: number}
}

/** A session of the command line as a gateway opens it. */
export interface ShownSession {
  readonly token: string
  /** ISO 8601 UTC. */
  readonly expires_at: string
}

/** An answer to a request with or without a key, whatever its status. Each is small and comes soon, or is none. */
export async function askGateway(place: SignInPlace, request: Request, api_key?: string): Promise<TransportReply> {
  const {url, ca, signal, most = MOST} = place
  const transport = await openThere({url, api_key, ...(ca && {ca}), most, signal})
  try {
    return await transport.send(request)
  } catch (fault) {
    throw signal.aborted ? interrupted() : fault
  } finally {
    await transport.close()
  }
}

/** The object of a good answer. Throws the fault of a refusal, and of what is no answer of a gateway. */
export function answered(
  {url}: Pick<SignInPlace, 'url'>,
  {status, body}: TransportReply,
  next: string,
): Readonly<Record<string, unknown>> {
  if (status === 404 || (status < 400 && !isObject(body))) throw noGateway(url)
  if (status >= 400) throw refused(status, isObject(body) ? body : undefined, {kind: 'there', if_unknown: next})
  return body as Readonly<Record<string, unknown>>
}

/** The session of an answer. Throws a fault where it is none that could be kept. */
export function sessionIn(url: string, body: Readonly<Record<string, unknown>>): ShownSession {
  const {token, expires_at} = body
  const at_ms = typeof expires_at === 'string' && expires_at.length <= 40 ? Date.parse(expires_at) : Number.NaN
  if (typeof token !== 'string' || !TOKEN.test(token) || Number.isNaN(at_ms)) throw noGateway(url)
  return {token, expires_at: new Date(at_ms).toISOString()}
}

/** The short text of a member of an answer; undefined where it has none. */
export function shortText(value: unknown, name: string): string | undefined {
  const text = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
  return typeof text === 'string' && text !== '' && text.length <= LONGEST ? text : undefined
}

export function noGateway(url: string): CommandFault {
  return new CommandFault(`What answers at ${url} is no gateway at which a command line can sign in.`, {
    exit: EXIT.failure,
    code: 'no_gateway',
    next: 'Check the address; an older gateway takes a key: gateway login URL --key-stdin.',
  })
}

export function interrupted(): CommandFault {
  return new CommandFault('Signing in was stopped; nothing was kept.', {exit: EXIT.failure, code: 'interrupted'})
}

/** The fault of a sign-in that ended without a session; `error` is the gateway's word for it. */
export function endedWithout(error: string): CommandFault {
  if (error === 'access_denied')
    return new CommandFault('The sign-in was refused in the browser; nothing was kept.', {
      exit: EXIT.refused,
      code: 'access_denied',
    })
  if (error === 'expired_token')
    return new CommandFault('Nobody confirmed the sign-in in time; nothing was kept.', {
      exit: EXIT.failure,
      code: 'expired_token',
      next: 'Begin again: gateway login',
    })
  return new CommandFault('The gateway does not take this sign-in; nothing was kept.', {
    exit: EXIT.failure,
    code: 'invalid_grant',
    next: 'Begin again: gateway login',
  })
}
