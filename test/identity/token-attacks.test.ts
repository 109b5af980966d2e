import {describe, expect, test} from 'vitest'
import {Refusal} from '../../src/base/errors.ts'
import {ALGORITHMS, type Algorithm} from '../../src/base/jwt/token.ts'
import {looksLikeToken, readCredential} from '../../src/identity/jwt/read.ts'
import {type TokenRules, verifiedClaims} from '../../src/identity/jwt/verify.ts'
import {encoded, hmacToken, type Signer, signatureOf, signedToken, signer} from '../support/tokens.ts'

const NOW_S = 1_772_600_000
const RULES: TokenRules = {
  algorithms: ['RS256'],
  issuer: null,
  audiences: [],
  clock_skew_s: 5,
  max_lifetime_s: null,
  revoked_before_s: null,
  allowed_subjects: [],
}
const RSA = signer('RS256', 'rsa')
const OTHER = signer('RS256', 'other')
const FOREIGN = signer('RS256', 'rsa')
const SMALL = signer('RS256', 'small', 1024)
const EC = signer('ES256', 'ec')
const ED = signer('EdDSA', 'ed')
const KEYS = [RSA.jwk, OTHER.jwk, SMALL.jwk, EC.jwk, ED.jwk, {kty: 'oct', kid: 'oct', k: encoded('secret')}]
const CLAIMS = {iss: 'https://idp.example.com', sub: 'app', aud: 'gateway', iat: NOW_S - 10, exp: NOW_S + 600}
const HEADER = {alg: 'RS256', typ: 'JWT', kid: 'rsa'}
const PUBLIC_PEM = pemOf(RSA)

function pemOf({private_key}: Signer): string {
  return private_key.export({type: 'pkcs8', format: 'pem'}).toString()
}

const good = (claims: object = {}, header: object = {}) =>
  signedToken({...HEADER, ...header}, {...CLAIMS, ...claims}, RSA)
const judged = (token: string, rules: Partial<TokenRules> = {}) =>
  verifiedClaims(readCredential(token), KEYS as never, {...RULES, ...rules}, NOW_S)

function refusedAs(token: string, rules?: Partial<TokenRules>): string {
  try {
    judged(token, rules)
    return 'accepted'
  } catch (fault) {
    return fault instanceof Refusal ? fault.code : `fault: ${String(fault)}`
  }
}

const [HEAD, BODY, SIGNATURE] = good().split('.') as [string, string, string]
const resigned = (header: unknown, payload: unknown, by = RSA) => signedToken(header as object, payload as object, by)
const withSignature = (signature: string) => `${HEAD}.${BODY}.${signature}`
const bytes = Buffer.from(SIGNATURE, 'base64url')
const flipped = Buffer.from(bytes.map((byte, at) => (at === 3 ? byte ^ 1 : byte)))
/** The last character of a signature of 256 bytes has 4 bits that say nothing. */
const respelled = SIGNATURE.slice(0, -1) + String.fromCharCode(SIGNATURE.charCodeAt(SIGNATURE.length - 1) + 1)

