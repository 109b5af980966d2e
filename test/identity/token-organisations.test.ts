import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {afterEach, describe, expect, onTestFinished, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {heldToken, signer} from '../support/tokens.ts'

// Tokens that name no organisation, and gateways that take those of some alone.

const KEY = signer('EdDSA', 'only')
const ISSUER = 'https://idp.example.com'
const MINE = {issuer: ISSUER, audiences: ['gateway']}
let gateway: TestGateway
afterEach(() => gateway.close())

/** The status of a call with the token, which the demo provider answers. */
async function chatWith(token: string): Promise<number> {
  const body = JSON.stringify({model: 'gpt-4o', messages: [{role: 'user', content: 'hi'}]})
  const headers = {'content-type': 'application/json', 'x-gateway-api-key': token, 'x-gateway-provider': '@demo'}
  const reply = await fetch(`${gateway.url}/v1/chat/completions`, {method: 'POST', body, headers})
  await reply.arrayBuffer()
  return reply.status
}

/** A gateway whose organisation has these rules, and what a token of these claims meets there. */
async function opened(jwt: object, env: Record<string, string> = {}, now = Date.now, steady?: () => number) {
  gateway = await startGateway(env, {now, ...(steady && {steady})})
  const {id} = await gateway.admin<{id: string}>('GET', '/admin/organisation')
  const [workspace] = (await gateway.admin<{data: {slug: string}[]}>('GET', '/admin/workspaces')).data
  await gateway.admin('PUT', '/admin/organisation/auth', {
    jwt: {jwks: {keys: [KEY.jwk]}, algorithms: ['EdDSA'], default_workspace: workspace!.slug, ...jwt},
  })
  const met = async (claims: object, header: object = {}) => {
    const token = heldToken(KEY, {scope: 'configs.list', ...claims}, now(), header)
    return shows(token)
  }
  const shows = async (token: string) => {
    const reply = await fetch(`${gateway.url}/v1/configs`, {headers: {authorization: `Bearer ${token}`}})
    const {data} = (await reply.json()) as {data?: {message?: string}}
    return {status: reply.status, message: data?.message}
  }
  return {id, met, shows}
}

describe('22: a token that names no organisation', () => {
  test('is refused where any app of the provider could have it', async () => {
    const {met} = await opened({issuer: ISSUER})
    expect(await met({iss: ISSUER})).toEqual({
      status: 403,
      message: 'Tokens without an organisation claim need jwt.issuer and jwt.audiences.',
    })
  })

  test.each([
    ['right', {iss: ISSUER, aud: ['other', 'gateway']}, 200, undefined],
    ['of another audience', {iss: ISSUER, aud: 'other'}, 401, 'aud'],
    ['without audience', {iss: ISSUER}, 401, 'aud'],
    ['of another issuer', {iss: 'https://evil.example.com', aud: 'gateway'}, 401, 'iss'],
  ])('is taken by issuer and audience: %s', async (_, claims, status, claim) => {
    const {met} = await opened(MINE)
    const message = claim && `The token is not meant for this gateway (${claim}).`
    expect(await met(claims)).toMatchObject({status, ...(message && {message})})
  })

  test('has to name it as soon as there is a second one', async () => {
    const {met} = await opened(MINE)
    const right = {iss: ISSUER, aud: 'gateway'}
    expect(await met(right)).toMatchObject({status: 200})
    await gateway.admin('POST', '/operator/organisations', {name: 'Second'})
    expect(await met(right)).toEqual({
      status: 401,
      message: 'The token names no organisation (organisation_id), and this gateway has several.',
    })
  })
})

describe('23: ORGANISATIONS_TO_SYNC', () => {
  const OTHER = '11111111-1111-4111-8111-111111111111'
  const THIRD = '22222222-2222-4222-8222-222222222222'
  test('tokens of others are refused', async () => {
    const {id, met} = await opened(MINE, {ORGANISATIONS_TO_SYNC: OTHER})
    expect(await met({organisation_id: id, iss: ISSUER, aud: 'gateway'})).toEqual({
      status: 403,
      message: `The organisation ${id} is not served by this gateway.`,
    })
  })

  test('several, and a token that names none', async () => {
    const {met} = await opened(MINE, {ORGANISATIONS_TO_SYNC: `${OTHER},${THIRD}`})
    expect(await met({iss: ISSUER, aud: 'gateway'})).toMatchObject({status: 401})
  })
})

test('24: JWT_ENABLED=OFF refuses every token', async () => {
  const {id, met} = await opened({}, {JWT_ENABLED: 'OFF'})
  expect(await met({organisation_id: id})).toEqual({status: 403, message: 'Tokens are not accepted here.'})
})

test('an organisation can refuse its own', async () => {
  const {id, met} = await opened({enabled: false})
  expect(await met({organisation_id: id})).toEqual({status: 403, message: 'Tokens are not accepted here.'})
})

test('scopes of the settings count where neither token nor organisation has any', async () => {
  const {id, met} = await opened({}, {JWT_LOCAL_AUTH_DEFAULT_SCOPES: 'configs.list,completions:write'})
  expect(await met({organisation_id: id, scope: undefined})).toMatchObject({status: 200})
})

test('17: the audit log has refused tokens, masked, one row a minute for each reason', async () => {
  let now_ms = Date.parse('2026-03-04T05:06:07.000Z')
  const {id, met} = await opened({}, {}, () => now_ms)
  const wrong = () => met({organisation_id: id, sub: 'app', iss: ISSUER}, {kid: 'unknown'})
  const rows = async () => {
    const {records} = await gateway.admin<{records: Record<string, unknown>[]}>(
      'GET',
      '/audit-logs?start_time=2020-01-01T00:00:00Z&end_time=2100-01-01T00:00:00Z&resource_type=jwt',
    )
    return records
  }
  for (let each = 0; each < 100; each++) expect((await wrong()).status).toBe(401)
  await expect.poll(rows).toHaveLength(1)
  const [row] = await rows()
  expect(row).toMatchObject({
    ...{resource_type: 'jwt', action: 'manage', user_type: 'system', response_status_code: 401},
    client_ip: expect.stringContaining('127.0.0.1'),
  })
  expect(JSON.parse(String(row!.request_body))).toEqual({
    jwtToken: expect.stringMatching(/^ey\*{4}..$/),
    error: 'Error verifying the token: signing key not found.',
    ...{kid: 'unknown', subject: 'app', iss: ISSUER, count: 1},
  })
  now_ms += 60_000
  await wrong()
  await expect.poll(rows).toHaveLength(2)
  expect(JSON.parse(String((await rows())[0]!.request_body)).count).toBe(100)
})

test('19: a key that is gone at its address ends the tokens that were taken with it', async () => {
  let steady_ms = 0
  const served = {keys: [KEY.jwk], asked: 0}
  const address = createServer((_, response) => {
    served.asked++
    response.writeHead(200, {'content-type': 'application/json'}).end(JSON.stringify({keys: served.keys}))
  })
  await new Promise<void>(resolve => address.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void address.close())
  const jwks_url = `http://127.0.0.1:${(address.address() as AddressInfo).port}/keys`
  const steady = () => performance.now() + steady_ms
  const {id} = await opened({jwks_url, jwks: undefined}, {}, Date.now, steady)
  const token = heldToken(KEY, {organisation_id: id, scope: 'completions.write'}, Date.now())
  const chat = () => chatWith(token)
  expect([await chat(), await chat(), served.asked]).toEqual([200, 200, 1])
  served.keys = [signer('EdDSA', 'next').jwk]
  steady_ms += 480_000 // 80 % of the time for which a set is fresh
  expect(await chat()).toBe(200)
  await expect.poll(() => served.asked).toBe(2)
  await expect.poll(chat).toBe(401)
})

test('a token that was taken ends when it expires, and with the skew that is allowed', async () => {
  let now_ms = Date.parse('2026-03-04T05:06:07.000Z')
  const {id, shows} = await opened({}, {}, () => now_ms)
  const token = heldToken(KEY, {organisation_id: id, scope: 'configs.list completions.write'}, now_ms)
  const both = async () => [(await shows(token)).status, await chatWith(token)]
  expect(await both()).toEqual([200, 200])
  now_ms += 3_604_000
  expect(await both()).toEqual([200, 200])
  now_ms += 1_000
  expect(await both()).toEqual([401, 401])
})
