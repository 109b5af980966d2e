import {createPublicKey} from 'node:crypto'
import {describe, expect, test} from 'vitest'
import {encoded, hmacToken, type Signer, signedToken, signer} from '../../support/tokens.ts'
import {claims, ENDLESS, type HostileCase, HTML, HUGE, judge, REQUEST, SHORT_MS} from './judge.ts'
import {accessHash, type Lies, RawReply} from './lying-provider.ts'
import {oidcSettings, outcomeOf, relyingParty} from './relying-party.ts'

const {provider, judged, each} = judge()
const FOREIGN = signer('RS256', 'lying')
const EC = signer('ES256', 'ec')
const EC384 = signer('ES384', 'ec384')
const ED = signer('EdDSA', 'ed')
const PSS = signer('PS256', 'pss')
const SMALL = signer('RS256', 'small', 1024)
const now_s = () => Math.floor(Date.now() / 1000)
const withKeys = (...keys: unknown[]): Lies => ({keys: () => ({keys})})
const publicPem = ({private_key}: Signer) =>
  createPublicKey(private_key).export({type: 'spki', format: 'pem'}).toString()

const OF_CLAIMS: readonly HostileCase[] = [
  ['a good answer', 'accepted', () => ({})],
  // the issuer and the audience
  ['no iss', 'token_issuer', () => claims({iss: undefined})],
  ['iss of another', 'token_issuer', () => claims({iss: 'https://evil.test'})],
  ['iss with a slash at the end', 'token_issuer', () => claims({iss: `${provider().issuer}/`})],
  ['iss that is a list', 'token_issuer', () => claims({iss: [provider().issuer]})],
  ['no aud', 'token_audience', () => claims({aud: undefined})],
  ['aud of another client', 'token_audience', () => claims({aud: 'another'})],
  ['aud in other letters', 'token_audience', () => claims({aud: 'GATEWAY'})],
  ['aud with ours in it', 'token_audience', () => claims({aud: 'x gateway'})],
  ['aud as an empty list', 'token_audience', () => claims({aud: []})],
  ['aud as a list in a list', 'token_audience', () => claims({aud: [['gateway']]})],
  ['aud with a number', 'token_audience', () => claims({aud: ['gateway', 7], azp: 'gateway'})],
  ['aud that is an object', 'token_audience', () => claims({aud: {gateway: 1}})],
  ['aud as a list of one', 'accepted', () => claims({aud: ['gateway']})],
  ['several aud without azp', 'token_audience', () => claims({aud: ['gateway', 'another']})],
  ['several aud with our azp', 'accepted', () => claims({aud: ['gateway', 'another'], azp: 'gateway'})],
  ['azp of another', 'token_audience', () => claims({azp: 'another'})],
  ['azp that is null', 'token_audience', () => claims({azp: null})],
  ['azp that is a list', 'token_audience', () => claims({azp: ['gateway']})],
  // times
  ['no exp', 'token_time', () => claims({exp: undefined})],
  ['exp as text', 'token_time', () => claims({exp: String(now_s() + 300)})],
  ['exp 70 s ago', 'token_time', () => claims({exp: now_s() - 70})],
  ['exp 50 s ago, within the skew', 'accepted', () => claims({exp: now_s() - 50})],
  ['exp beyond all dates', 'token_time', () => ({payload: text => text.replace(/"exp":\d+/, '"exp":1e999')})],
  ['no iat', 'token_time', () => claims({iat: undefined})],
  ['iat 10 minutes and 10 s old', 'token_time', () => claims({iat: now_s() - 610})],
  ['iat 9 minutes and 50 s old', 'accepted', () => claims({iat: now_s() - 590})],
  ['iat 70 s ahead', 'token_time', () => claims({iat: now_s() + 70})],
  ['iat 50 s ahead', 'accepted', () => claims({iat: now_s() + 50})],
  ['nbf 70 s ahead', 'token_time', () => claims({nbf: now_s() + 70})],
  ['nbf 50 s ahead', 'accepted', () => claims({nbf: now_s() + 50})],
  ['nbf as text', 'token_time', () => claims({nbf: 'now'})],
  // the sign-in
  ['no nonce', 'token_nonce', () => claims({nonce: undefined})],
  ['wrong nonce', 'token_nonce', () => claims({nonce: 'nonce-of-another'})],
  ['nonce in a list', 'token_nonce', () => claims({nonce: [REQUEST.nonce]})],
  ['at_hash of another access token', 'token_access_hash', () => claims({at_hash: accessHash('another')})],
  ['at_hash that is null', 'token_access_hash', () => claims({at_hash: null})],
  ['no at_hash', 'accepted', () => claims({at_hash: undefined})],
  ['no sub', 'token_subject', () => claims({sub: undefined})],
  ['empty sub', 'token_subject', () => claims({sub: ''})],
  ['sub that is a number', 'token_subject', () => claims({sub: 7})],
  ['sub of 256 characters', 'token_subject', () => claims({sub: 's'.repeat(256)})],
  ['sub of 255 characters', 'accepted', () => claims({sub: 's'.repeat(255)})],
  ['sub with a zero character', 'token_subject', () => claims({sub: 'subject\u0000'})],
  ['no claim of the subject', 'token_subject', () => ({}), {subject_claim: 'oid'}],
  [
    'a claim of the subject, and no sub',
    'token_subject',
    () => claims({oid: 'o', sub: undefined}),
    {subject_claim: 'oid'},
  ],
  ['a claim of the subject', 'accepted', () => claims({oid: 'object-1'}), {subject_claim: 'oid'}],
]

