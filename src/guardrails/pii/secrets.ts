import {SURE} from './classes.ts'
import {isPlaceholder, isRandom} from './randomness.ts'
import {type Detector, isWordAt, PAUSE, type PiiFinding, type ScannedText} from './scanned-text.ts'

/** Names of secrets. `key` alone is too much: a sort key, a cache key, the key of a map. */
const SECRET = new RegExp(
  [
    'passwor[dt]|passwd|passphrase|passcode|kennwort|passwörter|pwd|\\bpass\\b|_pass\\b|\\bpw\\b',
    'secret|token|credentials?',
    '(?:api|access|secret|encryption|private|signing|master|auth|account|shared|service|license|client|hmac|aes|deploy|webhook|storage|admin|app|subscription|session|bot)[ _-]?key',
    'authorization|bearer|\\bbasic\\b',
    'mot de passe|contraseña|\\bclave\\b|senha|wachtwoord|hasło|lösenord|salasana|parola|şifre|heslo|adgangskode|passord|пароль|parool|jelszó|κωδικός',
    'パスワード|暗証|密码|密碼|口令|비밀번호|암호|كلمة المرور|كلمة السر|पासवर्ड|סיסמה|รหัสผ่าน|秘密鍵|密钥|トークン',
  ].join('|'),
  'gu',
)

/** Names whose values are no secrets, and endings of a name whose value is none. */
const NO_SECRET =
  /(?:^|[^a-z])(?:next|page|continuation|pagination|sync|cancel(?:lation)?|max|min|sort|cache|partition|primary|public|foreign|idempotency|content)[_ -]?(?:token|key|secret)s?$/
const NO_VALUE =
  /^[_-]?(?:name|arn|ref|path|version|manager|count|type|length|hash|digest|fingerprint|checksum|url|uri|endpoint|expir|limit|budget|usage|ids?\b|store|policy|ring|iz|ed\b)/

/** Words that may come between a secret's name and its value. */
const GLUE = new Set(
  'is ist are was value the new old now set to for of a my your es el la le il è é är er on is: bearer basic token key string val lautet heißt wert user oder et jest to be vale valor wert: = temporary current default prod production staging it its'.split(
    ' ',
  ),
)

const BEFORE = 64

/** Random values that are given where a secret is: assigned to its name, called one, part of a URL's login. */
export const secrets: Detector = function* (page) {
  const {chunks} = page
  for (let chunk = 0; chunk < chunks.length; chunk += 2) {
    if (chunk % PAUSE === 0) yield undefined
    yield* inChunk(page, chunks[chunk]!, chunks[chunk + 1]!)
  }
}

function inChunk(page: ScannedText, start: number, end: number): PiiFinding[] {
  const {text, work} = page
  if (!isMixed(text, start, Math.min(end, start + LONGEST))) return []
  const login = loginOf(text, start, end)
  work.spend(Math.min(end - start, LONGEST))
  if (login) return judged(page, login.start, login.end, () => true)
  const quoted = quoteEnd(text, start, end)
  if (quoted) return judged(page, start, quoted, () => isCalled(page, start))
  if (end - start > LONGEST) return []
  const found: PiiFinding[] = []
  for (const [from, to] of pairs(text, start, end)) {
    const part = text.slice(from, to)
    const sign = /^([A-Za-z_][\w.-]{0,63}|-{1,2}[A-Za-z][\w-]{0,40})(:=|=>|=|:(?!\/\/))/.exec(part)
    const value = sign && part.length > sign[0].length ? from + sign[0].length : from
    if (value === from && from > start) continue
    found.push(...judged(page, value, to, () => isCalled(page, value)))
  }
  return found
}

/** A digit, or a great letter behind a small one: words have neither. */
function isMixed(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code < 58 ? code > 47 : code < 91 && at > start && text.charCodeAt(at - 1) > 96) return true
  }
  return false
}

/** Code units; a longer run is data. */
const LONGEST = 1024

/** The parts of a chunk that may each be an assignment: a URL's parameters, or the whole. */
function pairs(text: string, start: number, end: number): [number, number][] {
  const chunk = text.slice(start, end)
  if (!/[?&][\w.-]{1,40}=/.test(chunk)) return [[start, end]]
  const found: [number, number][] = []
  let from = start
  for (let at = start; at <= end; at++) {
    if (at < end && text[at] !== '&' && text[at] !== '?') continue
    if (at - from >= 12) found.push([from, at])
    from = at + 1
  }
  return found.slice(0, 32)
}

