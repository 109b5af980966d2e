import {expect, onTestFinished} from 'vitest'
import {FLAGS, type FlagName} from '../../../src/settings/flags.ts'
import {readSettings} from '../../../src/settings/index.ts'
import {startGateway} from '../../support/gateway.ts'
import {fact} from './facts.ts'
import {opened} from './support.ts'

const {ask, ok, home, workspace, person} = opened()
const set = (security: object) => ok('PUT', '/admin/organisation', {settings: {security}})
const here = () => `workspace_id=${home().id}`

fact('1.9.0', 'analytics settings', async () => {
  const member = await person('sees-graphs@example.com', 'member', 'member')
  const manager = await person('sees-graphs-too@example.com', 'member', 'manager')
  const time = 'time_of_generation_min=2026-03-01T00:00:00Z&time_of_generation_max=2026-03-02T00:00:00Z'
  const both = () =>
    Promise.all(
      [member, manager].map(
        async ({token}) => (await ask('GET', `/analytics/graphs/cost?${time}`, undefined, token)).status,
      ),
    )
  expect(await both()).toEqual([200, 200])
  await set({analytics: {membersViewAnalytics: false}})
  expect(await both()).toEqual([403, 200])
  await set({analytics: {membersViewAnalytics: null, managersViewAnalytics: false}})
  expect(await both()).toEqual([200, 403])
  await set({analytics: null})
})

fact('1.9.0', 'MCP metadata', async () => {
  const {id} = await ok('POST', '/mcp-integrations', {
    name: 'Docs',
    url: 'https://mcp.example.com/mcp',
    auth_type: 'none',
    transport: 'http',
  })
  await ok('PUT', `/mcp-integrations/${id}/workspaces`, {workspaces: [{id: home().id, enabled: true}]})
  const server = await ok('POST', '/mcp-servers', {name: 'Docs', mcp_integration_id: id, workspace_id: home().id})
  const unasked = {
    server_name: null,
    server_version: null,
    protocol_version: null,
    capability_flags: null,
    // a host that nobody has: the reading of it is to come, or has failed
    sync_status: expect.stringMatching(/^(?:pending|failed)$/),
    last_synced_at: null,
  }
  for (const path of [`/mcp-integrations/${id}`, `/mcp-servers/${server.id}`])
    expect(await ok('GET', `${path}/metadata`)).toMatchObject(unasked)
  for (const path of ['/mcp-integrations', `/mcp-servers?${here()}`]) {
    const {data} = await ok('GET', path)
    expect(data[0].metadata).toMatchObject({
      title: null,
      description: null,
      icons: null,
      server_name: null,
      sync_status: unasked.sync_status,
    })
  }
})

fact('1.9.0', 'flags default on', () => {
  const {settings} = readSettings({env: {}})
  expect((Object.keys(FLAGS) as FlagName[]).map(name => settings[`${name}_enabled`])).toEqual(Array(7).fill(true))
})

fact('1.9.0', '90/365 display', async () => {
  expect((await ok('GET', '/admin/organisation')).retention_display).toEqual({log_days: 90, metrics_days: 365})
  const other = await startGateway({LOG_RETENTION_DISPLAY: '30', METRICS_RETENTION_DISPLAY: '60'})
  onTestFinished(() => other.close())
  expect(await other.admin('GET', '/admin/organisation')).toMatchObject({
    retention_display: {log_days: 30, metrics_days: 60},
  })
  expect(other.app.settings).toMatchObject({log_retention_days: 90, metrics_retention_days: 365})
})

fact('1.10.0', 'prompt settings', async () => {
  const member = await person('writes@example.com', 'member', 'member')
  const manager = await person('writes-too@example.com', 'member', 'manager')
  let made = 0
  const tried = () =>
    Promise.all(
      [member, manager].flatMap(({token}) => [
        ask('GET', `/prompts?${here()}`, undefined, token).then(({status}) => status),
        ask('POST', '/collections', {name: `Of prompts ${++made}`, workspace_id: home().id}, token).then(
          ({status}) => status,
        ),
      ]),
    )
  expect(await tried()).toEqual([200, 403, 200, 200])
  await set({prompts: {membersWritePrompts: true, managersWritePrompts: false}})
  expect(await tried()).toEqual([200, 200, 200, 403])
  await set({prompts: {membersViewPrompts: false, membersWritePrompts: null, managersWritePrompts: null}})
  expect(await tried()).toEqual([403, 403, 200, 200])
  await set({prompts: null})
})

fact('1.10.0', 'periodic_reset_days+next_usage_reset_at on workspaces, exclusive', async () => {
  const limit = {
    type: 'cost',
    credit_limit: 10,
    periodic_reset_days: 14,
    next_usage_reset_at: '2099-01-01T00:00:00.000Z',
  }
  const {id} = await workspace({usage_limits: [limit]})
  expect((await ok('GET', `/admin/workspaces/${id}`)).usage_limits).toMatchObject([limit])
  expect(
    await ask('PUT', `/admin/workspaces/${id}`, {usage_limits: [{...limit, periodic_reset: 'monthly'}]}),
  ).toMatchObject({
    status: 400,
    code: 'AB01',
    message: 'usage_limits[0].periodic_reset_days: cannot be given together with periodic_reset: send one of them.',
  })
})

fact('1.10.0', 'default provider fields on bulk integration workspaces', async () => {
  const {slug} = await ok('POST', '/integrations', {
    name: 'Bulk',
    slug: 'bulk',
    ai_provider_id: 'openai',
    key: 'sk-0123456789',
  })
  const others = [await workspace(), await workspace(), await workspace()]
  await ok('PUT', `/integrations/${slug}/workspaces`, {
    workspaces: [
      {id: others[0]!.id, enabled: true},
      {id: others[1]!.id, enabled: true, default_provider_slug: 'of-its-own'},
      {id: others[2]!.id, enabled: true, create_default_provider: false},
    ],
    create_default_provider: true,
    default_provider_slug: 'of-all',
  })
  const slugs = async ({id}: {id: string}) =>
    (await ok('GET', `/providers?workspace_id=${id}`)).data
      .map((row: {slug: string}) => row.slug)
      .filter((name: string) => name !== 'demo')
  expect(await Promise.all(others.map(slugs))).toEqual([['of-all'], ['of-its-own'], []])
})