const OF_TOKEN: readonly HostileCase[] = [
  // the algorithm and the key
  ['alg none', 'token_algorithm', () => ({header: {alg: 'none'}})],
  ['alg none without a signature', 'token_invalid', () => ({id_token: unsigned})],
  ['alg HS256 with the public key', 'token_algorithm', () => ({id_token: text => hashed(text, 'HS256')})],
  ['HS256 that names RS256', 'token_signature', () => ({id_token: text => hashed(text, 'RS256')})],
  ['RS512, which is not accepted', 'token_algorithm', () => ({header: {alg: 'RS512'}})],
  ['alg that is a list', 'token_algorithm', () => ({header: {alg: ['RS256']}})],
  ['a foreign key under a known id', 'token_signature', () => ({signed_by: FOREIGN})],
  ['a key that the set has not', 'token_key', () => ({header: {kid: 'unknown'}})],
  ['a key named __proto__', 'token_key', () => ({header: {kid: '__proto__'}})],
  ['kid of 256 characters', 'token_key', () => ({header: {kid: 'k'.repeat(256)}})],
  [
    'kid of 256 characters, and a key of that id',
    'token_key',
    () => ({header: {kid: 'k'.repeat(256)}, ...withKeys({...provider().key.jwk, kid: 'k'.repeat(256)})}),
  ],
  ['kid that is a number', 'token_key', () => ({header: {kid: 1}})],
  ['no kid, and one key', 'accepted', () => ({header: {kid: undefined}})],
  [
    'no kid, and one of the keys fits',
    'accepted',
    () => ({header: {kid: undefined}, ...withKeys(EC.jwk, provider().key.jwk, {...FOREIGN.jwk, use: 'enc'})}),
  ],
  [
    'no kid, and two keys that fit',
    'token_key',
    () => ({header: {kid: undefined}, ...withKeys(provider().key.jwk, {...FOREIGN.jwk, kid: 'other'})}),
  ],
  ['a key for encryption', 'token_key', () => withKeys({...provider().key.jwk, use: 'enc'})],
  ['a key for another algorithm', 'token_key', () => withKeys({...provider().key.jwk, alg: 'PS256'})],
  ['a key of another kind', 'token_key', () => withKeys({...EC.jwk, kid: 'lying'})],
  ['a key of 1024 bits', 'token_key', () => ({signed_by: SMALL, ...withKeys(SMALL.jwk)})],
  [
    'two keys of one id, the first of which is for encryption',
    'accepted',
    () => withKeys({...provider().key.jwk, use: 'enc', alg: 'RSA-OAEP'}, {...provider().key.jwk, use: 'sig'}),
  ],
  [
    'a set with all sorts of things in it',
    'accepted',
    () => withKeys('text', {kty: 'oct', kid: 'lying', k: 'AA'}, {kid: 'lying'}, null, provider().key.jwk),
  ],
  [
    'a key in the header',
    'token_key',
    () => ({signed_by: {...FOREIGN, kid: 'own'}, header: {jwk: FOREIGN.jwk, jku: `${provider().issuer}/own-keys`}}),
  ],
  ['ES256', 'accepted', () => ({signed_by: EC, ...withKeys(EC.jwk)})],
  ['PS256', 'accepted', () => ({signed_by: PSS, ...withKeys(PSS.jwk)})],
  ['EdDSA', 'accepted', () => ({signed_by: ED, ...withKeys(ED.jwk)})],
  [
    'ES384 where it is accepted',
    'accepted',
    () => ({signed_by: EC384, ...withKeys(EC384.jwk)}),
    {id_token_algorithms: ['ES384']},
  ],
  // the spelling
  ['a header that is critical', 'token_invalid', () => ({header: {crit: ['exp']}})],
  ['a payload that was changed', 'token_signature', () => ({id_token: text => rewritten(text, {sub: 'subject-2'})})],
  ['a token of another type', 'token_invalid', () => ({header: {typ: 'logout+jwt'}})],
  ['an access token', 'token_invalid', () => ({header: {typ: 'at+jwt'}})],
  ['over 16 KB', 'token_invalid', () => claims({more: 'x'.repeat(16 << 10)})],
  ['sub twice', 'token_invalid', () => ({payload: text => text.replace('{', '{"sub":"admin",')})],
  ['sub twice, once escaped', 'token_invalid', () => ({payload: text => text.replace('{', '{"\\u0073ub":"admin",')})],
  [
    'nested too deep',
    'token_invalid',
    () => ({payload: text => text.replace('{', `{"a":${'['.repeat(300)}${']'.repeat(300)},`)}),
  ],
  ['a payload that is a list', 'token_invalid', () => ({payload: () => '[]'})],
  ['padding', 'token_invalid', () => ({id_token: text => `${text}=`})],
  ['five parts', 'token_invalid', () => ({id_token: text => `${text}.a.b`})],
]

