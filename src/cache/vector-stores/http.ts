import {request} from 'undici'
import {EgressFault} from '../../base/egress/faults.ts'
import type {Egress} from '../../base/egress/pools.ts'
import {Refusal} from '../../base/errors.ts'
import {parsed} from '../../base/json-object.ts'
import {VectorStoreFault} from './fault.ts'

export interface StoreAddress {
  /** Scheme, host and the path before all others. */
  readonly url: string
  /** The host that the operator named: it alone may be private. */
  readonly host: string
  /** Go to this address and to no other. */
  readonly headers: Readonly<Record<string, string>>
}

export interface StoreReply {
  readonly status: number
  /** Undefined where it is no JSON. */
  readonly body: unknown
}

/** One request. Rejects with a VectorStoreFault where no whole answer came until `signal`. */
export type StoreCall = (
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  body: object | null,
  signal: AbortSignal,
) => Promise<StoreReply>

/** Makes calls to an address. */
export type OpenStoreCall = (address: StoreAddress) => StoreCall

/** Thirty vectors of 8,192 places and their entries. */
const MAX_ANSWER_BYTES = 8 << 20

/** Calls go through the wall. No redirect is followed: a credential stays with the host that it was given for. */
export function openStoreCall(egress: Pick<Egress, 'destination' | 'pool'>): OpenStoreCall {
  return ({url, host, headers: own}) => {
    const asker = {kind: 'integration', id: 'vector-store', host} as const
    return async (method, path, body, signal) => {
      try {
        const place = egress.destination(url, asker)
        const headers = {accept: 'application/json', ...(body && {'content-type': 'application/json'}), ...own}
        const sent = body && JSON.stringify(body)
        const target = place.origin + place.basePath + path
        const reply = await request(target, {method, headers, body: sent, dispatcher: egress.pool(place), signal})
        return {status: reply.statusCode, body: parsed(await textOf(reply.body))}
      } catch (fault) {
        throw storeFaultOf(fault)
      }
    }
  }
}

async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of body) {
    bytes += part.length
    if (bytes > MAX_ANSWER_BYTES) throw new VectorStoreFault('failed', 'its answer is too long')
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}

/** The fault of a store for anything that was thrown; its reason names no address. */
export function storeFaultOf(fault: unknown): VectorStoreFault {
  if (fault instanceof VectorStoreFault) return fault
  const cause = {cause: fault}
  if (fault instanceof EgressFault) return new VectorStoreFault('failed', fault.reason, cause)
  if (fault instanceof Refusal && fault.code === 'host.blocked')
    return new VectorStoreFault('unfit', `its address may not be called: ${String(fault.details.reason)}`, cause)
  const is_late = fault instanceof Error && (fault.name === 'TimeoutError' || fault.name === 'AbortError')
  return new VectorStoreFault('failed', is_late ? NO_ANSWER : 'the connection failed', cause)
}

export const NO_ANSWER = 'it did not answer in time'
