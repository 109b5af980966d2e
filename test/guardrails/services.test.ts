import {expect, test} from 'vitest'
import type {HttpAsk} from '../../src/guardrails/http.ts'
import {answered, type CheckSetup, checkOf, NOW_MS, run, said} from './support.ts'
import {ec, jwks, rsa} from './tokens.ts'

const HOOK = 'https://guard.example.com/judge'
const KEYS = 'https://id.example.com/keys'
const ASK = 'https://id.example.com/introspect'
const PASS = {body: '{"verdict":true}'}
const HI = said('hi')
const bearer = (token: string) => ({authorization: `Bearer ${token}`})

test('a webhook is asked in the form of its contract, on the input', async () => {
  const {made} = await run([{webhook: {webhookURL: HOOK, headers: '{"X-Key":"k"}'}}], {
    body: HI,
    http: {[HOOK]: PASS},
    metadata: {team: 'red'},
    headers: {authorization: 'Bearer sk-client', 'x-tenant': 't1'},
  })
  expect(made.asked).toHaveLength(1)
  const {method, url, headers, body} = made.asked[0]!
  expect([method, url]).toEqual(['POST', HOOK])
  expect(headers).toEqual({
    'content-type': 'application/json',
    'x-key': 'k',
    traceparent: expect.stringMatching(/^00-[\da-f]{32}-[\da-f]{16}-01$/),
  })
  expect(JSON.parse(body!)).toEqual({
    request: {json: HI, text: 'hi', isStreamingRequest: false, isTransformed: false},
    response: {json: null, text: '', statusCode: null, isTransformed: false},
    provider: 'some-provider',
    requestType: 'chatComplete',
    metadata: {team: 'red'},
    eventType: 'beforeRequestHook',
  })
})

test('and on the output, with both bodies', async () => {
  const {made} = await run([{webhook: {webhookURL: HOOK}}], {
    side: 'output',
    request: HI,
    body: answered('yes'),
    http: {[HOOK]: PASS},
  })
  expect(JSON.parse(made.asked[0]!.body!)).toMatchObject({
    request: {json: HI, text: 'hi'},
    response: {json: answered('yes'), text: 'yes', statusCode: 200},
    eventType: 'afterRequestHook',
  })
})

test('headers that are named are handed on; names of the gateway’s own only for traces', async () => {
  const headers = {'x-tenant': 't1', 'x-gateway-trace-id': 'abc', 'x-other': 'o', cookie: 'c'}
  const {made} = await run(
    [{webhook: {webhookURL: HOOK, forwardHeaders: ['X-Tenant', 'x-gateway-trace-id', 'x-absent', 'constructor']}}],
    {
      body: HI,
      http: {[HOOK]: PASS},
      headers,
    },
  )
  expect(Object.keys(made.asked[0]!.headers).sort()).toEqual([
    'content-type',
    'traceparent',
    'x-gateway-trace-id',
    'x-tenant',
  ])
})

test.each([
  'authorization',
  'X-Api-Key',
  'ocp-apim-subscription-key',
  'proxy-authorization',
  'Cookie',
  'metadata-flavor',
  'x-aws-ec2-metadata-token',
  'x-gateway-config',
  'x-portkey-api-key',
  'connection',
  'x_y',
])('%s is never handed on', async name => {
  await expect(run([{webhook: {webhookURL: HOOK, forwardHeaders: [name]}}], {body: HI})).rejects.toThrow(
    'forwardHeaders',
  )
})