const OF_REPLIES: readonly HostileCase[] = [
  // discovery
  ['discovery of another issuer', 'provider_invalid', () => discovery({issuer: 'https://evil.test'})],
  ['discovery with a slash more', 'provider_invalid', () => discovery({issuer: `${provider().issuer}/`})],
  ['discovery without an issuer', 'provider_invalid', () => discovery({issuer: undefined})],
  [
    'discovery that redirects',
    'provider_invalid',
    () => ({discovery: () => new RawReply(302, '', {location: '/elsewhere'})}),
  ],
  ['discovery that is HTML', 'provider_invalid', () => ({discovery: () => HTML})],
  ['discovery of 100 MB', 'provider_unreachable', () => ({discovery: () => HUGE})],
  ['discovery that never ends', 'provider_unreachable', () => ({discovery: () => ENDLESS}), {}, SHORT_MS],
  ['discovery that fails', 'provider_unreachable', () => ({discovery: () => new RawReply(503, '{}')})],
  ['no discovery', 'provider_invalid', () => ({discovery: () => new RawReply(404, '{}')})],
  [
    'discovery with a member twice',
    'provider_invalid',
    () => ({discovery: good => new RawReply(200, JSON.stringify(good).replace('{', '{"issuer":"https://evil.test",'))}),
  ],
  ['a token endpoint over http', 'provider_invalid', () => discovery({token_endpoint: 'http://evil.test/token'})],
  [
    'a token endpoint on a like name',
    'provider_invalid',
    () => discovery({token_endpoint: 'http://127.0.0.1.evil.test/'}),
  ],
  ['no token endpoint', 'provider_invalid', () => discovery({token_endpoint: undefined})],
  ['keys over http', 'provider_invalid', () => discovery({jwks_uri: 'http://evil.test/keys'})],
  ['keys in a file', 'provider_invalid', () => discovery({jwks_uri: 'file:///etc/passwd'})],
  [
    'a sign-in page that is a script',
    'provider_invalid',
    () => discovery({authorization_endpoint: 'javascript:alert(1)'}),
  ],
  ['UserInfo over http', 'provider_invalid', () => discovery({userinfo_endpoint: 'http://evil.test/me'})],
  ['a logout over http', 'provider_invalid', () => discovery({end_session_endpoint: 'http://evil.test/out'})],
  ['an endpoint with a password', 'provider_invalid', () => discovery({token_endpoint: 'https://a:b@evil.test/'})],
  [
    'an endpoint of 3,000 characters',
    'provider_invalid',
    () => discovery({token_endpoint: `https://a.test/${'x'.repeat(3000)}`}),
  ],
  // keys
  ['keys that are HTML', 'provider_unreachable', () => ({keys: () => HTML})],
  ['keys that never come', 'provider_unreachable', () => ({keys: () => ENDLESS}), {}, SHORT_MS],
  ['keys of 100 MB', 'provider_unreachable', () => ({keys: () => HUGE})],
  ['no keys', 'token_key', () => withKeys()],
  // the token endpoint
  ['an error', 'provider_error', () => ({token: () => new RawReply(400, '{"error":"invalid_grant"}')})],
  [
    'access_denied of the token endpoint',
    'provider_error',
    () => ({token: () => new RawReply(403, '{"error":"access_denied"}')}),
  ],
  [
    'an error that is HTML',
    'provider_error',
    () => ({token: () => new RawReply(500, '<p>', {'content-type': 'text/html'})}),
  ],
  ['tokens that redirect', 'provider_error', () => ({token: () => new RawReply(307, '', {location: '/elsewhere'})})],
  ['tokens that are HTML', 'provider_invalid', () => ({token: () => HTML})],
  [
    'tokens as text',
    'provider_invalid',
    () => ({token: good => new RawReply(200, JSON.stringify(good), {'content-type': 'text/plain'})}),
  ],
  ['tokens of 100 MB', 'provider_unreachable', () => ({token: () => HUGE})],
  ['tokens that never come', 'provider_unreachable', () => ({token: () => ENDLESS}), {}, SHORT_MS],
  ['no token_type', 'provider_invalid', () => tokens({token_type: undefined})],
  ['token_type DPoP', 'provider_invalid', () => tokens({token_type: 'DPoP'})],
  ['token_type in small letters', 'accepted', () => tokens({token_type: 'bearer'})],
  ['no access_token', 'provider_invalid', () => tokens({access_token: undefined})],
  ['an access_token with a line break', 'provider_invalid', () => tokens({access_token: 'a\r\nx-evil: 1'})],
  ['no id_token', 'token_invalid', () => tokens({id_token: undefined})],
  ['an id_token that is a list', 'token_invalid', () => tokens({id_token: ['a.b.c']})],
  [
    'two ID tokens',
    'provider_invalid',
    () => ({token: good => new RawReply(200, JSON.stringify(good).replace('{', '{"id_token":"a.b.c",'))}),
  ],
  // the answer that the browser brings
  ['iss of another', 'issuer_mixed', () => ({answer: params => params.set('iss', 'https://evil.test')})],
  ['iss with a slash', 'issuer_mixed', () => ({answer: params => params.set('iss', `${provider().issuer}/`)})],
  ['no iss though it is supported', 'issuer_mixed', () => ({answer: params => params.delete('iss')})],
  [
    'no iss where it is not supported',
    'accepted',
    () => ({
      answer: params => params.delete('iss'),
      ...discovery({authorization_response_iss_parameter_supported: undefined}),
    }),
  ],
  [
    'an error of another issuer',
    'issuer_mixed',
    () => ({
      answer(params) {
        params.set('error', 'access_denied')
        params.set('iss', 'https://evil.test')
      },
    }),
  ],
  ['two codes', 'request_invalid', () => ({answer: params => params.append('code', 'other')})],
  ['two iss', 'request_invalid', () => ({answer: params => params.append('iss', 'https://evil.test')})],
  ['no code', 'request_invalid', () => ({answer: params => params.delete('code')})],
  ['a code of 5,000 characters', 'request_invalid', () => ({answer: params => params.set('code', 'c'.repeat(5000))})],
  ['access_denied', 'provider_denied', () => ({answer: params => params.set('error', 'access_denied')})],
  ['another error', 'provider_error', () => ({answer: params => params.set('error', 'login_required')})],
]

