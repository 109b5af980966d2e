import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {resolve} from 'node:path'
import {text} from 'node:stream/consumers'
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest'
import {type OAuthHouse, openOAuthHouse} from '../oauth/house.ts'
import {LATEST_MS, outcomesOf} from '../support/mcp/conformance.ts'
import {RING} from '../support/ring.ts'
import {freePort} from '../support/sign-in.ts'

const DRIVER = resolve(import.meta.dirname, '../support/mcp/conformance-driver.ts')

/** Checks that a client of its own passes and a gateway does not, with the reason. */
const DIFFERENT: ReadonlyMap<string, string> = new Map([
  ['auth/basic-cimd cimd-client-id-used', 'the document has to be at a public https address, which loopback is not'],
  [
    'auth/iss-normalized sep-2468-client-no-normalization',
    'issuers of large providers differ by a slash behind the host: that one difference is none here',
  ],
  [
    'auth/resource-mismatch authorization-server-metadata',
    'a resource document of another address is refused before its authorization server is looked for',
  ],
])

interface Asked {
  readonly url: string
  readonly scenario: string
  readonly context: {readonly client_id?: string; readonly client_secret?: string}
}

/** How a server of a scenario is registered. */
function integrationOf({url, scenario, context: {client_id, client_secret}}: Asked): object {
  if (!scenario.startsWith('auth/')) return {url, auth_type: 'none'}
  const client = client_id === undefined ? {} : {client_id, client_secret}
  const auth_type = scenario.includes('client-credentials') ? 'oauth_client_credentials' : 'oauth_auto'
  return {url, auth_type, ...(client_id !== undefined && {configurations: {oauth_metadata: client}})}
}

/** Takes the servers of scenarios as upstreams of a gateway, and signs a person in at them. */
async function openControl(house: OAuthHouse) {
  const mia = await house.person('mia', 'member', [house.workspace.id])
  const {key} = await house.gateway.admin<{key: string}>('POST', '/api-keys/workspace/user', {
    ...{name: 'mia', workspace_id: house.workspace.id, user_id: mia.id, scopes: ['mcp.invoke']},
  })
  let made = 0
  const register = async (asked: Asked) => {
    const slug = `scenario-${++made}`
    await house.gateway.admin('POST', '/mcp-integrations', {
      ...{name: slug, slug: `${slug}-integration`, transport: 'http', workspace_id: house.workspace.id},
      ...integrationOf(asked),
    })
    await house.gateway.admin('POST', '/mcp-servers', {
      ...{name: slug, slug, mcp_integration_id: `${slug}-integration`, workspace_id: house.workspace.id},
    })
    return {url: house.resource(slug), headers: {'x-gateway-api-key': key}}
  }
  const signIn = async ({url}: {readonly url: string}) => {
    const sent = await mia.browser.go(url)
    if (sent.status !== 302) throw new Error(sent.text)
    const {headers} = await fetch(sent.location!, {redirect: 'manual'})
    const back = await mia.browser.go(headers.get('location')!)
    if (back.status !== 200) throw new Error(back.text)
    return {}
  }
  const server = createServer(async (request, reply) => {
    try {
      const body = JSON.parse(await text(request))
      reply.end(JSON.stringify(await (request.url === '/trip' ? signIn(body) : register(body))))
    } catch (error) {
      reply.writeHead(500).end(String(error))
    }
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise(done => server.close(done)),
  }
}

describe.skipIf(RING !== 'full')('the client part of the official suite', () => {
  let house: OAuthHouse
  let control: Awaited<ReturnType<typeof openControl>>
  beforeAll(async () => {
    house = await openOAuthHouse('sqlite', {TRUSTED_CUSTOM_HOSTS: 'localhost,127.0.0.1'})
    control = await openControl(house)
  }, 60_000)
  afterAll(async () => {
    await control?.close()
    await house?.gateway.close()
  })

  test.each(['2025-11-25', '2026-07-28'])(
    'a client passes no check of the revision %s that it does not pass through the gateway too',
    async revision => {
      const args = ['client', '--command', `${process.execPath} ${DRIVER}`]
      const part = [...args, '--requirements', revision, '--timeout', '120000']
      const direct = await outcomesOf(part)
      const through = await outcomesOf(part, {env: {DRIVER_CONTROL: control.url}})
      const failed = new Set(
        [...direct].filter(([, {status}]) => status === 'FAILURE').map(([name]) => name.split(' ')[0]),
      )
      const of_passed = [...direct].filter(([name]) => !failed.has(name.split(' ')[0]))
      const passed = of_passed.filter(([, {status}]) => status === 'SUCCESS')
      expect(passed.length).toBeGreaterThan(100)
      const lost = passed
        .filter(([name]) => through.get(name)?.status !== 'SUCCESS' && !DIFFERENT.has(name))
        .map(([name]) => [name, through.get(name)?.status, through.get(name)?.fault])
      expect(lost).toEqual([])
    },
    2 * LATEST_MS,
  )
})

describe.skipIf(RING !== 'full')('the authorization part of the official suite', () => {
  test(
    'metadata, and a code grant of a client that an administrator made',
    async () => {
      const house = await openOAuthHouse()
      onTestFinished(() => house.gateway.close())
      await house.server('docs')
      const mia = await house.person('mia', 'member', [house.workspace.id])
      const port = String(await freePort())
      const {id: client_id} = await house.gateway.admin<{id: string}>('POST', '/mcp-oauth-clients', {
        ...{name: 'Suite', redirect_uris: [`http://127.0.0.1:${port}/callback`]},
      })
      const args = ['authorization', '--url', house.base, '--client-id', client_id, '--port', port]
      // the suite prints the address that a person is to open
      const outcomes = await outcomesOf(args, {
        onLine: async line => {
          if (!line.startsWith(`${house.base}/oauth/authorize?`)) return
          const page = await mia.browser.go((await mia.browser.go(line)).location!)
          const [, server] = /<option value="([^"]+)"/.exec(page.text) ?? []
          const {location} = page.location
            ? page
            : await house.decide(mia.browser, page, server === undefined ? {} : {server})
          if (location === null) throw new Error(page.text)
          await (await fetch(location)).text()
        },
      })
      expect(
        Object.fromEntries([...outcomes].map(([name, {status, fault}]) => [name.split(' ')[1], fault ?? status])),
      ).toEqual({
        'authorization-server-metadata': 'SUCCESS',
        'authorization-server-metadata-cimd': expect.stringContaining('got false'),
        'authorization-code-grant': 'SUCCESS',
      })
    },
    LATEST_MS,
  )
})
