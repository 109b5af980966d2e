import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {gzipSync} from 'node:zlib'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {guardrailTrials} from '../../src/admin/guardrail-trials.ts'
import {guardrails} from '../../src/admin/guardrails.ts'
import type {GuardrailCheck} from '../../src/schema/guardrails.ts'
import {insertGuardrail} from '../../src/store/guardrails.ts'
import {type Admin, refusal, startAdmin} from '../support/admin.ts'
import {keepBodies, type Row} from '../support/bodies.ts'
import {insertLog} from '../support/logs.ts'
import {KINDS} from '../support/stores.ts'

const AT = '2026-03-04T05:06:07.000Z'
const operations = [...guardrails, ...guardrailTrials]
const WORDS: GuardrailCheck = {id: 'default.contains', parameters: {words: ['internal'], operator: 'none'}}
const MAIL: GuardrailCheck = {id: 'pii', parameters: {redact: true}}
const asks = (content: string) => ({model: 'model-a', messages: [{role: 'user', content}]})
const answers = (content: string) => ({
  choices: [{index: 0, message: {role: 'assistant', content}, finish_reason: 'stop'}],
})

/** A guardrail of the database that could not be saved: its service is at a private address. */
async function plant(admin: Admin, checks: readonly GuardrailCheck[], slug: string) {
  const place = {organisation_id: admin.organisation_id, workspace_id: admin.workspace_id}
  const version_id = `${slug}-1`.padEnd(36, '0').replace(/^.{36}/, '0197f0a2-6d1e-4c3b-9f0e-2b1f6a1c9d11')
  await insertGuardrail(
    admin.store.db,
    {
      id: '0197f0a2-6d1e-4c3b-9f0e-2b1f6a1c9d12',
      slug,
      ...place,
      name: slug,
      target: 'llm',
      status: 'active',
      version_id,
      ...nobody,
      ...times,
    },
    {
      id: version_id,
      guardrail_id: '0197f0a2-6d1e-4c3b-9f0e-2b1f6a1c9d12',
      version: 1,
      ...kept(checks),
      updated_by: null,
      created_at: AT,
    },
  )
}
const nobody = {owner_id: null, updated_by: null}
const times = {created_at: AT, last_updated_at: AT}
const kept = (checks: readonly GuardrailCheck[]) => ({
  checks: JSON.stringify(checks),
  checks_sealed: null,
  actions: '{"deny":true}',
})

