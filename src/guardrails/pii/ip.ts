import {isIPv6} from 'node:net'
import {SURE} from './classes.ts'
import {cue, readCues} from './cues.ts'
import {type Detector, isDigitAt, isWordAt, PAUSE, type PiiFinding, type ScannedText} from './scanned-text.ts'

/**
 * IPv4 and IPv6 literals of hosts. Loopback, unspecified and broadcast addresses, netmasks and networks (`/24`) are not
 * personal.
 */
export const ips: Detector = function* (page) {
  yield* ipv4(page)
  yield* ipv6(page)
}

const HOST = cue(
  'ip\\b|ip_|ipv|ips\\b|ipaddr|host|addr|adres|server|serveur|servidor|client|remote|peer|src|dst|source|dest|ping|traceroute|ssh|curl|http|dns|nameserver|resolver|gateway|router|listen|bind|connect|node|login|logged|visitor|proxy|forwarded|whois|port\\b|firewall|allow|deny|block|ban|scan|rechner|хост|адрес|сервер',
  '地址|アドレス|サーバ|服务器|주소',
)
const VERSION = cue(
  'ver\\.? ?$|v\\.? ?$|version|release|build|firmware|upgrade|update|section|chapter|clause|article|artikel|kapitel|abschnitt|paragra|ziffer|absatz|punkt|ec number|ec no|ec \\d|enzyme|oid\\b|assembly|package|driver|sdk|schema|library|revision|rev\\b|patch|culture|figure|table|rule|item|part\\b|versión|versão|versione|versie|wersja|версия|toolchain|plugin|module|chrome|edge',
  '§|版本|バージョン|版|버전',
)

function* ipv4(page: ScannedText): Generator<PiiFinding | undefined> {
  const {text, groups, work} = page
  for (let group = 0; group + 7 < groups.length; group += 2) {
    if (group % PAUSE === 0) yield undefined
    work.spend(1)
    const start = groups[group]!
    const end = groups[group + 7]!
    if (end - start > 15 || !isDotted(text, groups, group)) continue
    work.spend(end - start)
    if (text[start - 1] === '.' || isWordAt(text, start - 1) || isWordAt(text, end)) continue
    if (text[end] === '.' && isDigitAt(text, end + 1)) continue
    // `1.2.3.4-5` and `7-1.2.3.4`, but not a range of addresses.
    if (
      /^-\d{1,4}(?![\d.])/.test(text.slice(end, end + 6)) ||
      /(?:^|[^.\d])\d{1,4}-$/.test(text.slice(Math.max(0, start - 6), start))
    )
      continue
    const octets = text.slice(start, end).split('.')
    if (octets.some(octet => (octet.length > 1 && octet[0] === '0') || Number(octet) > 255)) continue
    const numbers = octets.map(Number)
    if (isNobodys(numbers) || /^\/\d{1,2}(?!\d)/.test(text.slice(end, end + 4))) continue
    if (
      NUMBERED.test(page.lower.slice(Math.max(0, start - 16), start)) ||
      PRODUCT.test(text.slice(Math.max(0, start - 24), start))
    )
      continue
    // Small numbers throughout are rather a version or a section: something must say that it is a host.
    const is_small = numbers.every(number => number < 32)
    const finding = is_small ? readCues(page, start, end, {yes: HOST, no: VERSION, before: 32}) : 'yes'
    const is_bare = !/^:\d{2,5}(?!\d)/.test(text.slice(end, end + 7)) && text.slice(start - 2, start) !== '//'
    if (is_small && (numbers[0] === 10 ? finding === 'no' : finding !== 'yes' && is_bare)) continue
    yield {class: 'ip_address', kind: 'ipv4', start, end, certainty: SURE.likely}
  }
}

/** Right before a version or a section. */
const NUMBERED = /(?:version|release|firmware|build|§|\bver\.?|\bv|section|chapter)[\s:="']{0,4}$/
/** RFC 9110, 5.6.2 and 10.1.5: `Browser/120.0.0.0` is a product and its version. */
const PRODUCT = /(?:^|[\s("'])[A-Z][A-Za-z]{1,20}\/$/

function isDotted(text: string, groups: readonly number[], group: number): boolean {
  for (let at = group + 1; at < group + 7; at += 2)
    if (groups[at + 1]! - groups[at]! !== 1 || text[groups[at]!] !== '.') return false
  return true
}

function isNobodys([first, second, third, fourth]: readonly number[]): boolean {
  return (
    first === 127 || first === 0 || (first === 255 && second === 255) || (first === 255 && third === 0 && fourth === 0)
  )
}

const LONGEST = 45

function* ipv6(page: ScannedText): Generator<PiiFinding | undefined> {
  const {text, work} = page
  let seen = 0
  let colons = 0
  for (let colon = text.indexOf(':'); colon >= 0; colon = text.indexOf(':', Math.max(seen, colon + 1))) {
    if (++colons % PAUSE === 0) yield undefined
    let start = colon
    while (start > seen && colon - start <= 4 && isHex(text.charCodeAt(start - 1))) start--
    let end = colon
    while (
      end < text.length &&
      end - start <= LONGEST &&
      (isHex(text.charCodeAt(end)) || text[end] === ':' || text[end] === '.')
    )
      end++
    work.spend(end - start + 1)
    seen = end
    while (end > start && (text[end - 1] === '.' || (text[end - 1] === ':' && text[end - 2] !== ':'))) end--
    const address = text.slice(start, end)
    if (isWordAt(text, start - 1) || isWordAt(text, end) || text[start - 1] === ':' || text[start - 1] === '.') continue
    if (!isIPv6(address) || !isHostly(address) || /^\/\d{1,3}(?!\d)/.test(text.slice(end, end + 5))) continue
    yield {class: 'ip_address', kind: 'ipv6', start, end, certainty: SURE.likely}
  }
}

/** Not `::1`, not the step of a slice (`1::2`), not a path of names (`cafe::bed`). */
function isHostly(address: string): boolean {
  const groups = address.split(':').filter(group => group !== '')
  if (!/\d/.test(address) || groups.length < 2) return false
  return groups.length > 3 || groups[0]!.length > 2 || address.includes('.')
}

function isHex(code: number): boolean {
  return (code > 47 && code < 58) || (code > 64 && code < 71) || (code > 96 && code < 103)
}