describe('29: the claims of an ID token', () => each(OF_CLAIMS))
describe('29: the form, the algorithm and the key of an ID token', () => each(OF_TOKEN))
describe('29, 30: answers of a provider', () => each(OF_REPLIES))

test.each([
  ['no auth_time', 'token_time', {}],
  ['auth_time as text', 'token_time', {auth_time: 'now'}],
  ['auth_time too long ago', 'token_time', {auth_time: now_s() - 400}],
  ['auth_time ahead', 'token_time', {auth_time: now_s() + 90}],
  ['auth_time within max_age and the skew', 'accepted', {auth_time: now_s() - 330}],
])('29: with max_age: %s', async (_, reason, values) => {
  expect((await judged(claims(values), {}, {max_age_s: 300})).outcome).toBe(reason)
})

test('30: an error is refused before the code is exchanged, and a wrong iss before anything is read', async () => {
  const denied = await judged({answer: params => params.set('error', 'access_denied')})
  expect(denied.lines).not.toContain('POST /token')
  const party = relyingParty()
  const params = new URLSearchParams({code: 'c', iss: 'https://evil.test'})
  const rules = oidcSettings({issuer: provider().issuer, client_secret: 'secret'})
  expect(await outcomeOf(party.providers.finish(rules, {params, ...REQUEST}))).toBe('issuer_mixed')
  expect(party.requests).toEqual([])
})

