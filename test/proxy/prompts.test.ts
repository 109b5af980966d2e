import {Portkey} from 'portkey-ai'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {WORKSPACE_KEY} from '../support/gateway.ts'
import {chatEvents} from '../support/provider.ts'
import {events, type RoutingSetup, startRouting} from '../support/routing.ts'

let routed: RoutingSetup

beforeAll(async () => {
  routed = await startRouting()
})
beforeEach(() => routed.reset())
afterAll(() => routed.close())

const messages = (...said: [string, string][]) => JSON.stringify(said.map(([role, content]) => ({role, content})))
const run = (named: string, body: object = {variables: {}}, headers: Record<string, string> = {}) =>
  routed.ask(null, {path: `/v1/prompts/${named}/completions`, body, headers})
const sent = (at = 0): Record<string, unknown> => {
  const {path, body} = routed.a.received[at]!
  return {path, ...(JSON.parse(body.toString()) as Record<string, unknown>)}
}
const change = (slug: string, body: object) =>
  routed.gateway.admin<{prompt_version_id: string}>('PUT', `/prompts/${slug}`, body)

test('a call of a prompt is a call of its model: what the saved version says, filled with the variables', async () => {
  const string = messages(
    ['system', 'You are {{role}}.'],
    ['user', '{{#points}}- {{.}}\n{{/points}}{{^points}}none{{/points}}'],
  )
  const slug = await routed.savePrompt({
    string,
    parameters: {temperature: 0.3, max_tokens: 50},
    tools: [{type: 'function', function: {name: 'f'}}],
  })
  const response = await run(slug, {variables: {role: 'brief', points: ['a', '"b"']}, temperature: 0, user: 'ann'})
  expect([response.status, JSON.parse(response.text).object]).toEqual([200, 'chat.completion'])
  expect(sent()).toEqual({
    path: '/v1/chat/completions',
    messages: [
      {role: 'system', content: 'You are brief.'},
      {role: 'user', content: '- a\n- "b"\n'},
    ],
    ...{
      temperature: 0,
      max_tokens: 50,
      tools: [{type: 'function', function: {name: 'f'}}],
      model: 'gpt-4o-mini',
      user: 'ann',
    },
  })
  expect(response.rows).toMatchObject([
    {status: 200, provider_slug: 'a', endpoint: 'promptComplete', prompt: {slug, version: 1}},
  ])
  expect(response.entries).toMatchObject([{outcome: 'ok', usage_source: 'provider', endpoint: 'promptComplete'}])
  expect(response.entries[0]!.prompt_tokens).toBeGreaterThan(0)
  expect(response.entries[0]!.cost_nanousd).toBeGreaterThan(0)
})

test('the log says which prompt in which version, and finds its calls', async () => {
  const slug = await routed.savePrompt({string: messages(['user', 'hi'])})
  await run(slug)
  await run(routed.prompt, {variables: {text: 'x'}})
  const {id, prompt_version_id} = await routed.gateway.admin<Record<string, string>>('GET', `/prompts/${slug}`)
  const found = await routed.gateway.admin<{total: number; data: object[]}>('GET', `/logs?prompt_slug=${slug}`)
  expect(found).toMatchObject({
    total: 1,
    data: [{prompt_id: id, prompt_slug: slug, prompt_version_id, endpoint: 'promptComplete'}],
  })
  expect(await routed.gateway.admin('GET', '/logs?prompt_slug=pp-none')).toMatchObject({total: 0})
})

test('what the call says itself is passed on as it is written', async () => {
  const body =
    '{"variables": {"text": "x"}, "seed": 9007199254740993, "messages": [{"role":"user","content":"\\u00e9"}], "temperature": 1.0}'
  await routed.ask(null, {
    path: '/v1/prompts/{prompt}/completions',
    body,
    headers: {'content-type': 'application/json'},
  })
  const passed = routed.a.received[0]!.body.toString()
  for (const words of [
    '"seed":9007199254740993',
    '"messages":[{"role":"user","content":"\\u00e9"}]',
    '"temperature":1.0',
  ])
    expect(passed).toContain(words)
  expect(passed).not.toContain('variables')
})

