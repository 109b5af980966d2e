import {SURE} from './classes.ts'
import {type Detector, kindOf, PAUSE, type ScannedText} from './scanned-text.ts'

/** RFC 5321, 4.5.3.1: octets of the part before the `@`, and of the domain. */
const LONGEST_LOCAL = 64
const LONGEST_DOMAIN = 255

/** Mailboxes: a part before `@`, a domain with a dot whose last label is no number and no file's ending. */
export const emails: Detector = function* (page) {
  const {text, work} = page
  let seen = 0
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    if (++seen % PAUSE === 0) yield undefined
    const most = domainEnd(text, at + 1)
    work.spend(most - at)
    const end = addressEnd(text, at + 1, most)
    if (end < 0) continue
    const start = localStart(text, at, end)
    work.spend(at - start)
    if (start === at || isLogin(page, start, end)) continue
    yield {class: 'email', kind: 'email', start, end, certainty: SURE.likely}
  }
}

function domainEnd(text: string, from: number): number {
  let at = from
  const most = Math.min(text.length, from + LONGEST_DOMAIN)
  const is_wide = text.charCodeAt(from) >= WIDE
  while (at < most && isDomainSign(text, at, is_wide)) at++
  while (at > from && '.-'.includes(text[at - 1]!)) at--
  return at
}

/** Scripts that write no spaces begin here: a word of them beside an address is no part of it. */
const WIDE = 0x2e80

function isDomainSign(text: string, at: number, is_wide: boolean): boolean {
  const code = text.charCodeAt(at)
  if (code < 128) {
    const sign = text[at]!
    if (sign === '.') return at + 1 < text.length && text[at + 1] !== '.'
    return sign === '-' || (sign !== '_' && kindOf(code) > 0 && kindOf(code) < 3)
  }
  return code >= WIDE ? is_wide && /[\p{L}\p{M}]/u.test(text[at]!) : /[\p{L}\p{M}]/u.test(text[at]!)
}

/**
 * The end of an address whose domain reaches to `end` at most; -1 for none. A file may be named after one:
 * `ada@mail.example.pdf`.
 */
function addressEnd(text: string, from: number, end: number): number {
  const domain = text.slice(from, end)
  if (isDomain(domain)) return end
  const dot = domain.lastIndexOf('.')
  const stem = domain.slice(0, dot)
  if (dot < 0 || !FILES.has(domain.slice(dot + 1).toLowerCase()) || STEMS.test(stem)) return -1
  return isDomain(stem) ? from + dot : -1
}

/** Ends of names of files in front of their ending, which are no domains: `sprite@home.min.js`. */
const STEMS = /\.(?:min|test|spec|bundle|module|config|final|draft|copy|old|new|orig|tar|prod|dev|local)$/i

/** Endings of files that are no top-level domains. */
const FILES = new Set(
  'png jpg jpeg gif svg webp ico css js mjs cjs jsx tsx json html htm txt pdf gz tgz jar class php exe dll yml yaml xml lock service socket timer conf log bak csv'.split(
    ' ',
  ),
)

function isDomain(domain: string): boolean {
  const labels = domain.split('.')
  if (
    labels.length < 2 ||
    labels.some(label => label === '' || label.length > 63 || label.startsWith('-') || label.endsWith('-'))
  )
    return false
  const top = labels.at(-1)!.toLowerCase()
  if (!/^(?:xn--[a-z0-9-]+|[\p{L}\p{M}]{2,})$/u.test(top) || FILES.has(top)) return false
  // `pkg@v1.2.beta`, `pkg@4.x.y`
  return !/^v?\d+$/i.test(labels[0]!)
}

function localStart(text: string, at: number, end: number): number {
  const least = Math.max(0, at - LONGEST_LOCAL)
  let start = at
  while (start > least && isLocalSign(text, start - 1)) start--
  // Longer than a mailbox may be, or with a dot where none is allowed.
  if (start === least && start > 0 && isLocalSign(text, start - 1)) return at
  start = afterAssignment(text, start, at)
  const encoded = text.slice(start, at).lastIndexOf('%3D')
  if (encoded >= 0) start += encoded + 3
  const quote = text.slice(start, at).lastIndexOf("'")
  if (quote >= 0 && text[end] === "'") start += quote + 1
  while (start < at && /['.*&?|{}~^/=-]/.test(text[start]!)) start++
  return text[at - 1] === '.' ? at : start
}

function isLocalSign(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if (code < 128) return kindOf(code) === 1 || kindOf(code) === 2 || ".!#$%&'*+=?^_{|}~-".includes(text[at]!)
  return code < WIDE && code >= 0xaa && /[\p{L}\p{M}]/u.test(text[at]!)
}

/**
 * `to=a@b.example` is an assignment; `list+subscribe=yes@b.example` is a mailbox, because of its `+`. `&` and `?` part
 * a URL's parameters.
 */
function afterAssignment(text: string, from: number, at: number): number {
  let start = from
  for (let sign = from; sign < at; sign++) {
    const is_parting = text[sign] === '&' || text[sign] === '?' || text[sign] === '|'
    if (is_parting || (text[sign] === '=' && !text.slice(start, sign).includes('+'))) start = sign + 1
  }
  return start
}

/** Something to log in with, or the id of a message: no mailbox. */
function isLogin(page: ScannedText, start: number, end: number): boolean {
  const {text, lower, work} = page
  const before = lower.slice(Math.max(0, start - 48), start)
  work.spend(48)
  // `scheme://user:password@host`: no slash, `?` or space since the scheme.
  if (/:\/\/[^\s/?#]*$/.test(before)) return true
  // `git@host.example:path`
  if (/^:[~\w.-]{0,64}\//.test(text.slice(end, end + 68))) return true
  if (isRemoteCommand(before)) return true
  return /(?:message-id|in-reply-to|references|content-id):?\s*<?$/.test(before)
}

const REMOTE = new Set(['ssh', 'scp', 'sftp', 'rsync', 'mosh'])

/** A command that takes `user@host`, with nothing but options and their values since. */
function isRemoteCommand(before: string): boolean {
  if (!/\s$/.test(before)) return false
  const words = before.trimEnd().split(/[\s;&|$('"`]+/)
  const command = words.findLastIndex(word => REMOTE.has(word))
  if (command < 0) return false
  const since = words.slice(command + 1)
  return since.every((word, at) => word.startsWith('-') || since[at - 1]?.startsWith('-'))
}