describe.each(KINDS)('a guardrail tried on a call, on %s', kind => {
  let admin: Admin
  let other: Awaited<ReturnType<Admin['foreign']>>
  beforeAll(async () => {
    admin = await startAdmin({kind, operations})
    other = await admin.foreign()
  })
  afterAll(() => admin.close())

  const tried = async (body: object) => {
    const reply = await admin.asWorkspace('POST', '/v1/guardrails/test', body)
    expect([reply.status, reply.body]).toMatchObject([200, {object: 'guardrail_test'}])
    return reply.body
  }
  const one = (checks: readonly GuardrailCheck[], actions: object = {}) => ({checks, actions})

  test('a saved one judges the request, says how long each check took, and whether the call would end', async () => {
    const saved = (
      await admin.asWorkspace('POST', '/v1/guardrails', {name: 'House', ...one([WORDS, {id: 'notNull'}], {deny: true})})
    ).body
    for (const guardrail of [saved.slug, saved.id]) {
      const said = await tried({guardrail, request: {body: asks('internal use')}})
      expect(said).toMatchObject({guardrail: saved, is_denied: true})
      expect(said.sides).toHaveLength(1)
      const [input] = said.sides
      expect(input).toMatchObject({
        side: 'input',
        outcome: 'denied',
        is_transformed: false,
        body: asks('internal use'),
        headers: {},
      })
      expect(input.result).toMatchObject({
        ...{id: saved.slug, verdict: false, deny: true, guardrail_version_id: saved.version_id},
        checks: [
          {
            id: 'default.contains',
            verdict: false,
            execution_time: expect.any(Number),
            data: {textExcerpt: 'internal use'},
          },
          {id: 'default.notNull', skipped: true},
        ],
      })
    }
    expect(await tried({guardrail: saved.slug, request: {body: asks('in public')}})).toMatchObject({
      is_denied: false,
      sides: [{outcome: 'passed'}],
    })
    const {version_id} = (await admin.asWorkspace('PUT', `/v1/guardrails/${saved.slug}`, {actions: {}})).body
    expect(await tried({guardrail: saved.slug, request: {body: asks('internal')}})).toMatchObject({
      ...{guardrail: {version_id}, is_denied: false, sides: [{outcome: 'failed'}]},
    })
  })

  test('one that is not saved shows the body it makes; an answer is judged beside the request', async () => {
    const said = await tried({
      guardrail: one([MAIL, WORDS], {deny: true}),
      request: {body: JSON.stringify(asks('write to ada@mail.example'))},
      response: {body: answers('an internal word')},
    })
    expect(said).toMatchObject({
      ...{guardrail: {id: null, slug: null, version_id: null}, is_denied: true},
      sides: [
        {side: 'input', outcome: 'passed', is_transformed: true, body: asks('write to <EMAIL_1>')},
        {side: 'output', outcome: 'denied', is_transformed: false, body: answers('an internal word')},
      ],
    })
  })

  test('what runs beside a call denies nothing; a route without a text, and an answer that is not 200, are skipped', async () => {
    const guardrail = one([WORDS], {deny: true, async: true})
    const request = {body: asks('internal')}
    expect(await tried({guardrail, request})).toMatchObject({
      is_denied: false,
      sides: [{outcome: 'failed', result: {async: true}}],
    })
    const files = {method: 'GET', path: '/v1/files/file-1'}
    expect(await tried({guardrail, request: files})).toMatchObject({sides: [{outcome: 'skipped'}]})
    const types = one([{id: 'allowedRequestTypes', parameters: {blockedTypes: ['retrieveFile']}}], {deny: true})
    expect(await tried({guardrail: types, request: files})).toMatchObject({is_denied: true})
    const response = {status: 500, body: answers('internal')}
    expect(await tried({guardrail: one([WORDS]), request, response})).toMatchObject({
      sides: [{outcome: 'failed'}, {outcome: 'skipped'}],
    })
  })

  test('metadata, headers and the model are those of the described call', async () => {
    const guardrail = one([
      {id: 'requiredMetadataKeys', parameters: {metadataKeys: ['team'], operator: 'all'}},
      {id: 'modelWhitelist', parameters: {models: ['model-a']}},
    ])
    const headers = {'X-Gateway-Metadata': '{"team":"blue"}'}
    expect(await tried({guardrail, request: {headers, body: asks('hi')}})).toMatchObject({sides: [{outcome: 'passed'}]})
    expect(await tried({guardrail, request: {body: {...asks('hi'), model: 'b'}}})).toMatchObject({
      sides: [{result: {checks: [{verdict: false}, {verdict: false}]}}],
    })
  })

  test('no check reaches a private address', async () => {
    const webhook = {id: 'default.webhook', parameters: {webhookURL: 'http://127.0.0.1:9/judge', failOnError: true}}
    const unsaved = await admin.asWorkspace('POST', '/v1/guardrails/test', {guardrail: one([webhook]), request: {}})
    expect([unsaved.status, unsaved.body.data.message]).toEqual([
      400,
      expect.stringContaining('webhookURL: may not be called'),
    ])
    await plant(admin, [webhook], 'pg-planted')
    const {sides} = await tried({guardrail: 'pg-planted', request: {body: asks('hi')}})
    expect(sides).toMatchObject([{outcome: 'denied', result: {checks: [{error: {name: 'NetworkError'}}]}}])
    const urls = one([{id: 'validUrls', parameters: {onlyDNS: true}}])
    const response = {body: answers('see http://127.0.0.1/ for more')}
    expect((await tried({guardrail: urls, request: {}, response})).sides[1]).toMatchObject({outcome: 'failed'})
  })

  test.each<[string, object, number, RegExp]>([
    ['no guardrail', {guardrail: undefined}, 400, /^guardrail: is required/],
    ['no request', {request: undefined}, 400, /^request: is required/],
    ['an unknown field', {respnse: {}}, 400, /response/],
    ['an unknown check', {guardrail: one([{id: 'nothing'}])}, 400, /checks\[0\]\.id/],
    [
      'nothing switched on',
      {guardrail: one([{...WORDS, is_enabled: false}])},
      400,
      /^guardrail: has no check that is switched on/,
    ],
    ['metadata that is none', {request: {headers: {'x-gateway-metadata': '[]'}}}, 400, /^request\.headers: /],
    ['one that is not known', {guardrail: 'pg-none'}, 404, /^No guardrail is known by this id/],
  ])('a test refuses %s', async (_, body, status, message) => {
    const reply = await admin.asWorkspace('POST', '/v1/guardrails/test', {
      guardrail: one([WORDS]),
      request: {},
      ...body,
    })
    expect([reply.status, reply.body.data.message]).toEqual([status, expect.stringMatching(message)])
  })

  test('that of another organisation or workspace is not found; the scopes are needed', async () => {
    const {slug} = (await admin.asWorkspace('POST', '/v1/guardrails', {name: 'Own', checks: [WORDS], actions: {}})).body
    const far = await admin.seedWorkspace(admin.organisation_id)
    const neighbour = await admin.seedKey({organisation_id: admin.organisation_id, workspace_id: far.id})
    for (const key of [other.key.key, neighbour.key])
      for (const [path, rest] of [
        ['test', {request: {}}],
        ['evaluate', {since: AT}],
      ] as const) {
        const reply = await admin.send(key, 'POST', `/v1/guardrails/${path}`, {guardrail: slug, ...rest})
        expect([reply.status, reply.body]).toEqual([404, refusal('AB08', 'No guardrail is known by this id.')])
      }
    const place = {organisation_id: admin.organisation_id, workspace_id: admin.workspace_id}
    for (const [scopes, path] of [
      [['guardrails.list'], 'test'],
      [['guardrails.list'], 'evaluate'],
      [['guardrails.read'], 'evaluate'],
    ] as const) {
      const {key} = await admin.seedKey(place, {scopes: [...scopes]})
      const reply = await admin.send(key, 'POST', `/v1/guardrails/${path}`, {
        guardrail: slug,
        request: undefined,
        since: AT,
      })
      expect([reply.status, reply.body.data.errorCode]).toEqual([403, 'AB03'])
    }
  })
})