const ATTACKS: readonly (readonly [name: string, token: string, code: string, rules?: Partial<TokenRules>])[] = [
  // the algorithm
  ...['none', 'None', 'NONE', 'nOnE', '', 'HS256', 'HS384', 'RS512', 'rs256', 'RS256 ', 'RSA256'].map(
    alg => [`alg ${JSON.stringify(alg)}`, resigned({...HEADER, alg}, CLAIMS), 'token.algorithm'] as const,
  ),
  ['alg none without a signature', `${encoded({...HEADER, alg: 'none'})}.${BODY}.`, 'token.unreadable'],
  ['alg none with a signature of one zero', `${encoded({...HEADER, alg: 'none'})}.${BODY}.AA`, 'token.algorithm'],
  ['no alg', resigned({typ: 'JWT', kid: 'rsa'}, CLAIMS), 'token.algorithm'],
  ['alg that is a list', resigned({...HEADER, alg: ['RS256']}, CLAIMS), 'token.algorithm'],
  ['alg that is null', resigned({...HEADER, alg: null}, CLAIMS), 'token.algorithm'],
  ['HS256 with the public key', hmacToken({...HEADER, alg: 'HS256'}, CLAIMS, PUBLIC_PEM), 'token.algorithm'],
  ['HS256 with the modulus', hmacToken({...HEADER, alg: 'HS256'}, CLAIMS, String(RSA.jwk.n)), 'token.algorithm'],
  ['HS256 named RS256', hmacToken(HEADER, CLAIMS, PUBLIC_PEM), 'token.signature'],
  [
    'RS256 by a key for PS256',
    signedToken({...HEADER, alg: 'RS256'}, CLAIMS, {...RSA, alg: 'PS256'}),
    'token.signature',
  ],
  ['RS512 named RS256', signedToken(HEADER, CLAIMS, {...RSA, alg: 'RS512'}), 'token.signature'],
  ['ES256 where RS256 is accepted', signedToken({...HEADER, alg: 'ES256', kid: 'ec'}, CLAIMS, EC), 'token.algorithm'],
  // the type
  ...['logout+jwt', 'id_token', 'JWE', 'at+jwt2', '', 'application/jwt+json', 'dpop+jwt'].map(
    typ => [`typ ${JSON.stringify(typ)}`, resigned({...HEADER, typ}, CLAIMS), 'token.type'] as const,
  ),
  ['typ that is a list', resigned({...HEADER, typ: ['JWT']}, CLAIMS), 'token.type'],
  // the key
  ['unknown kid', resigned({...HEADER, kid: 'unknown'}, CLAIMS), 'token.key'],
  ['no kid', resigned({alg: 'RS256', typ: 'JWT'}, CLAIMS), 'token.key'],
  ['empty kid', resigned({...HEADER, kid: ''}, CLAIMS), 'token.key'],
  ['kid that is a number', resigned({...HEADER, kid: 1}, CLAIMS), 'token.key'],
  ['kid that is a list', resigned({...HEADER, kid: ['rsa']}, CLAIMS), 'token.key'],
  ['kid of 256 characters', resigned({...HEADER, kid: 'k'.repeat(256)}, CLAIMS), 'token.key'],
  ['kid that is a path', resigned({...HEADER, kid: '../../rsa'}, CLAIMS), 'token.key'],
  ['kid that is SQL', resigned({...HEADER, kid: "' or '1'='1"}, CLAIMS), 'token.key'],
  ['kid of another key', resigned({...HEADER, kid: 'other'}, CLAIMS), 'token.signature'],
  ['kid of a key of another kind', resigned({...HEADER, kid: 'ec'}, CLAIMS), 'token.key'],
  ['kid of a secret', hmacToken({...HEADER, kid: 'oct'}, CLAIMS, 'secret'), 'token.key'],
  ['key of 1024 bits', signedToken({...HEADER, kid: 'small'}, CLAIMS, SMALL), 'token.key'],
  ['foreign key of the same kid', signedToken(HEADER, CLAIMS, FOREIGN), 'token.signature'],
  ['key in its own header (jwk)', signedToken({...HEADER, jwk: FOREIGN.jwk}, CLAIMS, FOREIGN), 'token.signature'],
  ['key by jku', signedToken({...HEADER, jku: 'https://evil.example.com/keys'}, CLAIMS, FOREIGN), 'token.signature'],
  ['key by x5u', signedToken({...HEADER, x5u: 'https://evil.example.com/crt'}, CLAIMS, FOREIGN), 'token.signature'],
  ['key by x5c', signedToken({...HEADER, x5c: ['MIIB']}, CLAIMS, FOREIGN), 'token.signature'],
  ['crit', resigned({...HEADER, crit: ['exp']}, CLAIMS), 'token.unreadable'],
  ['b64 false', resigned({...HEADER, b64: false}, CLAIMS), 'token.unreadable'],
  // the signature
  ['tampered payload', `${HEAD}.${encoded({...CLAIMS, sub: 'admin'})}.${SIGNATURE}`, 'token.signature'],
  ['tampered header', `${encoded({...HEADER, extra: 1})}.${BODY}.${SIGNATURE}`, 'token.signature'],
  ['a bit of the signature', withSignature(flipped.toString('base64url')), 'token.signature'],
  ['signature cut', withSignature(bytes.subarray(0, 255).toString('base64url')), 'token.signature'],
  [
    'signature lengthened',
    withSignature(Buffer.concat([bytes, Buffer.of(0)]).toString('base64url')),
    'token.signature',
  ],
  ['signature of zeros', withSignature(Buffer.alloc(256).toString('base64url')), 'token.signature'],
  ['no signature', withSignature(''), 'token.unreadable'],
  ['signature spelled otherwise', withSignature(respelled), 'token.unreadable'],
  ['signature padded', withSignature(`${SIGNATURE}==`), 'token.unreadable'],
  ['signature in plain base64', withSignature(bytes.toString('base64')), 'token.unreadable'],
  ['ES256 as DER', derOf(), 'token.signature', {algorithms: ['ES256']}],
  ['ES256 of zeros', zerosOf(), 'token.signature', {algorithms: ['ES256']}],
  // its form
  ['two parts', `${HEAD}.${BODY}`, 'token.unreadable'],
  ['four parts', `${good()}.${SIGNATURE}`, 'token.unreadable'],
  ['five parts, as of JWE', `${good()}.AA.AA`, 'token.unreadable'],
  ['a space before it', ` ${good()}`, 'token.unreadable'],
  ['a line end behind it', `${good()}\n`, 'token.unreadable'],
  ['NUL in it', good().replace('.', '\0.'), 'token.unreadable'],
  ['longer than 16 KB', good({pad: 'x'.repeat(16_384)}), 'token.unreadable'],
  ['payload that is a list', resigned(HEADER, '[1]'), 'token.unreadable'],
  ['payload that is a text', resigned(HEADER, '"text"'), 'token.unreadable'],
  ['payload that is no JSON', resigned(HEADER, '{exp}'), 'token.unreadable'],
  ['payload with a member twice', resigned(HEADER, `{"exp":1,"exp":${NOW_S + 60}}`), 'token.unreadable'],
  [
    'payload with a member twice, one escaped',
    resigned(HEADER, `{"exp":1,"\\u0065xp":${NOW_S + 60}}`),
    'token.unreadable',
  ],
  ['header with a member twice', resigned('{"alg":"RS256","kid":"rsa","alg":"none"}', CLAIMS), 'token.unreadable'],
  [
    'payload that is no UTF-8',
    `${HEAD}.${Buffer.of(0x7b, 0xff, 0x7d).toString('base64url')}.${SIGNATURE}`,
    'token.unreadable',
  ],
  ['payload nested deep', resigned(HEADER, `{"a":${'['.repeat(300)}${']'.repeat(300)}}`), 'token.unreadable'],
  ['__proto__ in place of claims', resigned(HEADER, `{"__proto__":{"exp":${NOW_S + 60}}}`), 'token.time'],
  // its times
  ['no exp', good({exp: undefined}), 'token.time'],
  ...['text', null, true, [NOW_S + 60], {}, Number.MAX_VALUE].map(
    exp => [`exp ${JSON.stringify(exp)}`, good({exp}), 'token.time'] as const,
  ),
  ['exp as digits', good({exp: String(NOW_S + 60)}), 'token.time'],
  ['expired', good({exp: NOW_S - 5}), 'token.time'],
  ['exp far in the past', good({exp: -1}), 'token.time'],
  ['nbf ahead', good({nbf: NOW_S + 6}), 'token.time'],
  ['nbf that is a text', good({nbf: 'now'}), 'token.time'],
  ['iat ahead', good({iat: NOW_S + 6}), 'token.time'],
  ['iat that is a text', good({iat: 'now'}), 'token.time'],
  ['longer than max_lifetime_s', good({exp: NOW_S + 3600}), 'token.time', {max_lifetime_s: 900}],
  ['no iat where max_lifetime_s is set', good({iat: undefined}), 'token.time', {max_lifetime_s: 900}],
  ['made before revoked_before', good(), 'token.time', {revoked_before_s: NOW_S - 9}],
  ['no iat while revoked_before is set', good({iat: undefined}), 'token.time', {revoked_before_s: 1}],
  // whom it is of and for
  ['foreign issuer', good({iss: 'https://evil.example.com'}), 'token.audience', {issuer: CLAIMS.iss}],
  ['issuer with a slash', good({iss: `${CLAIMS.iss}/`}), 'token.audience', {issuer: CLAIMS.iss}],
  ['no issuer', good({iss: undefined}), 'token.audience', {issuer: CLAIMS.iss}],
  ['issuer in a list', good({iss: [CLAIMS.iss]}), 'token.audience', {issuer: CLAIMS.iss}],
  ['foreign audience', good({aud: 'other'}), 'token.audience', {audiences: ['gateway']}],
  ['no audience', good({aud: undefined}), 'token.audience', {audiences: ['gateway']}],
  ['audience that begins alike', good({aud: 'gateway2'}), 'token.audience', {audiences: ['gateway']}],
  ['audience nested', good({aud: [['gateway']]}), 'token.audience', {audiences: ['gateway']}],
  ['audience as an object', good({aud: {gateway: 1}}), 'token.audience', {audiences: ['gateway']}],
  ['foreign subject', good(), 'token.subject', {allowed_subjects: ['other']}],
  ['no subject', good({sub: undefined}), 'token.subject', {allowed_subjects: ['app']}],
  ['subject in a list', good({sub: ['app']}), 'token.subject', {allowed_subjects: ['app']}],
]

