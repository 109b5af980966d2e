import {isIP} from 'node:net'
import {type AddressRange, isWithin, readAddress, readRange} from './address.ts'
import {hasSuffix} from './names.ts'

/** A set of hosts given by name, by domain or by address. */
export interface HostList {
  /** True when the list has `hostname`: lower case, an IPv6 address without brackets. */
  names(hostname: string): boolean
  /** True when one of the list's addresses or ranges holds `address`. */
  covers(address: string): boolean
}

/** One line of a host list, read: a name, a domain with all below it, or a range of addresses. */
export type HostEntry =
  | {readonly name: string}
  | {readonly domain: string}
  | {readonly range: AddressRange; readonly text: string}

export const NO_HOSTS: HostList = hostList([])

/** The list that says every one of `entries`. */
export function hostList(entries: readonly HostEntry[]): HostList {
  const exact = new Set(entries.flatMap(entry => ('name' in entry ? [entry.name] : [])))
  const domains = new Set(entries.flatMap(entry => ('domain' in entry ? [entry.domain] : [])))
  const ranges = entries.flatMap(entry => ('range' in entry ? [entry.range] : []))
  const covers = (address: string) => {
    const value = readAddress(address)
    return value !== undefined && isWithin(ranges, value)
  }
  return {
    covers,
    names: hostname => (isIP(hostname) ? covers(hostname) : exact.has(hostname) || hasSuffix(hostname, domains)),
  }
}

/**
 * One entry as an operator writes it: `host`, `*.domain`, `10.1.2.3`, `[fd00::1]`, `10.0.0.0/8`, or a URL, of which the
 * host counts. Undefined when it is none of them.
 */
export function readHostEntry(text: string): HostEntry | undefined {
  const trimmed = text.trim().toLowerCase()
  if (trimmed.startsWith('*.')) return isName(trimmed.slice(2)) ? {domain: trimmed.slice(2)} : undefined
  const [, ofUrl] = /^https?:\/\/([^/?#@:[]+|\[[^\]]*\])(?::\d{1,5})?(?:\/[^?#@]*)?$/.exec(trimmed) ?? []
  const host = (ofUrl ?? trimmed).replace(/^\[(.*)\]$/, '$1')
  const range = readRange(host)
  if (range) return {range, text: host}
  return isName(host) ? {name: host} : undefined
}

/**
 * True when `text` is a host name: labels of lower-case letters, digits and inner hyphens, 63 characters each and 253
 * in all (RFC 1123, 2.1). Underscores pass, for containers are named with them. A name that ends in a number is none: a
 * URL parser would take it for an IPv4 address (WHATWG URL, "ends in a number").
 */
export function isName(text: string): boolean {
  return text.length <= 253 && text.split('.').every(isLabel) && !endsInNumber(text)
}

/**
 * True when a URL parser takes `hostname` for an IPv4 address: its last label is a decimal, octal or hexadecimal
 * number.
 */
export function endsInNumber(hostname: string): boolean {
  return /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/i.test(hostname)
}

function isLabel(text: string): boolean {
  return /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(text)
}