test('an error of the token endpoint is named for administrators', async () => {
  const body = JSON.stringify({error: 'invalid_client', error_description: 'The secret has expired.'})
  const {detail} = await judged({token: () => new RawReply(401, body)})
  expect(detail).toMatch(/error invalid_client: The secret has expired\./)
})

test('texts of an error come as text, short and without anything that a page or a terminal obeys', async () => {
  const evil = `<script>alert(1)</script>\u001b[31m\r\n\u202e"${'x'.repeat(2000)}`
  const {detail} = await judged({
    answer: params => {
      params.set('error', evil)
      params.set('error_description', evil)
    },
  })
  expect(detail).toMatch(/^[^<>"'&\p{Cc}\p{Cf}]{1,450}$/u)
  expect(detail).toContain('script')
})

test('an unknown key is looked for once, and then not before the interval is over', async () => {
  const party = relyingParty({refetch_min_interval_ms: 30_000})
  const rules = oidcSettings({issuer: provider().issuer, client_secret: 'secret'})
  const reads = () => party.requests.filter(({url}) => url.endsWith('/keys')).length
  const signIn = async () => {
    const back = await provider().answerTo(await party.providers.begin(rules, REQUEST))
    return outcomeOf(party.providers.finish(rules, {params: back.searchParams, ...REQUEST}))
  }
  expect([await signIn(), reads()]).toEqual(['accepted', 1])
  provider().lie({header: {kid: 'new'}})
  expect([await signIn(), await signIn(), reads()]).toEqual(['token_key', 'token_key', 1])
  party.clock.steady_ms += 30_000
  expect([await signIn(), await signIn(), reads()]).toEqual(['token_key', 'token_key', 2])
})

test('no secret is in a refusal, whatever the provider answers with', async () => {
  for (const lies of [{token: () => HTML}, {token: () => new RawReply(500, '')}, claims({nonce: 'other'})] as Lies[]) {
    const {detail} = await judged(lies, {client_secret: 'canary-secret'})
    expect(detail).not.toMatch(/canary-secret|verifier-that|nonce-of-this|access-/)
  }
})

function discovery(values: Record<string, unknown>): Lies {
  return {discovery: good => ({...good, ...values})}
}

function tokens(values: Record<string, unknown>): Lies {
  return {token: good => ({...good, ...values})}
}

function unsigned(text: string): string {
  return `${encoded({alg: 'none', typ: 'JWT'})}.${text.split('.')[1]}.`
}

function hashed(text: string, alg: string): string {
  return hmacToken({alg, kid: 'lying'}, payloadOf(text), publicPem(provider().key))
}

function rewritten(text: string, values: object): string {
  const [header, , signature] = text.split('.')
  const unbelieved = signedToken({}, {...payloadOf(text), ...values}, provider().key).split('.')[1]
  return `${header}.${unbelieved}.${signature}`
}

function payloadOf(text: string): object {
  return JSON.parse(Buffer.from(text.split('.')[1]!, 'base64url').toString('utf8')) as object
}