test('a webhook that TRUSTED_CUSTOM_HOSTS names is asked, and may change the body', async () => {
  const told: string[] = []
  const service = createServer((request, reply) => {
    request.setEncoding('utf8').on('data', part => told.push(part))
    request.on('end', () => {
      const put = {verdict: true, transformedData: {request: {json: asks('put in place')}}}
      reply.setHeader('content-type', 'application/json').end(JSON.stringify(put))
    })
  })
  await new Promise<void>(done => service.listen(0, '127.0.0.1', done))
  const {port} = service.address() as AddressInfo
  const admin = await startAdmin({operations, env: {TRUSTED_CUSTOM_HOSTS: '127.0.0.1'}})
  const parameters = {webhookURL: `http://127.0.0.1:${port}/judge?a=1`, headers: {'x-team': 'blue'}}
  const body = {guardrail: {checks: [{id: 'webhook', parameters}]}, request: {body: asks('hi')}}
  const reply = await admin.asWorkspace('POST', '/v1/guardrails/test', body)
  expect(reply.body).toMatchObject({sides: [{outcome: 'passed', is_transformed: true, body: asks('put in place')}]})
  expect(JSON.parse(told.join(''))).toMatchObject({
    request: {json: asks('hi'), text: 'hi'},
    eventType: 'beforeRequestHook',
  })
  await admin.close()
  await new Promise(done => service.close(done))
})

