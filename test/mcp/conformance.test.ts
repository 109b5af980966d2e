import {execFile} from 'node:child_process'
import {mkdtempSync, readdirSync, readFileSync, rmSync, statSync} from 'node:fs'
import {createServer, request} from 'node:http'
import type {AddressInfo} from 'node:net'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {promisify} from 'node:util'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {WORKSPACE_KEY} from '../support/gateway.ts'
import {openLegacy} from '../support/mcp/legacy-server.ts'
import {openModern} from '../support/mcp/modern-server.ts'
import {openReference} from '../support/mcp/reference-server.ts'
import {McpGateway} from '../support/mcp/served.ts'
import {RING} from '../support/ring.ts'

const run = promisify(execFile)
const SUITE = resolve(import.meta.dirname, '../../node_modules/@modelcontextprotocol/conformance/dist/index.js')
const LATEST_MS = 600_000

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

/** The outcome of each check of the suite. */
async function checksOf(url: string, revision: string): Promise<ReadonlyMap<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'))
  try {
    const args = [SUITE, 'server', '--url', url, '--requirements', revision, '-o', folder]
    await run(process.execPath, args, {timeout: LATEST_MS, maxBuffer: 1 << 26}).catch(() => undefined)
    const checks = new Map<string, string>()
    for (const file of filesIn(folder).filter(each => each.endsWith('checks.json'))) {
      const scenario = file
        .split('/')
        .at(-2)!
        .replace(/-\d{4}-\d{2}-\d{2}T.*$/, '')
      for (const {id, status} of JSON.parse(readFileSync(file, 'utf8')) as {id: string; status: string}[])
        checks.set(`${scenario} ${id}`, status)
    }
    return checks
  } finally {
    rmSync(folder, {recursive: true, force: true})
  }
}

function filesIn(folder: string): string[] {
  return readdirSync(folder).flatMap(name => {
    const path = join(folder, name)
    return statSync(path).isDirectory() ? filesIn(path) : [path]
  })
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
