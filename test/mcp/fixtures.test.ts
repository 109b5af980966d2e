import {Client as ModernClient, StreamableHTTPClientTransport as ModernTransport} from '@modelcontextprotocol/client'
import {Client} from '@modelcontextprotocol/sdk/client/index.js'
import {SSEClientTransport} from '@modelcontextprotocol/sdk/client/sse.js'
import {StreamableHTTPClientTransport} from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {ElicitRequestSchema} from '@modelcontextprotocol/sdk/types.js'
import {expect, test} from 'vitest'
import {openLegacy} from '../support/mcp/legacy-server.ts'
import {openModern} from '../support/mcp/modern-server.ts'
import {openSse} from '../support/mcp/sse-server.ts'

const ME = {name: 'test', version: '1'}
type Transport = Parameters<Client['connect']>[0]

test.each([{}, {json: true}, {sessions: 'stateless'}, {asks_on: 'stream'}, {retry_ms: 10}] as const)(
  'the legacy fixture %j serves the SDK of its era',
  async options => {
    const server = await openLegacy(options)
    const client = new Client(ME, {capabilities: {elicitation: {}}})
    client.setRequestHandler(ElicitRequestSchema, () => ({action: 'accept', content: {ok: true}}))
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url)) as Transport)
    const call = (name: string, input = {}) => client.callTool({name, arguments: input})
    expect(await call('echo', {text: 'hä'})).toMatchObject({content: [{text: 'hä'}]})
    expect(await call('add', {a: 1, b: 2})).toMatchObject({structuredContent: {sum: 3}})
    if (!('json' in options) && !('sessions' in options))
      expect(await call('ask')).toMatchObject({content: [{text: 'accept {"ok":true}'}]})
    await client.close()
    await server.close()
  },
)

test('the modern fixture serves the SDK of its era', async () => {
  const server = await openModern()
  const client = new ModernClient(ME, {versionNegotiation: {mode: {pin: '2026-07-28'}}, capabilities: {}})
  await client.connect(new ModernTransport(new URL(server.url)))
  expect(await client.callTool({name: 'numbers'})).toMatchObject({structuredContent: [1, 2, 3]})
  expect(await client.callTool({name: 'region', arguments: {region: 'köln'}})).toMatchObject({
    content: [{text: 'köln'}],
  })
  expect(server.of('initialize')).toEqual([])
  await client.close()
  await server.close()
})

test('the fixture of HTTP with SSE serves the SDK of its era', async () => {
  const server = await openSse()
  const client = new Client(ME)
  await client.connect(new SSEClientTransport(new URL(server.url)))
  expect(await client.callTool({name: 'echo', arguments: {text: 'x'}})).toMatchObject({content: [{text: 'x'}]})
  await client.close()
  await server.close()
})
