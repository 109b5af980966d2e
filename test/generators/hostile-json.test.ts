import fc from 'fast-check'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {OPERATIONS} from '../../src/admin/registry.ts'
import {Refusal} from '../../src/base/errors.ts'
import {edited, topLevel} from '../../src/base/json.ts'
import {checkDepth, MAX_JSON_DEPTH, wayToNeverKey} from '../../src/base/json-shape.ts'
import {ENDPOINTS} from '../../src/schema/endpoints.ts'
import {ADMIN_KEY, startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider} from '../support/provider.ts'
import {forRing, generated, seed} from '../support/ring.ts'

/**
 * JSON that is meant to hurt: nested deeper than walkers go, with the keys of an object's own workings, and torn in any
 * way.
 */
let gateway: TestGateway
let provider: FakeProvider
let cases = 0
beforeAll(async () => {
  provider = await fakeProvider()
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
})
afterAll(async () => {
  generated('hostile JSON', cases)
  await gateway.close()
  await provider.close()
})

const deep = (levels: number, open = '[') =>
  open === '[' ? '['.repeat(levels) + ']'.repeat(levels) : `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
const DEPTHS = forRing({
  own: [MAX_JSON_DEPTH + 1, 3000],
  ci: [MAX_JSON_DEPTH + 1, 3000, 100_000],
  full: [MAX_JSON_DEPTH + 1, 3000, 100_000],
})
const TOO_DEEP = /nested deeper than the 256 levels/
const json = {'content-type': 'application/json'}

async function send(method: string, path: string, body: string, headers: Record<string, string> = {}) {
  cases++
  const reply = await gateway.call(path, {method, body, headers: {...json, ...headers}})
  return {status: reply.status, text: await reply.text()}
}

test('a body that is nested too deep is 400 that says so, on every unified route, and nothing leaves', async () => {
  const failed: string[] = []
  const routes = Object.values(ENDPOINTS).filter(
    ({method, path}) => method === 'POST' && !/[:*]/.test(path) && !/audio|files|images.edit|variations/.test(path),
  )
  expect(routes.length).toBeGreaterThan(5)
  for (const {path} of routes) {
    for (const kind of ['openai', 'anthropic', 'google']) {
      for (const levels of DEPTHS) {
        for (const open of ['[', '{']) {
          const members = {
            model: '"m"',
            messages: '[{"role":"user","content":"hi"}]',
            input: '"hi"',
            prompt: '"hi"',
            metadata: deep(levels - 1, open),
          }
          const body = `{${Object.entries(members)
            .map(([key, value]) => `"${key}":${value}`)
            .join(',')}}`
          const {status, text} = await send('POST', `/v1${path}`, body, {
            'x-gateway-provider': kind,
            'x-gateway-custom-host': provider.url,
          })
          if (status !== 400 || !TOO_DEEP.test(text))
            failed.push(`${kind} ${path} ${levels} ${open}: ${status} ${text.slice(0, 160)}`)
        }
      }
    }
  }
  expect(failed).toEqual([])
  expect(provider.received).toEqual([])
})

test('what is as deep as may be passes', async () => {
  const body = `{"model":"m","messages":[{"role":"user","content":"hi"}],"metadata":${deep(MAX_JSON_DEPTH - 1)}}`
  const place = {'x-gateway-provider': 'openai', 'x-gateway-custom-host': provider.url}
  expect((await send('POST', '/v1/chat/completions', body, place)).status).toBe(200)
  provider.received.length = 0
})

test('every operation that reads a body says so too', async () => {
  const failed: string[] = []
  for (const {id, method, path, body} of OPERATIONS) {
    if (!body) continue
    for (const levels of forRing({own: [3000], ci: DEPTHS, full: DEPTHS})) {
      for (const text of [`{"name":${deep(levels, '{')}}`, deep(levels)]) {
        const reply = await send(method, `/v1${path.replace(/:\w+/g, 'x')}`, text, {'x-gateway-api-key': ADMIN_KEY})
        // what an admin key may not ask is refused before its body is read
        const fits =
          reply.status === 403 || (reply.status === 400 && TOO_DEEP.test(reply.text) && reply.text.includes('AB01'))
        if (!fits) failed.push(`${id} ${levels}: ${reply.status} ${reply.text.slice(0, 160)}`)
      }
    }
  }
  expect(failed).toEqual([])
})

test.each([
  'x-gateway-config',
  'x-gateway-metadata',
  'x-gateway-forward-headers',
  'x-gateway-vertex-service-account-json',
])('the header %s too deep is no fault of ours', async header => {
  const body = '{"model":"m","messages":[{"role":"user","content":"hi"}]}'
  for (const levels of [MAX_JSON_DEPTH + 1, 2500]) {
    for (const text of [
      deep(levels, '{').slice(0, 15_000),
      deep(levels),
      `{"a":${deep(levels)}}`,
      `["a",${deep(levels)}]`,
    ]) {
      const kind = header.includes('vertex') ? 'vertex-ai' : 'openai'
      const more: Record<string, string> = header.endsWith('-config')
        ? {}
        : {'x-gateway-provider': kind, 'x-gateway-custom-host': provider.url}
      const {status, text: response} = await send('POST', '/v1/chat/completions', body, {...more, [header]: text})
      expect(status, `${header} ${levels} ${response.slice(0, 200)}`).toBeLessThan(500)
      if (/config$|metadata$/.test(header) && text.startsWith('{') && levels < 2500)
        expect([status, response]).toEqual([400, expect.stringMatching(TOO_DEEP)])
    }
  }
})

const KEYS = ['__proto__', 'constructor', 'prototype']
const CONFIGS: readonly ((key: string) => string)[] = [
  key => `{"provider":"openai","${key}":{"a":1}}`,
  key => `{"strategy":{"mode":"fallback","${key}":1},"targets":[{"provider":"openai"}]}`,
  key => `{"strategy":{"mode":"fallback"},"targets":[{"provider":"openai","${key}":null}]}`,
  key => `{"provider":"openai","override_params":{"metadata":{"a":[{"${key}":{}}]}}}`,
  key => `{"provider":"openai","cache":{"mode":"simple","${key}":[]}}`,
  key =>
    `{"provider":"openai","input_guardrails":[{"default.contains":{"operator":"any","words":["a"],"${key}":1},"deny":true}]}`,
]

test('the keys of an object’s own workings are 400 AB01, anywhere in a config, a guardrail or a provider, saved or sent with a call', async () => {
  const failed: string[] = []
  const admin = {'x-gateway-api-key': ADMIN_KEY}
  const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const saved = await gateway.admin<{data?: {slug: string}; slug?: string}>('POST', '/configs', {
    name: 'Kept',
    config: {provider: 'openai'},
    workspace_id: workspace!.id,
  })
  const slug = saved.data?.slug ?? saved.slug
  for (const key of KEYS) {
    for (const [at, config] of CONFIGS.entries()) {
      const text = config(key)
      const replies = [
        await send('POST', '/v1/configs', `{"name":"x","workspace_id":"${workspace!.id}","config":${text}}`, admin),
        await send('PUT', `/v1/configs/${slug}`, `{"config":${text}}`, admin),
        await send('POST', '/v1/chat/completions', '{"model":"m","messages":[{"role":"user","content":"hi"}]}', {
          'x-gateway-config': text,
        }),
      ]
      for (const [which, {status, text: response}] of replies.entries())
        if (status !== 400 || !response.includes('AB01') || !response.includes(key))
          failed.push(`${key} ${at} ${which}: ${status} ${response.slice(0, 200)}`)
    }
    const others: readonly (readonly [method: string, path: string, body: string])[] = [
      [
        'POST',
        '/v1/guardrails',
        `{"name":"x","checks":[{"id":"default.contains","parameters":{"words":["a"],"operator":"any","${key}":1}}],"actions":{}}`,
      ],
      [
        'POST',
        '/v1/integrations',
        `{"name":"x","ai_provider_id":"openai","key":"sk-0123456789","configurations":{"custom_headers":{"${key}":"x"}}}`,
      ],
      [
        'POST',
        '/v1/policies/usage-limits',
        `{"type":"cost","credit_limit":1,"conditions":[{"key":"api_key","value":"*","${key}":1}],"group_by":[]}`,
      ],
      ['POST', '/v1/configs', `{"name":"x","${key}":{},"config":{"provider":"openai"}}`],
    ]
    for (const [method, path, body] of others) {
      const {status, text} = await send(method, path, body, admin)
      if (status !== 400 || !text.includes('AB01') || !text.includes(key))
        failed.push(`${key} ${path}: ${status} ${text.slice(0, 200)}`)
    }
  }
  expect(failed).toEqual([])
  const kept = JSON.stringify(await gateway.admin('GET', `/configs/${slug}`))
  for (const key of KEYS) expect(kept).not.toContain(key)
})

const LONG = {timeout: forRing({own: 20_000, ci: 60_000, full: 300_000})}
const run = {numRuns: forRing({own: 2000, ci: 20_000, full: 200_000}), seed: seed()}
/** Keys and texts that readers disagree about: escapes, lone surrogates, NUL, twins. */
const nasty = fc.oneof(
  fc.string({unit: 'binary', maxLength: 6}),
  fc.constantFrom(
    '',
    'a',
    '\u0000',
    '\ud800',
    '\udfff',
    '__proto__',
    'model',
    'mod\u0065l',
    '"',
    '\\',
    '\\"',
    '\ufeff',
  ),
)
/**
 * V8 13.6, once it has parsed an object with the key `\\`, takes other keys in its place that begin with an escape for
 * the same.
 */
const key = nasty.filter(text => !text.includes('\\'))
const number = fc.constantFrom(
  '0',
  '-0',
  '1e400',
  '-1e-400',
  '123456789012345678901234567890',
  '0.1',
  '1E+2',
  '9007199254740993',
)
const scalar = fc.oneof(
  nasty.map(text => JSON.stringify(text)),
  number,
  fc.constantFrom('true', 'false', 'null'),
)
const {value} = fc.letrec<{value: string}>(tie => ({
  value: fc.oneof(
    {maxDepth: 4},
    scalar,
    fc.array(tie('value'), {maxLength: 3}).map(all => `[${all.join(' ,\n')}]`),
    fc
      .array(fc.tuple(key, tie('value')), {maxLength: 3})
      .map(all => `{${all.map(([key, one]) => `${JSON.stringify(key)} : ${one}`).join(',')}}`),
  ),
}))
const members = fc.array(fc.tuple(key, value), {maxLength: 5})
const textOf = (all: readonly (readonly [string, string])[]) =>
  `{${all.map(([key, one]) => `${JSON.stringify(key)}:${one}`).join(',')}}`

test('the top level is found as JSON.parse finds it, whatever it holds', LONG, () => {
  fc.assert(
    fc.property(members, all => {
      cases++
      const body = Buffer.from(textOf(all))
      const found = topLevel(body, new Set())
      const parsed = JSON.parse(body.toString()) as Record<string, unknown>
      expect([...found.keys()].toSorted()).toEqual(Object.keys(parsed).toSorted())
      for (const [key, {start, end}] of found)
        expect(JSON.parse(body.toString('utf8', start, end))).toEqual(
          Object.getOwnPropertyDescriptor(parsed, key)!.value,
        )
      const twice = all.map(([key]) => key).find((key, at) => all.findIndex(([other]) => other === key) < at)
      if (twice !== undefined) expect(() => topLevel(body, new Set([twice]))).toThrow(Refusal)
    }),
    run,
  )
})

test('torn JSON is refused or read, and nothing else is thrown', LONG, () => {
  fc.assert(
    fc.property(members, fc.nat(), fc.nat({max: 3}), fc.uint8Array({maxLength: 3}), (all, place, strikes, puts) => {
      cases++
      const body = Buffer.from(textOf(all))
      const at = place % (body.length + 1)
      const torn = Buffer.concat([body.subarray(0, at), puts, body.subarray(at + strikes)])
      try {
        topLevel(torn, new Set(['model']), 8)
      } catch (fault) {
        expect(fault).toBeInstanceOf(Refusal)
        expect((fault as Refusal).status).toBe(400)
      }
    }),
    run,
  )
})

test('an edit changes what it names and leaves every other member as it was', LONG, () => {
  fc.assert(
    fc.property(
      members,
      fc.array(fc.tuple(key, fc.option(value, {nil: undefined})), {maxLength: 3}),
      (all, changes) => {
        const once = all.filter(([key], at) => all.findIndex(([other]) => other === key) === at)
        cases++
        const body = Buffer.from(textOf(once))
        const edits = new Map(changes)
        const after = JSON.parse(edited(body, topLevel(body, new Set()), edits).toString()) as object
        const want = new Map(
          [...once, ...edits].filter(([key]) => edits.get(key) !== undefined || !edits.has(key)) as [string, string][],
        )
        expect(Object.keys(after).toSorted()).toEqual([...want.keys()].toSorted())
        for (const [key, json] of want)
          expect(Object.getOwnPropertyDescriptor(after, key)!.value).toEqual(JSON.parse(json))
      },
    ),
    run,
  )
})

test('depth is counted outside of texts, and the way to a key is its path', LONG, () => {
  // Counted in the text: of two members with one key JSON.parse keeps the last alone, and the first may be the deeper
  // one.
  const levels = (text: string): number => {
    const opened = [...text.replace(/"(?:[^"\\]|\\.)*"/gs, '')].map(char =>
      '[{'.includes(char) ? 1 : ']}'.includes(char) ? -1 : 0,
    )
    let depth = 0
    return Math.max(0, ...opened.map(step => (depth += step)))
  }
  fc.assert(
    fc.property(value, fc.nat({max: 260}), (text, more) => {
      cases++
      const wrapped = '['.repeat(more) + text + ']'.repeat(more)
      const is_deep = more + levels(text) > MAX_JSON_DEPTH
      if (is_deep) expect(() => checkDepth(wrapped, 'It')).toThrow(TOO_DEEP)
      else expect(() => checkDepth(wrapped, 'It')).not.toThrow()
    }),
    run,
  )
  expect(wayToNeverKey(JSON.parse('{"a":[0,{"b":{"__proto__":1}}]}'), 'config')).toBe('config.a[1].b.__proto__')
  expect(wayToNeverKey(JSON.parse('{"a":"__proto__","constructors":1}'), 'config')).toBeNull()
})
