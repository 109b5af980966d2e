import type {IncomingHttpHeaders} from 'node:http'
import {type AddressRange, isWithin, readAddress, readRange} from '../egress/address.ts'
import {type ClientRequest, remoteAddressOf} from './request.ts'

/** A request, as far as it says where it came from. */
export interface AddressedRequest {
  readonly headers: IncomingHttpHeaders
  readonly socket: {readonly remoteAddress?: string | undefined}
}

/**
 * The address of the client. Behind proxies in `trusted` (addresses and CIDR ranges) it is the last one that none of
 * them has, of X-Forwarded-For or Forwarded; else that of the socket, whatever the headers say: anybody can write them.
 * Where both headers are there and differ, one is the client's own word, and neither counts. Empty where the socket is
 * gone.
 */
export function clientAddress({headers, socket}: AddressedRequest, trusted: readonly string[]): string {
  const peer = socket.remoteAddress ?? ''
  if (trusted.length === 0) return peer
  const ranges = rangesOf(trusted)
  const {'x-forwarded-for': list, forwarded} = headers
  if (list === undefined && forwarded === undefined) return peer
  const [first, ...others] = [
    ...(list === undefined ? [] : [listed(String(list))]),
    ...(forwarded === undefined ? [] : [named(forwarded)]),
  ].map(hops => nearest(peer, hops, ranges))
  return others.every(each => each === first) ? first! : peer
}

/** The same of a call, however it was read; null where its socket is gone. */
export function clientAddressOf(call: ClientRequest, trusted: readonly string[]): string | null {
  const peer = remoteAddressOf(call)
  if (peer === null) return null
  return clientAddress({headers: call.headers, socket: {remoteAddress: peer}}, trusted)
}

/** Walks back from the socket for as long as the one who wrote an entry is trusted. */
function nearest(peer: string, hops: readonly (string | null)[], ranges: readonly AddressRange[]): string {
  let address = peer
  for (const hop of hops.toReversed()) {
    const value = readAddress(address)
    if (value === undefined || !isWithin(ranges, value) || hop === null) return address
    address = hop
  }
  return address
}

/** The entries of X-Forwarded-For; null for one that is no address. */
function listed(text: string): (string | null)[] {
  return text.split(',').map(entry => addressIn(entry.trim()))
}

/** The `for` of each element of Forwarded (RFC 7239); null where it hides itself. */
function named(text: string): (string | null)[] {
  return text.split(',').map(element => {
    const pair = element.split(';').find(each => /^\s*for=/i.test(each))
    return pair === undefined
      ? null
      : addressIn(
          pair
            .slice(pair.indexOf('=') + 1)
            .replace(/^\s*"|"\s*$/g, '')
            .trim(),
        )
  })
}

/** An address with a port or without one. */
function addressIn(text: string): string | null {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\](?::\w+)?|([\d.]+)(?::\w+)?)$/.exec(text) ?? []
  const address = bracketed ?? plain ?? text
  return readAddress(address) === undefined ? null : address
}

const known = new WeakMap<readonly string[], readonly AddressRange[]>()

function rangesOf(trusted: readonly string[]): readonly AddressRange[] {
  const found = known.get(trusted) ?? trusted.flatMap(text => readRange(text) ?? [])
  known.set(trusted, found)
  return found
}
