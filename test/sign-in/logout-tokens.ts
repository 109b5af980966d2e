import {randomUUID} from 'node:crypto'
import {encoded, hmacToken, type Signer, signedToken, signer} from '../support/tokens.ts'

export const EVENT = 'http://schemas.openid.net/event/backchannel-logout'

/** What a token is made for: the provider and its key, the session that is to end, and the time. */
export interface LogoutCase {
  readonly issuer: string
  readonly client_id: string
  readonly key: Signer
  readonly sid: string
  readonly sub: string
  readonly now_s: number
}

/** The claims of a good token for the session. */
export function logoutClaims({issuer, client_id, sid, sub, now_s}: LogoutCase): Record<string, unknown> {
  const times = {iat: now_s, exp: now_s + 120}
  return {iss: issuer, aud: client_id, ...times, jti: randomUUID(), events: {[EVENT]: {}}, sid, sub}
}

/** A logout token; `change` takes the place of good claims (undefined takes one out), `header` that of its header. */
export function logoutToken(of: LogoutCase, change: object = {}, header: object = {}, by = of.key): string {
  const made = {alg: by.alg, typ: 'logout+jwt', kid: of.key.kid, ...header}
  return signedToken(made, {...logoutClaims(of), ...change}, by)
}

const STRANGER = signer('RS256', 'lying')
const CURVE = signer('ES256', 'lying')

const changed = (change: object) => (of: LogoutCase) => logoutToken(of, change)
const headed = (header: object) => (of: LogoutCase) => logoutToken(of, {}, header)
const timed = (change: (now_s: number) => object) => (of: LogoutCase) => logoutToken(of, change(of.now_s))
const pem = ({key}: LogoutCase) => String(key.jwk.n)

/** Tokens that end nothing, each with one thing wrong. */
export const HOSTILE_TOKENS: readonly [string, (of: LogoutCase) => string][] = [
  ['no token', () => ''],
  ['one part', () => 'logout'],
  ['a key of the gateway in place of a token', () => `gs-${'A'.repeat(43)}`],
  ['five parts, as of an encrypted one', of => `${logoutToken(of)}.AAAA.AAAA`],
  ['no signature', of => logoutToken(of).replace(/[^.]+$/, '')],
  ['alg none', of => `${encoded({alg: 'none', typ: 'logout+jwt'})}.${encoded(logoutClaims(of))}.AAAA`],
  ['alg None, of the good key', headed({alg: 'None'})],
  ['a secret in place of a pair', of => hmacToken({alg: 'HS256', kid: of.key.kid}, logoutClaims(of), pem(of))],
  ['HS256 in the name of the good key', headed({alg: 'HS256'})],
  ['an algorithm that the connection does not take', headed({alg: 'RS512'})],
  ["a stranger's key under the provider's id", of => logoutToken(of, {}, {}, STRANGER)],
  ["a stranger's key of another kind", of => logoutToken(of, {}, {}, CURVE)],
  ["a stranger's key that the token brings along", of => logoutToken(of, {}, {jwk: STRANGER.jwk}, STRANGER)],
  [
    'an address of keys that the token brings along',
    of => logoutToken(of, {}, {jku: `${of.issuer}/other-keys`, kid: 'other'}, STRANGER),
  ],
  ['a kid that the provider does not have', headed({kid: 'unknown'})],
  ['a kid that is no text', headed({kid: 7})],
  ['a critical header', headed({crit: ['exp']})],
  ['a payload that was changed afterwards', changedAfterwards],
  ['the type of an access token', headed({typ: 'at+jwt'})],
  ['a type that is no text', headed({typ: ['logout+jwt']})],
  ['another issuer', of => logoutToken(of, {iss: `${of.issuer}/`})],
  ['no issuer', changed({iss: undefined})],
  ['an issuer in a list', of => logoutToken(of, {iss: [of.issuer]})],
  ['another client', changed({aud: 'other'})],
  ['no client', changed({aud: undefined})],
  ['several clients, and which is meant is not said', of => logoutToken(of, {aud: ['other', of.client_id]})],
  ['made for another client', changed({azp: 'other'})],
  ['expired', timed(now_s => ({exp: now_s - 61}))],
  ['no end, and made long ago', timed(now_s => ({exp: undefined, iat: now_s - 601}))],
  ['an end that is null', changed({exp: null})],
  ['an end that is text', timed(now_s => ({exp: String(now_s + 60)}))],
  ['made in the future', timed(now_s => ({iat: now_s + 61}))],
  ['made long ago', timed(now_s => ({iat: now_s - 601}))],
  ['no time at which it was made', changed({iat: undefined})],
  ['does not hold yet', timed(now_s => ({nbf: now_s + 61}))],
  ['no event', changed({events: undefined})],
  ['another event', changed({events: {'http://schemas.openid.net/event/other': {}}})],
  ['the event as text', changed({events: EVENT})],
  ['the event in a list', changed({events: [EVENT]})],
  ['an event without an object', changed({events: {[EVENT]: true}})],
  ['an event of a prototype', changed({events: Object.fromEntries([['__proto__', {[EVENT]: {}}]])})],
  ['a nonce', changed({nonce: 'nonce'})],
  ['an empty nonce', changed({nonce: null})],
  ['neither session nor person', changed({sid: undefined, sub: undefined})],
  ['an empty session', changed({sid: ''})],
  ['a session that is no text', changed({sid: {$ne: null}})],
  ['a session that is too long', changed({sid: 's'.repeat(256)})],
  ['a person in a list', of => logoutToken(of, {sid: undefined, sub: [of.sub]})],
  ['no id', changed({jti: undefined})],
  ['an id that is no text', changed({jti: 1})],
  ['an ID token of the person', of => logoutToken(of, {events: undefined, nonce: 'n'}, {typ: 'JWT'})],
  ['an event twice, which readers read in two ways', twice],
  ['longer than 16 KB', of => logoutToken(of, {more: 'x'.repeat(16_384)})],
]

function changedAfterwards(of: LogoutCase): string {
  const [header, , signature] = logoutToken(of, {sid: 'another'}).split('.')
  return `${header}.${encoded(logoutClaims(of))}.${signature}`
}

function twice(of: LogoutCase): string {
  const payload = JSON.stringify(logoutClaims(of)).replace('"sid":', '"sid":"other","sid":')
  return signedToken({alg: of.key.alg, typ: 'logout+jwt', kid: of.key.kid}, payload, of.key)
}