/** `scheme://user:password@host` */
function loginOf(text: string, start: number, end: number): {readonly start: number; readonly end: number} | undefined {
  const chunk = text.slice(start, Math.min(end, start + LONGEST))
  const scheme = chunk.indexOf('://')
  if (scheme < 0) return undefined
  const host = chunk.slice(scheme + 3).split(/[/?#]/, 1)[0]!
  const at = host.lastIndexOf('@')
  const colon = host.indexOf(':')
  if (at < 0 || colon < 0 || colon > at) return undefined
  return {start: start + scheme + 3 + colon + 1, end: start + scheme + 3 + at}
}

/** The end of a value in quotes, when the chunk begins right behind a quote and the value has signs that end chunks. */
function quoteEnd(text: string, start: number, end: number): number | undefined {
  const quote = text[start - 1]
  if (quote !== '"' && quote !== "'" && quote !== '`') return undefined
  const close = text.slice(start, start + 256).indexOf(quote)
  if (close < 0 || start + close <= end) return undefined
  return /[\s]/.test(text.slice(start, start + close)) ? undefined : start + close
}

/** True when the words before a position call the value there a secret. */
function isCalled(page: ScannedText, at: number): boolean {
  const {lower, work} = page
  const before = lower.slice(Math.max(0, at - BEFORE), at)
  work.spend(before.length)
  if (isFlag(before)) return true
  const named = [...before.matchAll(SECRET)].at(-1)
  if (!named) return false
  const named_end = named.index + named[0].length
  const name = /[\w.-]*$/.exec(before.slice(Math.max(0, named.index - 24), named.index))![0] + named[0]
  const between = before.slice(named_end)
  const rest = /^[\w-]*/.exec(between)![0]
  if (NO_SECRET.test(name) || NO_VALUE.test(rest) || rest.length > 24) return false
  const glue = between.slice(rest.length)
  if (/[.;!?](?:\s|$)/.test(glue) || glue === '') return /\P{ASCII}$/u.test(name) && glue === ''
  const words = glue.match(/[\p{L}\p{N}_]+/gu) ?? []
  const is_short = words.every(word => GLUE.has(word) || (word.length <= 3 && /\P{ASCII}/u.test(word)))
  return words.length <= 3 && is_short
}

/** `-p value`, `-u user:` of a command line. */
function isFlag(before: string): boolean {
  return /(?:^|\s)(?:-u|--user)[ =]["']?[\w.@-]{1,40}:$/.test(before)
}

function judged(page: ScannedText, start: number, from_end: number, isSecret: () => boolean): PiiFinding[] {
  const {text} = page
  let end = from_end
  // A full stop or the like behind a value ends the sentence.
  while (
    end > start &&
    /[.:!?]/.test(text[end - 1]!) &&
    !'"\'`'.includes(text[end] ?? ' ') &&
    (end === from_end || text[end - 1] === '.')
  )
    end--
  const value = text.slice(start, end)
  if (value.length > LONGEST || !isRandomValue(value) || isWordAt(text, end) || !isSecret()) return []
  return [{class: 'secret', kind: 'assigned', start, end, certainty: SURE.cued}]
}

/** Drawn by a generator, a UUID, or as mixed as a good password. */
function isRandomValue(value: string): boolean {
  if (
    /^\$(?:2[aby]|argon2\w*|[156]|pbkdf2\S*)\$/.test(value) ||
    /^(?:sha\d+|md5|arn|https?|projects?|vault|file)[:/]/i.test(value)
  )
    return false
  if (/^[\w.]+\(.*\)$/.test(value)) return false
  if (/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(value))
    return /[1-9a-f]/i.test(value) && !isPlaceholder(value)
  if (isRandom(value)) return true
  const is_mixed = /[a-z]/.test(value) && /[A-Z]/.test(value) && /\d/.test(value) && /[!#$%^&*+@?~]/.test(value)
  return is_mixed && value.length >= 8 && !isPlaceholder(value) && !/^[$%@]/.test(value)
}
