import {afterAll, beforeAll, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'

let gateway: TestGateway
let organisation_id: string
beforeAll(async () => {
  gateway = await startGateway()
  organisation_id = (await gateway.admin<{id: string}>('GET', '/admin/organisation')).id
  await gateway.admin('POST', '/admin/workspaces', {name: 'Home', slug: 'ws-home'})
  await gateway.admin('POST', '/collections', {workspace_id: 'ws-home', name: 'Home', slug: 'home'})
  await gateway.admin('POST', '/virtual-keys', {
    name: 'Mine',
    slug: 'mine',
    provider: 'openai',
    key: 'sk-1',
    workspace_id: 'ws-home',
  })
})
afterAll(() => gateway.close())

const checks = [{id: 'default.contains', parameters: {words: ['a'], operator: 'none'}}]
const home = {workspace_id: 'ws-home', name: 'Given'}
const NOUNS = [
  {
    path: '/admin/workspaces',
    slug: 'ws-given',
    body: () => ({name: 'Given'}),
    gone: {name: 'Given', force_delete: true},
  },
  {
    path: '/configs',
    slug: 'pc-given',
    body: () => ({name: 'Given', workspace_id: 'ws-home', config: {provider: '@demo'}}),
  },
  {path: '/guardrails', slug: 'pg-given', body: () => ({name: 'Given', organisation_id, checks, actions: {}})},
  {path: '/collections', slug: 'given', body: () => home},
  {path: '/prompts/partials', slug: 'pp-given-part', body: () => ({...home, string: 'Hi'})},
  {
    path: '/prompts',
    slug: 'pp-given',
    body: () => ({
      name: 'Given',
      collection_id: 'home',
      string: 'Hi',
      parameters: {},
      virtual_key: 'mine',
      is_raw_template: 1,
    }),
  },
]

test.each(NOUNS)('$path takes a slug, once, and again when its row is archived', async ({path, slug, body, gone}) => {
  const {admin, app} = gateway
  const make = () => app.inject({method: 'POST', url: `/v1${path}`, body: {...body(), slug}})
  expect((await make()).status).toBe(200)
  expect(await make()).toMatchObject({status: 409, body: {data: {message: expect.stringContaining(slug)}}})
  await admin('DELETE', `${path}/${slug}`, gone)
  expect((await make()).status).toBe(200)
  await admin('GET', `${path}/${slug}`)
})

test('default is no slug of a workspace', async () => {
  const reply = await gateway.app.inject({
    method: 'POST',
    url: '/v1/admin/workspaces',
    body: {name: 'D', slug: 'default'},
  })
  expect(reply).toMatchObject({
    status: 400,
    body: {data: {message: expect.stringContaining('slug: must not be default')}},
  })
})
