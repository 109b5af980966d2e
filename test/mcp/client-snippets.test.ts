import {readFileSync} from 'node:fs'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {WORKSPACE_KEY} from '../support/gateway.ts'
import {type LegacyFixture, openLegacy} from '../support/mcp/legacy-server.ts'
import {McpGateway} from '../support/mcp/served.ts'

/** The files of clients in docs/mcp.md: each is JSON, names the address in its form, and its header is one we take. */
const PAGE = readFileSync('docs/mcp.md', 'utf8')
const SECTION = PAGE.split('\n## ').find(part => part.startsWith('Set up a client'))!
const SNIPPETS = SECTION.split(/\n\n(?=\*\*)/).flatMap(part => {
  const [, client] = /^\*\*([^*]+)\*\*/.exec(part) ?? []
  const [, text] = /```json\n([\s\S]*?)```/.exec(part) ?? []
  return client !== undefined && text !== undefined ? [[client, text] as const] : []
})
const ADDRESS = /https:\/\/GATEWAY\/[\w-]+\/mcp/
const HEADER = /x-gateway-api-key"?:\s*"?([^"]+)"/

let mcp: McpGateway
let upstream: LegacyFixture
beforeAll(async () => {
  upstream = await openLegacy()
  mcp = await McpGateway.open()
  await mcp.server('docs', upstream.url)
})
afterAll(async () => {
  await mcp.close()
  await upstream.close()
})

test('the page has the usual clients', () => {
  const clients = ['Claude Code', 'Cursor', 'VS Code', 'Gemini CLI', 'opencode', 'Zed', 'Claude Desktop']
  expect(SNIPPETS.map(([client]) => client)).toEqual(clients)
  expect(PAGE).toMatch(/```toml\n\[mcp_servers\.docs\]\nurl = "https:\/\/GATEWAY\/docs\/mcp"/)
})

describe.each(SNIPPETS)('the file of %s', (_, text) => {
  test('is JSON, and its address and header reach a server', async () => {
    JSON.parse(text)
    const [address] = ADDRESS.exec(text)!
    expect(HEADER.exec(text)).not.toBeNull()
    const initialize = {
      ...{jsonrpc: '2.0', id: 0, method: 'initialize'},
      params: {protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {name: 'c', version: '1'}},
    }
    const reply = await fetch(address.replace('https://GATEWAY', mcp.gateway.url), {
      method: 'POST',
      headers: {
        ...{'content-type': 'application/json', accept: 'application/json, text/event-stream'},
        'x-gateway-api-key': WORKSPACE_KEY,
      },
      body: JSON.stringify(initialize),
    })
    expect(reply.status).toBe(200)
  })
})