test('it streams as a chat does', async () => {
  routed.a.answer(events(chatEvents('gpt-4o-mini', {words: ['Hel', 'lo']})))
  const response = await run(routed.prompt, {variables: {text: 'x'}, stream: true})
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    expect.stringContaining('text/event-stream'),
  ])
  expect(response.text).toContain('data: [DONE]')
  expect(sent()).toMatchObject({stream: true})
  expect(response.rows).toMatchObject([{is_stream: true, outcome: 'ok'}])
})

test('the published version runs; a number, @latest and a label name another', async () => {
  const slug = await routed.savePrompt({string: messages(['user', 'one'])})
  const {prompt_version_id} = await change(slug, {patch: true, string: messages(['user', 'two'])})
  const {data} = await routed.gateway.admin<{data: {id: string; name: string}[]}>('GET', '/labels')
  const staging = data.find(({name}) => name === 'staging')!.id
  const said = async (version = '') => {
    routed.reset()
    const {status} = await run(slug + version)
    return status === 200 ? (sent().messages as {content: string}[])[0]!.content : status
  }
  expect([await said(), await said('@latest'), await said('@1'), await said('@2'), await said('@3')]).toEqual([
    'one',
    'two',
    'one',
    'two',
    404,
  ])
  expect([await said('@staging'), await said('%40staging')]).toEqual([404, 404])
  await routed.gateway.admin('PUT', `/prompts/${slug}/versions/${prompt_version_id}`, {label_id: staging})
  expect([await said('@staging'), await said('%40staging')]).toEqual(['two', 'two'])
  await routed.gateway.admin('PUT', `/prompts/${slug}/makeDefault`, {version: 2})
  expect(await said()).toBe('two')
  await routed.gateway.admin('DELETE', `/prompts/${slug}`)
  expect(await said()).toBe(404)
})