function derOf(): string {
  const data = `${encoded({...HEADER, alg: 'ES256', kid: 'ec'})}.${BODY}`
  const half = signatureOf(data, EC)
  const integer = (part: Buffer) => Buffer.concat([Buffer.of(2, 33, 0), part])
  const der = Buffer.concat([Buffer.of(0x30, 70), integer(half.subarray(0, 32)), integer(half.subarray(32))])
  return `${data}.${der.toString('base64url')}`
}

function zerosOf(): string {
  return `${encoded({...HEADER, alg: 'ES256', kid: 'ec'})}.${BODY}.${Buffer.alloc(64).toString('base64url')}`
}

describe('tokens', () => {
  test(`of ${ATTACKS.length} that attack none is accepted`, () => {
    expect(ATTACKS.length).toBeGreaterThanOrEqual(60)
    const answers = ATTACKS.map(([name, token, , rules]) => [name, refusedAs(token, rules)])
    expect(answers).toEqual(ATTACKS.map(([name, , code]) => [name, code]))
  })

  test.each([
    ['as it is made', good()],
    ['of the type at+jwt', good({}, {typ: 'at+jwt'})],
    ['of the type APPLICATION/AT+JWT', good({}, {typ: 'APPLICATION/AT+JWT'})],
    ['without a type', good({}, {typ: undefined})],
    ['4 seconds after it expired', good({exp: NOW_S - 4})],
    ['5 seconds before it begins', good({nbf: NOW_S + 5, iat: NOW_S + 5})],
    ['of a fraction of a second', good({exp: NOW_S + 0.5})],
    ['for one of several', good({aud: ['other', 'gateway']}), {audiences: ['third', 'gateway']}],
    [
      'of all rules at once',
      good(),
      {
        issuer: CLAIMS.iss,
        audiences: ['gateway'],
        max_lifetime_s: 610,
        revoked_before_s: NOW_S - 10,
        allowed_subjects: ['app'],
      },
    ],
  ] as readonly [string, string, Partial<TokenRules>?][])('one is accepted %s', (_, token, rules) => {
    expect(refusedAs(token, rules)).toBe('accepted')
  })

  test.each(ALGORITHMS)(
    'one that is signed with %s is accepted where that is, and by its own kind of key alone',
    alg => {
      const by = signer(alg, `by-${alg}`)
      const token = signedToken({alg, kid: by.kid}, CLAIMS, by)
      const rules: TokenRules = {...RULES, algorithms: [alg as Algorithm]}
      expect(verifiedClaims(readCredential(token), [by.jwk as never], rules, NOW_S)).toEqual(CLAIMS)
      expect(refusedAs(token)).toBe(alg === 'RS256' ? 'token.key' : 'token.algorithm')
    },
  )

  test('counters know one token by one id, however it is signed', () => {
    const pss = {...RSA, alg: 'PS256'}
    const [one, other] = [signedToken(HEADER, CLAIMS, pss), signedToken(HEADER, CLAIMS, pss)]
    expect(one).not.toBe(other)
    expect(readCredential(one).counter_id).toBe(readCredential(other).counter_id)
    expect(readCredential(good({sub: 'b'})).counter_id).not.toBe(readCredential(good()).counter_id)
  })

  test('a refusal shows of a token what no terminal and no page reads as more', () => {
    const token = resigned({...HEADER, alg: '<script>\u001b[31m'}, CLAIMS)
    expect(() => judged(token)).toThrow('The token is signed with something else; accepted here: RS256.')
    expect(() => judged(resigned({...HEADER, typ: 'x'.repeat(500)}, CLAIMS))).toThrow(/the type x{40};/)
  })

  test('a token is told from a key by its two dots, and by how it begins', () => {
    expect([good(), 'gk-abc', 'an.operators.choice', 'ey.b', 'ey.b.c.d', '..'].map(looksLikeToken)).toEqual([
      true,
      false,
      false,
      false,
      false,
      false,
    ])
  })
})
