import {createServer, request} from 'node:http'
import type {AddressInfo} from 'node:net'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {WORKSPACE_KEY} from '../support/gateway.ts'
import {LATEST_MS, outcomesOf} from '../support/mcp/conformance.ts'
import {openLegacy} from '../support/mcp/legacy-server.ts'
import {openModern} from '../support/mcp/modern-server.ts'
import {openReference} from '../support/mcp/reference-server.ts'
import {McpGateway} from '../support/mcp/served.ts'
import {RING} from '../support/ring.ts'

/**
 * Checks whose outcome differs on purpose, with the reason. A name is that of the server, the scenario and the check.
 */
const DIFFERENT: ReadonlyMap<string, string> = new Map([
  ...['reference', 'legacy', 'modern'].map(
    slug =>
      [
        `${slug} server-dns-rebinding-protection localhost-host-rebinding-rejected`,
        'the gateway refuses the host of a stranger, and these servers do not',
      ] as const,
  ),
  [
    'modern server-tasks-dispatch-and-envelope sep-2663-tasks-get-invalid-task-id-32602',
    'an id of a task that was given to nobody is -32602 here; this server answers otherwise',
  ],
  ['reference server-server-session-lifecycle server-session-terminated-returns-404', 'an ended session is 404 here'],
  ...['reference', 'legacy'].flatMap(slug =>
    [
      'server-server-sse-multiple-streams server-sse-streams-functional',
      'server-server-sse-polling incoming-sse-event',
      'server-server-sse-polling stream-closed',
      'server-server-sse-polling server-sse-priming-event',
      'server-server-sse-polling server-sse-retry-field',
      'server-server-sse-polling server-sse-disconnect-resume',
      'server-server-sse-polling server-sse-content-type',
    ].map(check => [`${slug} ${check}`, 'a reply that is ready at once is JSON, not a stream of one event'] as const),
  ),
])

/** The official suite has no option for headers: this adds the key. */
async function keyed(target: string): Promise<{readonly url: string; close(): Promise<void>}> {
  const {port: to, pathname} = new URL(target)
  const server = createServer((from, reply) => {
    const headers = {...from.headers, 'x-gateway-api-key': WORKSPACE_KEY}
    const sent = request({port: to, host: '127.0.0.1', path: pathname, method: from.method, headers}, answer => {
      reply.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(reply)
    })
    sent.on('error', () => reply.destroy())
    reply.on('close', () => sent.destroy())
    from.pipe(sent)
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise(done => server.close(done))
    },
  }
}

/** The status of each check of the server part. */
async function checksOf(url: string, revision: string): Promise<ReadonlyMap<string, string>> {
  const outcomes = await outcomesOf(['server', '--url', url, '--requirements', revision])
  return new Map([...outcomes].map(([name, {status}]) => [name, status]))
}

describe.skipIf(RING !== 'full')('the official suite, directly and through the gateway', () => {
  let mcp: McpGateway
  const servers: Record<string, {readonly url: string; close(): Promise<void>}> = {}
  beforeAll(async () => {
    servers.legacy = await openLegacy()
    servers.modern = await openModern()
    servers.reference = await openReference('streamableHttp')
    mcp = await McpGateway.open()
    for (const [slug, {url}] of Object.entries(servers)) await mcp.server(slug, url)
  }, 60_000)
  afterAll(async () => {
    await mcp.close()
    for (const server of Object.values(servers)) await server.close()
  })

  test.each([
    ['reference', '2025-11-25'],
    ['legacy', '2025-11-25'],
    ['modern', '2026-07-28'],
  ])(
    'the server %s by the revision %s has the same outcomes',
    async (slug, revision) => {
      const proxy = await keyed(mcp.url(slug).href)
      try {
        const direct = await checksOf(servers[slug]!.url, revision)
        const through = await checksOf(proxy.url, revision)
        expect(direct.size).toBeGreaterThan(10)
        const different = [...new Set([...direct.keys(), ...through.keys()])]
          .filter(name => direct.get(name) !== through.get(name) && !DIFFERENT.has(`${slug} ${name}`))
          .map(name => [name, direct.get(name), through.get(name)])
        expect(different).toEqual([])
      } finally {
        await proxy.close()
      }
    },
    2 * LATEST_MS,
  )
})