test('a partial that is published changes what includes it; one that is not there is 400', async () => {
  const [workspace] = (await routed.gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const body = {name: 'Rules', string: 'Be {{how}}.', workspace_id: workspace!.id}
  const rules = (await routed.gateway.admin<{slug: string}>('POST', '/prompts/partials', body)).slug
  const slug = await routed.savePrompt({string: messages(['user', `{{>${rules}}} {{>${rules}@1}}`])})
  const said = async () => {
    routed.reset()
    await run(slug, {variables: {how: 'kind'}})
    return (sent().messages as {content: string}[])[0]!.content
  }
  expect(await said()).toBe('Be kind. Be kind.')
  await routed.gateway.admin('PUT', `/prompts/partials/${rules}`, {string: 'Be brief.'})
  await routed.gateway.admin('PUT', `/prompts/partials/${rules}/makeDefault`, {version: 2})
  expect(await said()).toBe('Be brief. Be kind.')
  await routed.gateway.admin('DELETE', `/prompts/partials/${rules}`)
  routed.reset()
  const response = await run(slug)
  expect([response.status, JSON.parse(response.text)]).toMatchObject([
    400,
    {status: 'failure', message: expect.stringContaining(`there is no partial ${rules}`)},
  ])
  expect(routed.a.received).toEqual([])
})

test('a prompt of one text is a completion', async () => {
  const slug = await routed.savePrompt({string: 'Say {{word}}'})
  await run(slug, {variables: {word: 'hi'}})
  expect(sent()).toEqual({path: '/v1/completions', prompt: 'Say hi', model: 'gpt-4o-mini'})
})

test('where it goes: headers before what is saved, a saved config in place of a provider', async () => {
  const slug = await routed.savePrompt({string: messages(['user', 'x'])})
  await run(slug, undefined, {'x-gateway-provider': '@b'})
  expect(routed.received()).toMatchObject({a: 0, b: 1})
  routed.reset()
  const retried = await routed.ask(
    {strategy: {mode: 'fallback'}, targets: [{provider: '@c'}, {provider: '@b'}]},
    {path: `/v1/prompts/${slug}/completions`, body: {variables: {}}},
  )
  expect([retried.status, routed.received()]).toMatchObject([200, {a: 0, c: 1}])
  routed.reset()
  const config = await routed.save({provider: '@b', override_params: {temperature: 1}})
  const directed = await routed.savePrompt({string: messages(['user', 'x']), virtual_key: config})
  const {id} = (await routed.gateway.admin<{data: {id: string}}>('GET', `/configs/${config}`)).data
  const by_id = await routed.savePrompt({string: messages(['user', 'x']), virtual_key: id})
  expect(await routed.gateway.admin('GET', `/prompts/${by_id}`)).toMatchObject({virtual_key: config})
  expect((await run(directed)).status).toBe(200)
  expect([routed.received(), JSON.parse(routed.b.received[0]!.body.toString())]).toMatchObject([
    {a: 0, b: 1},
    {temperature: 1},
  ])
})

test('an answer is cached like that of a chat', async () => {
  const slug = await routed.savePrompt({string: messages(['user', '{{x}}'])})
  const ask = (x: string) =>
    routed.ask(
      {provider: '@a', cache: {mode: 'simple'}},
      {path: `/v1/prompts/${slug}/completions`, body: {variables: {x}}},
    )
  const statuses = [await ask('1'), await ask('1'), await ask('2')].map(({headers}) =>
    headers.get('x-gateway-cache-status'),
  )
  expect([statuses, routed.a.received.length]).toEqual([['MISS', 'HIT', 'MISS'], 2])
})

test('guardrails know the call by its own name', async () => {
  const allowed = (allowedTypes: string[]) => ({
    provider: '@a',
    input_guardrails: [{'default.allowedRequestTypes': {allowedTypes}, deny: true}],
  })
  const asked = {path: `/v1/prompts/${routed.prompt}/completions`, body: {variables: {text: 'x'}}}
  expect((await routed.ask(allowed(['promptComplete']), asked)).status).toBe(200)
  expect((await routed.ask(allowed(['chatComplete']), asked)).status).toBe(446)
})

describe('what is refused', () => {
  test.each<[string, string, object | string, number, RegExp]>([
    ['an unknown prompt', 'pp-none', {variables: {}}, 404, /^No prompt is called pp-none/],
    ['an unknown version', '{prompt}@9', {variables: {}}, 404, /^No prompt is called/],
    ['no variables', '{prompt}', {}, 400, /^variables: is required/],
    ['variables that are no object', '{prompt}', {variables: ['x']}, 400, /^variables: /],
    ['no messages in their place', '{prompt}', {variables: {}, messages: []}, 400, /messages must be an array/],
    ['a body that is no JSON', '{prompt}', '{', 400, /not valid JSON/],
  ])('%s', async (_, named, body, status, message) => {
    const headers = {'content-type': 'application/json'}
    const response = await routed.ask(null, {path: `/v1/prompts/${named}/completions`, body, headers})
    expect([response.status, JSON.parse(response.text)]).toMatchObject([
      status,
      {status: 'failure', message: expect.stringMatching(message)},
    ])
    expect([routed.a.received, response.entries]).toEqual([[], []])
  })

  test('a key that may render and not call, and the other way about', async () => {
    const render = await routed.key({scopes: ['prompts.render']})
    const call = await routed.key({scopes: ['completions.write']})
    const status = async (key: string, what: string) =>
      (
        await routed.ask(null, {
          path: `/v1/prompts/${routed.prompt}/${what}`,
          body: {variables: {text: 'x'}},
          headers: {'x-gateway-api-key': key},
        })
      ).status
    expect([await status(render, 'completions'), await status(render, 'render')]).toEqual([403, 200])
    expect([await status(call, 'completions'), await status(call, 'render')]).toEqual([200, 403])
  })

  test('other methods of its path, which are no provider’s', async () => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      expect([
        method,
        (await routed.gateway.call(`/v1/prompts/${routed.prompt}/completions`, {method})).status,
      ]).toEqual([method, 405])
    }
  })
})

