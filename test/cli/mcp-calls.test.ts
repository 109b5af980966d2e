import {afterAll, beforeAll, expect, onTestFinished, test} from 'vitest'
import {ADMIN_KEY, WORKSPACE_KEY} from '../support/gateway.ts'
import {type LegacyFixture, openLegacy} from '../support/mcp/legacy-server.ts'
import {openModern} from '../support/mcp/modern-server.ts'
import {McpGateway} from '../support/mcp/served.ts'
import {run, type Surroundings} from './support.ts'

let mcp: McpGateway
let upstream: LegacyFixture
let mia: string
beforeAll(async () => {
  upstream = await openLegacy()
  mcp = await McpGateway.open()
  await mcp.server('tools', upstream.url)
  await mcp.server('personal', upstream.url, {auth_type: 'oauth_auto'})
  const {id} = await mcp.gateway.admin<{id: string}>('POST', '/operator/users', {
    ...{email: 'mia@example.test', role: 'member'},
  })
  const workspace = await mcp.workspace()
  await mcp.gateway.admin('POST', `/admin/workspaces/${workspace.id}/users`, {users: [{id, role: 'member'}]})
  const {key} = await mcp.gateway.admin<{key: string}>('POST', '/api-keys/workspace/user', {
    ...{name: 'mia', workspace_id: workspace.id, user_id: id, scopes: ['mcp.invoke', 'mcp_servers.read']},
  })
  mia = key
}, 60_000)
afterAll(async () => {
  await mcp.close()
  await upstream.close()
})

const there = (argv: readonly string[], key = WORKSPACE_KEY, around: Surroundings = {}) =>
  run(['mcp', ...argv, '--url', mcp.gateway.url], {
    ...{env: {GATEWAY_API_KEY: key}, now_ms: () => Date.now()},
    ...around,
  })

test('add registers a server, opens it, and shows what it offers', async () => {
  const workspace = await mcp.workspace()
  const words = ['add', 'made', upstream.url, '--workspace', workspace.slug, '--header', 'x-team=blue']
  const waits = {onSleep: () => undefined}
  const {code, stdout, stderr} = await there([...words, '--json'], ADMIN_KEY, waits)
  expect([code, stderr]).toEqual([0, ''])
  const made = JSON.parse(stdout)
  expect(made).toMatchObject({slug: 'made', url: expect.stringMatching(/\/made\/mcp$/)})
  const called = await there(['call', 'made', 'echo', '--arg', 'text=through', '--json'])
  expect(JSON.parse(called.stdout)).toMatchObject({content: [{type: 'text', text: 'through'}]})
  expect(upstream.requests.at(-1)!.headers['x-team']).toBe('blue')
})

test('add leaves nothing where a step of it fails', async () => {
  const workspace = await mcp.workspace()
  const {code, stderr} = await there(['add', 'ab', upstream.url, '--workspace', workspace.slug], ADMIN_KEY)
  expect([code, stderr]).toEqual([2, expect.stringContaining('slug')])
  const {data} = await mcp.gateway.admin<{data: {slug: string}[]}>('GET', '/mcp-integrations')
  expect(data.map(({slug}) => slug)).not.toContain('ab')
})

test('tools shows what the caller sees, and what is switched off', async () => {
  const {code, stdout, stderr} = await there(['tools', 'tools'])
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/^TOOL +VISIBLE +ON +PIN/)
  expect(stdout).toMatch(/^echo +(?:yes|true) /m)
  const {data} = JSON.parse((await there(['tools', 'tools', '--json'])).stdout)
  expect(data).toContainEqual(expect.objectContaining({name: 'echo', visible: true}))
  const unknown = await there(['tools', 'absent'])
  expect([unknown.code, unknown.stderr]).toEqual([3, expect.stringContaining('gateway mcp-servers list')])
})

test('call takes arguments by name or as JSON, and prints the content', async () => {
  expect(await there(['call', 'tools', 'echo', '--arg', 'text=hello'])).toEqual({
    code: 0,
    stdout: 'hello\n',
    stderr: '',
  })
  const added = await there(['call', 'tools', 'add', '--arg', 'a=2', 'b=3'])
  expect(added).toMatchObject({code: 0, stdout: '5\n'})
  const whole = await there(['call', 'tools', 'add', '--json-args', '{"a": 2, "b": 4}', '--json'])
  expect(JSON.parse(whole.stdout)).toMatchObject({structuredContent: {sum: 6}})
})