describe.each(KINDS)('a guardrail evaluated on the log, on %s', kind => {
  let admin: Admin
  afterAll(() => admin.close())

  const time = (minute: number) => `2026-03-04T06:${String(minute).padStart(2, '0')}:00.000Z`
  const id = (minute: number) => `0197f0a2-6d1e-4c3b-9f0e-2b1f6a1c00${String(minute).padStart(2, '0')}`
  const called = async (minute: number, bodies: Partial<Row> | null, row: object = {}) => {
    const created_at = time(minute)
    await insertLog(admin.store.db, {id: id(minute), created_at, workspace_id: admin.workspace_id, ...row})
    const where = {store: admin.store, folder: admin.folder}
    if (bodies) await keepBodies(where, {log_id: id(minute), created_at, ...bodies}, Date.parse(created_at) + 10)
  }
  const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
  const evaluated = async (body: object) => {
    const reply = await admin.asWorkspace('POST', '/v1/guardrails/evaluate', {since: '2026-03-04T00:00:00Z', ...body})
    expect([reply.status, reply.body]).toMatchObject([200, {object: 'guardrail_evaluation'}])
    return reply.body
  }

  beforeAll(async () => {
    admin = await startAdmin({kind, operations})
    admin.at('2026-03-04T12:00:00.000Z')
    await called(0, {request_body: bytes(asks('fine')), response_body: bytes(answers('an internal word'))})
    await called(1, {request_body: bytes(asks('internal, ada@mail.example')), response_body: bytes(answers('fine'))})
    await called(
      2,
      {
        request_body: bytes({...asks('fine'), stream: true}),
        response_body: gzipSync(
          ['an int', 'ernal word']
            .map((content, index) => {
              const choice = {
                index: 0,
                delta: {content, ...(index === 0 && {role: 'assistant'})},
                finish_reason: index ? 'stop' : null,
              }
              return `data: ${JSON.stringify({id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [choice]})}\n\n`
            })
            .join('')
            .concat('data: [DONE]\n\n'),
        ),
        response_encoding: 'gzip',
      },
      {is_stream: true},
    )
    await called(3, null)
    await called(4, {request_body: bytes('{"model":"model-a","messages":[{"ro'), cut: 1})
    await called(5, {request_body: bytes({input: 'x'})}, {endpoint: 'moderate', url: '/v1/moderations'})
    await called(
      6,
      {request_body: bytes(asks('internal too')), response_body: bytes({error: {}})},
      {status: 500, outcome: 'failed'},
    )
    await called(8, {request_body: bytes(asks('fine'))}, {status: 246})
    await called(7, {request_body: bytes(asks('internal'))}, {workspace_id: 'another'})
  })
  test('says how many calls it would have failed and denied, by check, with examples that show an excerpt alone', async () => {
    const said = await evaluated({guardrail: {checks: [MAIL, WORDS], actions: {deny: true}}})
    const counts = {passed: 0, failed: 0, errored: 0, skipped: 0, transformed: 0}
    expect(said).toMatchObject({
      ...{calls: 8, judged: 5, failed: 4, denied: 4, transformed: 1, left_out: 1, without_body: 3, next: null},
      guardrail: {id: null, slug: null, version_id: null},
    })
    const example = (minute: number, excerpt: string) => ({
      log_id: id(minute),
      explanation: expect.stringContaining('internal'),
      excerpt,
    })
    expect(said.checks).toEqual([
      {side: 'input', index: 0, id: 'default.pii', ...counts, passed: 5, transformed: 1, examples: []},
      {
        ...{side: 'input', index: 1, id: 'default.contains', ...counts, passed: 3, failed: 2},
        examples: [example(6, 'internal too'), example(1, 'internal, <EMAIL_1>')],
      },
      {side: 'output', index: 0, id: 'default.pii', ...counts, passed: 3, examples: []},
      {
        ...{side: 'output', index: 1, id: 'default.contains', ...counts, passed: 1, failed: 2},
        examples: [example(2, 'an internal word'), example(0, 'an internal word')],
      },
    ])
    expect(JSON.stringify(said)).not.toContain('ada@mail')
  })

  test('one side alone, a saved one, and calls in pages', async () => {
    const {slug, version_id} = (
      await admin.asWorkspace('POST', '/v1/guardrails', {name: 'House', checks: [WORDS], actions: {}})
    ).body
    const asked = {guardrail: slug, sides: ['output']}
    const whole = await evaluated(asked)
    expect(whole).toMatchObject({guardrail: {slug, version_id}, judged: 3, failed: 2, denied: 0, without_body: 3})
    expect(whole.checks).toMatchObject([{side: 'output', passed: 1, failed: 2}])
    let before: string | undefined
    const pages = []
    do {
      const page = await evaluated({...asked, limit: 2, ...(before && {before})})
      pages.push(page)
      before = page.next
    } while (before)
    expect(pages.length).toBeGreaterThan(3)
    for (const name of ['calls', 'judged', 'failed', 'left_out', 'without_body'] as const)
      expect(
        pages.reduce((sum, page) => sum + page[name], 0),
        name,
      ).toBe(whole[name])
    expect(await evaluated({...asked, since: '2026-03-04T07:00:00Z'})).toMatchObject({calls: 0, checks: [], next: null})
  })

  test.each<[string, object, RegExp]>([
    ['no guardrail', {guardrail: undefined}, /^guardrail: is required/],
    ['no since', {since: undefined}, /^since: is required/],
    ['a side that is none', {sides: ['middle']}, /^sides\[0\]: /],
    ['an unknown field', {sinse: 1}, /since/],
  ])('refuses %s', async (_, body, message) => {
    const whole = {guardrail: {checks: [WORDS]}, since: '2026-03-04T00:00:00Z', ...body}
    const reply = await admin.asWorkspace('POST', '/v1/guardrails/evaluate', whole)
    expect([reply.status, reply.body.data]).toEqual([400, {errorCode: 'AB01', message: expect.stringMatching(message)}])
  })
})
