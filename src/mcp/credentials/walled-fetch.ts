import {type Dispatcher, request} from 'undici'
import type {After} from '../../base/delay.ts'
import {EgressFault, refusalOf} from '../../base/egress/faults.ts'
import {joinPath} from '../../base/egress/path.ts'
import type {Egress} from '../../base/egress/pools.ts'
import type {Asker} from '../../base/egress/target.ts'
import {version} from '../../base/runtime.ts'
import type {HeaderFields} from '../wire/header-values.ts'
import {AuthServerFault} from './auth-server-fault.ts'

export interface WalledRequest {
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** The head alone is wanted; the body, which may never end, is given up. */
  readonly is_head_enough?: true
}

export interface WalledReply {
  readonly status: number
  readonly headers: HeaderFields
  readonly text: string
}

/**
 * Asks a server of keys, tokens or sign-ins, in the name of `asker`. Follows no redirect. Rejects with an
 * `AuthServerFault` where no whole answer within the bounds comes: `silent`, `late`, or `unfit` for a place that must
 * not be called.
 */
export type WalledFetch = (url: string, init: WalledRequest, asker: Asker) => Promise<WalledReply>

export const FETCH_TIMEOUT_MS = 10_000
const MAX_BYTES = 1 << 20

/** The way through the egress wall. */
export function walledFetch({
  egress,
  after,
}: {
  readonly egress: Pick<Egress, 'destination' | 'pool'>
  readonly after: After
}): WalledFetch {
  return async (url, init, asker) => {
    const late = new AbortController()
    const callOff = after(FETCH_TIMEOUT_MS, () => late.abort(new AuthServerFault('late', 'it took too long')))
    try {
      return await replyFrom(egress, url, init, asker, late.signal)
    } catch (fault) {
      throw late.signal.aborted ? late.signal.reason : faultOf(fault)
    } finally {
      callOff()
    }
  }
}

async function replyFrom(
  egress: Pick<Egress, 'destination' | 'pool'>,
  url: string,
  {method, headers, body, is_head_enough}: WalledRequest,
  asker: Asker,
  signal: AbortSignal,
): Promise<WalledReply> {
  const target = new URL(url)
  joinPath('', target.pathname)
  const destination = egress.destination(target.origin, asker)
  const reply = await request(target, {
    method: method as Dispatcher.HttpMethod,
    headers: {'user-agent': `gateway/${version}`, ...headers, 'accept-encoding': 'identity'},
    dispatcher: egress.pool(destination),
    signal,
    ...(body !== undefined && {body}),
  })
  const {statusCode: status, headers: fields} = reply
  if (is_head_enough) {
    reply.body.on('error', nothing).destroy()
    return {status, headers: fields, text: ''}
  }
  return {status, headers: fields, text: await textOf(reply.body)}
}

async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = []
  let length_bytes = 0
  for await (const part of body) {
    parts.push(part)
    length_bytes += part.length
    if (length_bytes > MAX_BYTES) throw new AuthServerFault('silent', `its answer has more than ${MAX_BYTES} bytes`)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** Sentences name no address and no secret. */
function faultOf(fault: unknown): AuthServerFault {
  if (fault instanceof AuthServerFault) return fault
  const {code, details} = refusalOf(fault, '')
  if (fault instanceof EgressFault && fault.kind !== 'blocked')
    return new AuthServerFault('silent', fault.reason, {fault})
  if (code === 'host.blocked')
    return new AuthServerFault('unfit', `its address may not be called: ${String(details.reason)}`, {fault})
  if (code === 'upstream.bad_reply') return new AuthServerFault('silent', String(details.reason), {fault})
  return new AuthServerFault('silent', 'the connection ended before its answer', {fault})
}

function nothing() {}