test('a trace id that is one already is the trace’s', async () => {
  const {made} = await run([{webhook: {webhookURL: HOOK, forwardHeaders: ['traceparent']}}], {
    body: HI,
    http: {[HOOK]: PASS},
    headers: {traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`},
  })
  expect(made.asked[0]!.headers.traceparent).toBe(`00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`)
})

test('of an answer of 100 MB no more is read than may be', async () => {
  const chunk = Buffer.alloc(1024 * 1024, 0x20)
  const {made} = await run([{webhook: {webhookURL: HOOK}}], {
    body: HI,
    http: {[HOOK]: {body: Array.from({length: 100}, () => chunk)}},
  })
  expect(made.read.bytes).toBeLessThanOrEqual(9 * 1024 * 1024)
})

test('an error’s JSON is told, another body is not', async () => {
  const json = checkOf(
    await run([{webhook: {webhookURL: HOOK}}], {body: HI, http: {[HOOK]: {status: 503, body: '{"why":"busy"}'}}}),
  )
  expect(json.data).toMatchObject({responseStatus: 503, responseData: {why: 'busy'}})
  const html = checkOf(
    await run([{webhook: {webhookURL: HOOK}}], {body: HI, http: {[HOOK]: {status: 503, body: '<html>'}}}),
  )
  expect(html.data).toMatchObject({responseData: null})
})

test('the address of a service is in no result beyond its host', async () => {
  const secret = 'https://guard.example.com/judge?token=t0p'
  const outcome = await run([{webhook: {webhookURL: secret}}], {body: HI})
  expect(JSON.stringify(outcome.results)).not.toContain('t0p')
})

test('a URL of the answer is called without what follows #, and each once', async () => {
  const http = {'https://a.example/x': {}}
  const {made} = await run([{validUrls: {}}], {
    side: 'output',
    body: answered('https://a.example/x#a https://a.example/x#a'),
    http,
  })
  expect(made.asked.map(({method, url}) => [method, url])).toEqual([['HEAD', 'https://a.example/x']])
})

const jwtOf = (more: object, world: CheckSetup) => run([{jwt: {jwksUri: KEYS, ...more}}], {body: HI, ...world})
const keySet = (keys: unknown[]) => ({body: JSON.stringify({keys})})

test('keys are fetched once for many calls', async () => {
  const memory = new Map<string, unknown>()
  const asked: HttpAsk[] = []
  const http = {
    [KEYS]: (ask: HttpAsk) => {
      asked.push(ask)
      return keySet(jwks.keys)
    },
  }
  for (let call = 0; call < 3; call++) {
    const outcome = await jwtOf({}, {memory, http, headers: bearer(rsa.token())})
    expect(checkOf(outcome).verdict).toBe(true)
  }
  expect(asked).toHaveLength(1)
})

test('a key that is missing is looked for once more, and not again for half a minute', async () => {
  const memory = new Map<string, unknown>()
  let served = [rsa.jwk]
  let fetched = 0
  let now = NOW_MS
  const http = {
    [KEYS]: () => {
      fetched++
      return keySet(served)
    },
  }
  const call = async () =>
    checkOf(await jwtOf({algorithms: ['ES256']}, {memory, http, headers: bearer(ec.token()), now_ms: () => now}))
      .verdict
  expect([await call(), fetched]).toEqual([false, 1])
  served = [rsa.jwk, ec.jwk]
  now += 29_000
  expect([await call(), fetched]).toEqual([false, 1])
  now += 2000
  expect([await call(), fetched]).toEqual([true, 2])
})

test('claims are handed on as headers, made fit for them', async () => {
  const token = rsa.token({sub: 's1', roles: ['a', 'b'], 'https://x/y': 1, evil: 'a\r\nb: c', none: null})
  const options = {extractClaims: ['sub', 'roles', 'https://x/y', 'evil', 'none', 'toString']}
  const outcome = await jwtOf(options, {headers: bearer(token), http: {[KEYS]: keySet(jwks.keys)}})
  expect(outcome.headers).toEqual({'x-jwt-sub': 's1', 'x-jwt-roles': '["a","b"]', 'x-jwt-https---x-y': '1'})
  expect(JSON.stringify(outcome.results)).not.toContain('s1')
})

test('claims of a token that fails are not', async () => {
  const outcome = await jwtOf(
    {extractClaims: ['sub'], requiredClaims: ['aud']},
    {headers: bearer(rsa.token({sub: 's'})), http: {[KEYS]: keySet(jwks.keys)}},
  )
  expect(outcome.headers).toEqual({})
})

test('an introspection is asked in its form, and kept under a name that is not the token', async () => {
  const memory = new Map<string, unknown>()
  const options = {introspectEndpoint: ASK, introspectCacheMaxAge: 60}
  const asked: HttpAsk[] = []
  for (let call = 0; call < 2; call++) {
    const outcome = await run([{jwt: options}], {
      body: HI,
      memory,
      headers: bearer('opaque-1'),
      http: {[ASK]: {body: '{"active":true}'}},
    })
    asked.push(...outcome.made.asked)
    expect(checkOf(outcome).verdict).toBe(true)
  }
  expect(asked).toEqual([
    expect.objectContaining({
      method: 'POST',
      body: 'token=opaque-1',
      headers: {'content-type': 'application/x-www-form-urlencoded', accept: 'application/json'},
    }),
  ])
  expect([...memory.keys()].join()).not.toContain('opaque-1')
})

test('a token is in no result', async () => {
  const token = rsa.token()
  const outcome = await jwtOf({}, {headers: bearer(token), http: {[KEYS]: {status: 500}}})
  expect(JSON.stringify(outcome.results)).not.toContain(token.slice(0, 20))
})
