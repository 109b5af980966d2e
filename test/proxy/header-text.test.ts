import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider} from '../support/provider.ts'

/** Header text is UTF-8 where it is valid UTF-8, else Latin-1. `fetch` takes one character a byte. */
const wire = (text: string) => Buffer.from(text).toString('latin1')
const read = (value: string | null) => Buffer.from(value ?? '', 'latin1').toString('utf8')

const NAME = 'Zoë 漢字 🙂'

let provider: FakeProvider
let gateway: TestGateway
beforeAll(async () => {
  provider = await fakeProvider()
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1', HEADERS_TO_METADATA: 'x-team'})
  for (const slug of ['one', 'two']) await gateway.provider(slug, 'openai', provider.url)
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})
beforeEach(() => {
  provider.received.length = 0
})

const BODY = {model: 'gpt-4o', messages: [{role: 'user', content: 'hi'}]}

/** A plain request is read without node:http; one in pieces with it. */
const WAYS = {
  plain: (headers: Record<string, string>) => gateway.chat(BODY, headers),
  'in pieces': (headers: Record<string, string>) =>
    gateway.call('/v1/chat/completions', {
      method: 'POST',
      body: new Blob([JSON.stringify(BODY)]).stream(),
      duplex: 'half',
      headers: {'content-type': 'application/json', ...headers},
    } as RequestInit & {headers: Record<string, string>}),
}

describe.each(Object.entries(WAYS))('a request that is %s', (_, send) => {
  test('has its metadata, its trace and its other headers as text in the log', async () => {
    const reply = await send({
      'x-gateway-provider': '@one',
      'x-gateway-metadata': wire(JSON.stringify({_user: NAME})),
      'x-gateway-trace-id': wire(`trace ${NAME}`),
      'x-gateway-span-name': wire(`span ${NAME}`),
      'x-team': 'caf\xe9',
    })
    await reply.arrayBuffer()
    expect([reply.status, read(reply.headers.get('x-gateway-trace-id'))]).toEqual([200, `trace ${NAME}`])
    const [row] = await gateway.logs()
    expect(row).toMatchObject({trace_id: `trace ${NAME}`, span_name: `span ${NAME}`})
    const {key, value} = row!.metadata as {readonly key: string[]; readonly value: string[]}
    expect(Object.fromEntries(key.map((each, at) => [each, value[at]]))).toMatchObject({
      ...{_user: NAME, 'x-team': 'café'},
    })
    const {request} = await gateway.admin<{request: {headers: Record<string, string>}}>('GET', `/logs/${row!.id}`)
    expect(request.headers['x-team']).toBe('café')
  })

  test('is routed by what its metadata says', async () => {
    const config = {
      strategy: {
        mode: 'conditional',
        conditions: [
          Object.fromEntries([
            ['query', {'metadata.city': 'Zürich'}],
            ['then', 'there'],
          ]),
        ],
        default: 'elsewhere',
      },
      targets: [
        {name: 'there', provider: '@one', override_params: {user: 'Zürich'}},
        {name: 'elsewhere', provider: '@two', override_params: {user: 'elsewhere'}},
      ],
    }
    const reply = await send({
      'x-gateway-config': wire(JSON.stringify(config)),
      'x-gateway-metadata': wire(JSON.stringify({city: 'Zürich'})),
    })
    await reply.arrayBuffer()
    expect(reply.status).toBe(200)
    expect(JSON.parse(provider.received[0]!.body.toString())).toMatchObject({user: 'Zürich'})
  })

  test('has the trace of a refusal, and what it hands on to the provider, as it came', async () => {
    const refused = await send({'x-gateway-provider': '@none', 'x-gateway-trace-id': wire(NAME)})
    await refused.arrayBuffer()
    expect([refused.status < 500, read(refused.headers.get('x-gateway-trace-id'))]).toEqual([true, NAME])
    const reply = await send({'x-gateway-provider': '@one', 'x-gateway-openai-beta': wire(NAME)})
    await reply.arrayBuffer()
    expect([reply.status, read(String(provider.received[0]!.headers['openai-beta']))]).toEqual([200, NAME])
  })
})