test('what would become of the call is explained', async () => {
  const [workspace] = (await routed.gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const request = {
    method: 'POST',
    path: `/v1/prompts/${routed.prompt}/completions`,
    body: {variables: {text: 'explained'}},
  }
  const response = JSON.stringify(
    await routed.gateway.admin('POST', '/configs/explain', {request, workspace_id: workspace!.id}),
  )
  expect(response).toContain(`"managed":"a"`)
  expect(response).toContain(`${routed.a.url}/chat/completions`)
})

test('the SDK of the reference saves, publishes, renders and calls prompts', async () => {
  const portkey = new Portkey({apiKey: WORKSPACE_KEY, baseURL: `${routed.gateway.url}/v1`})
  const {data: shelves} = (await portkey.collections.list({workspace_id: undefined} as never)) as unknown as {
    data: {id: string}[]
  }
  const made = (await portkey.prompts.create({
    name: 'By SDK',
    collection_id: shelves[0]!.id,
    string: messages(['user', 'Hello {{name}}']),
    parameters: {temperature: 0.1},
    virtual_key: 'a',
    model: 'gpt-4o-mini',
  } as never)) as unknown as {slug: string; id: string}
  const shown = await portkey.prompts.retrieve(made.slug as never)
  expect(shown).toMatchObject({slug: made.slug, prompt_version: 1})
  const rendered = await portkey.prompts.render({promptID: made.slug, variables: {name: 'Ann'}, max_tokens: 5})
  expect(rendered).toMatchObject({
    success: true,
    data: {messages: [{role: 'user', content: 'Hello Ann'}], temperature: 0.1, max_tokens: 5},
  })
  const answer = await portkey.prompts.completions.create({promptID: made.slug, variables: {name: 'Ann'}})
  expect(answer).toMatchObject({object: 'chat.completion'})
  expect(sent()).toMatchObject({messages: [{role: 'user', content: 'Hello Ann'}], stream: false})
  routed.reset()
  routed.a.answer(events(chatEvents('gpt-4o-mini', {words: ['Hel', 'lo']})))
  const stream = (await portkey.prompts.completions.create({
    promptID: made.slug,
    variables: {name: 'Ann'},
    stream: true,
  })) as unknown as AsyncIterable<{
    choices: {delta?: {content?: string}}[]
  }>
  let text = ''
  for await (const chunk of stream) text += chunk.choices[0]?.delta?.content ?? ''
  expect(text).toBe('Hello')
})

test('the SDK of the reference keeps partials, versions, labels and collections', async () => {
  const portkey = new Portkey({apiKey: WORKSPACE_KEY, baseURL: `${routed.gateway.url}/v1`})
  // biome-ignore lint/suspicious/noExplicitAny: the SDK says less of its replies than they hold
  const of = async (said: unknown): Promise<any> => said
  const shelf = await of(portkey.collections.create({name: 'SDK'} as never))
  await portkey.collections.update(shelf.slug, {name: 'SDK shelf'} as never)
  expect(await portkey.collections.retrieve(shelf.slug)).toMatchObject({name: 'SDK shelf', child_collections: []})
  const rules = await of(portkey.prompts.partials.create({name: 'SDK rules', string: 'Be {{how}}.'}))
  await portkey.prompts.partials.update(rules.slug, {string: 'Be very {{how}}.', description: 'more'})
  await portkey.prompts.partials.publish(rules.slug, {version: 2})
  expect(await portkey.prompts.partials.retrieve(rules.slug)).toMatchObject({version: 2, string: 'Be very {{how}}.'})
  expect(await portkey.prompts.partials.versions.list(rules.slug)).toMatchObject({0: {version: '2'}, 1: {version: '1'}})
  const saved = {
    name: 'SDK',
    collection_id: shelf.slug,
    string: messages(['user', `{{>${rules.slug}}}`]),
    parameters: {},
    virtual_key: 'a',
    model: 'm',
  }
  const {slug} = await of(portkey.prompts.create(saved))
  expect(await portkey.prompts.list({collection_id: shelf.slug})).toMatchObject({
    total: 1,
    data: [{slug, object: 'prompt'}],
  })
  const {string, parameters, model} = saved
  const {prompt_version_id} = await of(portkey.prompts.update(slug, {string: `${string} `, parameters, model}))
  await portkey.prompts.publish(slug, {version: 2})
  const label = await of(portkey.labels.create({name: 'sdk'}))
  await portkey.prompts.versions.update(slug, prompt_version_id, {label_id: label.id})
  expect(await portkey.prompts.versions.retrieve(slug, prompt_version_id)).toMatchObject({
    prompt_version: 2,
    prompt_version_label_id: label.id,
  })
  expect(await portkey.prompts.versions.list(slug)).toMatchObject({
    0: {prompt_version: 2, label_id: label.id},
    1: {prompt_version: 1},
  })
  const rendered = await portkey.prompts.render({promptID: `${slug}@sdk`, variables: {how: 'kind'}})
  expect(rendered).toMatchObject({data: {messages: [{content: 'Be very kind.'}]}})
  await portkey.labels.delete(label.id)
  await portkey.prompts.delete(slug)
  await portkey.prompts.partials.delete(rules.slug)
  await portkey.collections.delete(shelf.slug)
  await expect(portkey.prompts.retrieve(slug)).rejects.toMatchObject({status: 404})
})
