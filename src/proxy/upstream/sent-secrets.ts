import {SecretMask} from '../../base/secret-mask.ts'
import type {Target} from '../targets/target.ts'
import type {UpstreamRequest} from './build-request.ts'

/** Headers that say who calls, and parameters of URLs that do. */
const SECRET_NAME = /auth|key|token|secret|cookie|signature|credential|password/i
/** Words around a secret in its header: schemes, and the parts of a signature. */
const NO_SECRET =
  /^(?:bearer|basic|token|digest|aws4-.*|signature|signedheaders=.*|version=.*|keyid=.*|algorithm=.*|headers=.*)$/i
const MAX_KNOWN = 1000

/** Masks by the secrets that they are of: making one takes longer than looking for them. */
const known = new Map<string, SecretMask | null>()

/**
 * A mask of what the gateway sends as secrets with this request: key, sealed headers, minted tokens, parameters. Null:
 * it sends none.
 */
export function maskOf(
  {headers, path}: Pick<UpstreamRequest, 'headers' | 'path'>,
  target: Pick<Target, 'key' | 'headers'> & Partial<Pick<Target, 'secrets'>>,
): SecretMask | null {
  const before = path.includes('?') ? undefined : lately.get(target)
  if (before && isSame(before.values, headers)) return before.mask
  const mask = maskBy(headers, path, target)
  if (!path.includes('?')) lately.set(target, {values: secretValues(headers), mask})
  return mask
}

/**
 * The values last sent to a target: most calls send the same again, and a comparison costs less than a key of them all.
 */
const lately = new WeakMap<object, {readonly values: readonly unknown[]; readonly mask: SecretMask | null}>()

function isSame(values: readonly unknown[], headers: UpstreamRequest['headers']): boolean {
  let at = 0
  for (const name in headers) if (isSecret(name) && headers[name] !== values[at++]) return false
  return at === values.length
}

function secretValues(headers: UpstreamRequest['headers']): readonly unknown[] {
  return Object.keys(headers).flatMap(name => (isSecret(name) ? [headers[name]] : []))
}

function maskBy(
  headers: UpstreamRequest['headers'],
  path: string,
  target: Pick<Target, 'key' | 'headers'> & Partial<Pick<Target, 'secrets'>>,
): SecretMask | null {
  let all = target.key ?? ''
  for (const name in headers) if (isSecret(name)) all += `\n${String(headers[name])}`
  for (const name in target.headers) all += `\n${String(target.headers[name])}`
  for (const text of target.secrets?.values?.texts ?? []) all += `\n${text}`
  if (path.includes('?')) all += parametersIn(path)
  if (all === '') return null
  const before = known.get(all)
  if (before !== undefined) return before
  const mask = SecretMask.of(secretsIn(all))
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(all, mask)
  return mask
}

/** Names of headers are few, and the same with every request. */
const names = new Map<string, boolean>()

function isSecret(name: string): boolean {
  const before = names.get(name)
  if (before !== undefined) return before
  const is_secret = SECRET_NAME.test(name)
  if (names.size < MAX_KNOWN) names.set(name, is_secret)
  return is_secret
}

function parametersIn(path: string): string {
  const query = new URLSearchParams(path.slice(path.indexOf('?')))
  return [...query].flatMap(([name, value]) => (SECRET_NAME.test(name) ? [`\n${value}`] : [])).join('')
}

function* secretsIn(all: string): Generator<string> {
  for (const line of all.split('\n')) {
    yield line
    for (const word of line.split(/[\s,]+/)) {
      if (NO_SECRET.test(word)) continue
      yield word.replace(/^(?:signature|credential)="?([^"/]*).*$/i, '$1')
      if (/^basic /i.test(line)) yield* Buffer.from(word, 'base64').toString().split(':')
    }
  }
}