test('call draws how far the tool has come, and prints its result alone', async () => {
  let now_ms = Date.now()
  const around = {has_bars: true, now_ms: () => (now_ms += 1_000)}
  const drawn = await there(['call', 'tools', 'slow', '--arg', 'steps=3'], WORKSPACE_KEY, around)
  expect(drawn).toMatchObject({
    code: 0,
    stdout: '3 steps\n',
    stderr: expect.stringMatching(/ 1\/3 .* 3\/3 \r\x1b\[K$/s),
  })
  const quiet = await there(['call', 'tools', 'slow', '--arg', 'steps=3', '--json'], WORKSPACE_KEY, around)
  expect([quiet.stderr, JSON.parse(quiet.stdout)]).toMatchObject(['', {content: [{text: '3 steps'}]}])
})

test('call repeats arguments in headers where the tool wants that', async () => {
  const modern = await openModern()
  onTestFinished(() => modern.close())
  await mcp.server('regional', modern.url)
  // the gateway knows of the header once a list has passed
  await mcp.modernCall('regional', 'tools/list', {})
  const output = await there(['call', 'regional', 'region', '--arg', 'region=köln'])
  expect(output).toEqual({code: 0, stdout: 'köln\n', stderr: ''})
})

test.each([
  [['call', 'tools', 'fail'], 1, 'The tool fail reports an error'],
  [['call', 'tools', 'echo', '--json-args', '[1]'], 2, 'takes a JSON object'],
  [['call', 'tools', 'echo', '--json-args', '{}', '--arg', 'a=1'], 2, 'not both'],
  [['call', '../v1', 'echo'], 2, 'is no name of a server'],
  [['call', 'absent', 'echo'], 3, 'gateway mcp-servers list'],
  [['logs', '--tool', 'echo'], 2, '--tool is of a server'],
])('%j is refused with the next step', async (argv, code, sentence) => {
  const output = await there(argv)
  expect([output.code, output.stderr]).toEqual([code, expect.stringContaining(sentence)])
})

test('a question of the server is declined where nobody can be asked', async () => {
  const output = await there(['call', 'tools', 'ask'])
  expect([output.code, output.stdout]).toEqual([0, 'decline null\n'])
  expect(output.stderr).toContain('declined')
})

test('on the data directory tools are not called', async () => {
  const output = await run(['mcp', 'call', 'tools', 'echo', '--data-dir', mcp.gateway.folder])
  expect([output.code, output.stderr]).toEqual([2, expect.stringContaining('Add --url')])
})

test('connect prints the address, and ends when the person is connected', async () => {
  let tries = 0
  const output = await there(['connect', 'personal'], mia, {
    onSleep() {
      tries++
    },
    now_ms: (() => {
      let at = 0
      return () => (at += 100_000)
    })(),
  })
  expect([output.code, output.stdout]).toEqual([1, ''])
  expect(output.stderr).toMatch(/Open this address, and sign in: http:\/\/\S+\/oauth\/upstream-auth\?state=/)
  expect(output.stderr).toContain('gateway mcp connect personal')
  expect(tries).toBeGreaterThan(0)
  const reply = await fetch(`${mcp.gateway.url}/v1/mcp-servers/personal/tokens`, {
    method: 'PUT',
    headers: {'x-gateway-api-key': mia, 'content-type': 'application/json'},
    body: JSON.stringify({access_token: 'given'}),
  })
  expect(reply.status).toBe(200)
  expect(await there(['connect', 'personal'], mia)).toMatchObject({
    ...{code: 0, stdout: 'You are connected to personal.\n'},
  })
})

test('logs shows the requests of a server, or of one tool', async () => {
  await there(['call', 'tools', 'count'])
  await mcp.gateway.app.flushed()
  const key = ADMIN_KEY
  const all = JSON.parse((await there(['logs', 'tools', '--json'], key)).stdout).data
  expect(all.every((row: {ai_model: string}) => row.ai_model.split('/')[0] === 'tools')).toBe(true)
  const one = JSON.parse((await there(['logs', 'tools', '--tool', 'count', '--json'], key)).stdout).data
  expect(one).toMatchObject([{ai_org: 'mcp', ai_model: 'tools/count'}])
})
