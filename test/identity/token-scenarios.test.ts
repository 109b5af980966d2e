import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {readCredential} from '../../src/identity/jwt/read.ts'
import {type TokenRules, verifiedClaims} from '../../src/identity/jwt/verify.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {heldToken, signer} from '../support/tokens.ts'

// Cases of comparable products, by their numbers.

const KEY = signer('RS256', 'k1')
const NOW_MS = Date.parse('2026-03-04T05:06:07.000Z')
const RULES: TokenRules = {
  ...{algorithms: ['RS256'], issuer: null, audiences: [], clock_skew_s: 5, max_lifetime_s: null},
  ...{revoked_before_s: null, allowed_subjects: []},
}
const verified = (claims: object, rules: Partial<TokenRules>, keys: readonly object[] = [KEY.jwk], by = KEY) =>
  verifiedClaims(readCredential(heldToken(by, claims, NOW_MS)), keys as never, {...RULES, ...rules}, NOW_MS / 1000)

describe('IC14: the audience is a text of the list, and nothing that only looks like one', () => {
  test.each([['gw'], [['x', 'gw']]])('%j is taken', aud => {
    expect(verified({aud}, {audiences: ['gw']})).toMatchObject({aud})
  })

  test.each([undefined, 'GW', 'gw-test', 'x gw', [], ['x'], [['gw']], ['gw', 7], {gw: 1}])('%j is refused', aud => {
    expect(() => verified({aud}, {audiences: ['gw']})).toThrow(expect.objectContaining({code: 'token.audience'}))
  })

  test('an issuer is the same to its last slash', () => {
    expect(() => verified({iss: 'https://i.test'}, {issuer: 'https://i.test/'})).toThrow(
      expect.objectContaining({code: 'token.audience'}),
    )
  })
})

test('IC13: what a set holds besides fitting keys does no harm', () => {
  const enc = {...signer('RS256', 'k1').jwk, use: 'enc', alg: 'RSA-OAEP'}
  const short = signer('RS256', 'short', 1024).jwk
  const set = [
    enc,
    {...KEY.jwk, use: 'sig'},
    {kty: 'oct', kid: 'k2', k: 'c2VjcmV0'},
    short,
    {kty: 'XX', kid: 'k3'},
    'text',
  ]
  expect(verified({sub: 'a'}, {}, set as object[])).toMatchObject({sub: 'a'})
  for (const kid of ['k2', 'k3', 'short', '__proto__', 'constructor', '../x', 'x'.repeat(256)])
    expect(() => verified({sub: 'a'}, {}, set as object[], {...KEY, kid})).toThrow(
      expect.objectContaining({status: 401}),
    )
})

describe('of two organisations', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.close())

  test('IC12: tokens that look alike are each its own', async () => {
    const {id: organisation_id} = await gateway.admin<{id: string}>('GET', '/admin/organisation')
    const [workspace] = (await gateway.admin<{data: {slug: string}[]}>('GET', '/admin/workspaces')).data
    await gateway.admin('PUT', '/admin/organisation/auth', {jwt: {jwks: {keys: [KEY.jwk]}}})
    const same = {note: 'n'.repeat(200), organisation_id, workspace_slug: workspace!.slug, scope: 'completions.write'}
    const users = ['ada', 'bob']
    const tokens = users.map(user => heldToken(KEY, {...same, email_id: `${user}@example.com`}, Date.now()))
    expect(tokens[0]!.slice(0, 300)).toBe(tokens[1]!.slice(0, 300))
    const chat = async (credential: string) => {
      const body = JSON.stringify({model: 'm', messages: [{role: 'user', content: 'hi'}]})
      const headers = {
        'content-type': 'application/json',
        'x-gateway-api-key': credential,
        'x-gateway-provider': '@demo',
      }
      const reply = await fetch(`${gateway.url}/v1/chat/completions`, {method: 'POST', body, headers})
      await reply.arrayBuffer()
      return reply.status
    }
    const calls = Array.from({length: 40}, (_, at) => chat(tokens[at % 2]!))
    expect(new Set(await Promise.all(calls))).toEqual(new Set([200]))
    const rows = await gateway.logs()
    const seen = rows.map(({api_key_id, metadata}) => `${api_key_id} ${(metadata as {value: string[]}).value}`)
    expect(new Set(seen).size).toBe(2)
    const [header, payload] = tokens[0]!.split('.')
    expect(await chat(`${header}.${payload}.${tokens[1]!.split('.')[2]}`)).toBe(401)
  })

  test('IC12: one key id of two organisations is two keys', async () => {
    const other = await gateway.admin<{id: string; admin_key: string; workspace_slug: string}>(
      'POST',
      '/operator/organisations',
      {name: 'Other'},
    )
    const theirs = signer('RS256', 'k1')
    await fetch(`${gateway.url}/v1/admin/organisation/auth`, {
      method: 'PUT',
      headers: {'x-gateway-api-key': other.admin_key, 'content-type': 'application/json'},
      body: JSON.stringify({jwt: {jwks: {keys: [theirs.jwk]}}}),
    })
    const claims = {organisation_id: other.id, workspace_slug: other.workspace_slug, scope: 'configs.list'}
    const status = async (token: string) =>
      (await fetch(`${gateway.url}/v1/configs`, {headers: {'x-gateway-api-key': token}})).status
    expect(await status(heldToken(theirs, claims, Date.now()))).toBe(200)
    expect(await status(heldToken(KEY, claims, Date.now()))).toBe(401)
  })
})
