import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {json} from '../support/provider.ts'
import {newTrace, type RoutingSetup, startRouting} from '../support/routing.ts'

let routed: RoutingSetup

beforeAll(async () => {
  routed = await startRouting()
  await routed.gateway.provider('listed', 'openai', routed.a.url, {})
  await routed.gateway.admin('PUT', '/integrations/listed/models', {
    allow_all_models: false,
    models: [{slug: 'dall-e-2', enabled: true}],
  })
})
beforeEach(() => {
  routed.reset()
  const usage = {input_tokens: 0, output_tokens: 60_000, total_tokens: 60_000}
  routed.a.answer((_, response) => json(response, {created: 1, data: [{b64_json: 'aGk='}], usage}))
})
afterAll(() => routed.close())

function form(...models: readonly string[]): FormData {
  const made = new FormData()
  made.append('image', new Blob([Buffer.from([1, 2, 3])]), 'a.png')
  for (const model of models) made.append('model', model)
  made.append('prompt', 'a cat')
  return made
}

async function edit(provider: string, body: FormData, headers: Record<string, string> = {}) {
  const trace_id = newTrace()
  const reply = await routed.gateway.call('/v1/images/edits', {
    method: 'POST',
    body,
    headers: {'x-gateway-provider': provider, 'x-gateway-trace-id': trace_id, ...headers},
  })
  return {status: reply.status, text: await reply.text(), ...(await routed.recorded(trace_id))}
}

describe('a form whose provider stands in a header', () => {
  test('is charged by the model that it names', async () => {
    const {status, rows, entries} = await edit('@a', form('gpt-image-1'))
    expect(status).toBe(200)
    expect(rows).toMatchObject([{model: 'gpt-image-1'}])
    expect(entries[0]!.cost_nanousd).toBeGreaterThan(2e9)
    expect(routed.a.received[0]!.body.includes('name="model"\r\n\r\ngpt-image-1\r\n')).toBe(true)
  })

  test('uses up a budget as JSON does', async () => {
    const key = await routed.key({usage_limits: {type: 'cost', credit_limit: 1}})
    const statuses = []
    for (let count = 0; count < 3; count++) {
      statuses.push((await edit('@a', form('gpt-image-1'), {'x-gateway-api-key': key})).status)
      await routed.gateway.app.flushed()
    }
    expect(statuses).toEqual([200, 412, 412])
    expect(routed.a.received.length).toBe(1)
  })

  test('is held against a list of models', async () => {
    expect((await edit('@listed', form('gpt-image-1'))).status).toBe(412)
    expect((await edit('@listed', form())).status).toBe(412)
    expect(routed.a.received.length).toBe(0)
    expect((await edit('@listed', form('dall-e-2'))).status).toBe(200)
  })

  test('that names two models is refused', async () => {
    const {status, text} = await edit('@listed', form('dall-e-2', 'gpt-image-1'))
    expect([status, text.includes('names \\"model\\" more than once')]).toEqual([400, true])
    const other = form('dall-e-2')
    other.append('model', new Blob(['gpt-image-1']), 'model.txt')
    expect((await edit('@listed', other)).status).toBe(400)
    expect(routed.a.received.length).toBe(0)
  })

  test('that names it in two ways is refused where a provider might read the other', async () => {
    const text = (names: string) =>
      `--b\r\ncontent-disposition: form-data; name="model"\r\n\r\ndall-e-2\r\n--b\r\ncontent-disposition: form-data; ${names}\r\n\r\ngpt-image-1\r\n--b--\r\n`
    for (const names of ["name=model; name*=utf-8''other", "name*=utf-8''m%6fdel"]) {
      const reply = await routed.gateway.call('/v1/images/edits', {
        method: 'POST',
        body: text(names),
        headers: {'content-type': 'multipart/form-data; boundary=b', 'x-gateway-provider': '@listed'},
      })
      expect([names, reply.status]).toEqual([names, 400])
      await reply.text()
    }
  })
})
