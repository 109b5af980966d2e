import {afterAll, beforeAll, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

const WHY = 'The provider vllm has no address of its own.'
const refusalOf = async (headers: Record<string, string>) => {
  const reply = await gateway.chat({model: 'llama3', messages: [{role: 'user', content: 'hi'}]}, headers)
  const {error} = (await reply.json()) as {error: {message: string}}
  return [reply.status, error.message]
}

test('a call of a kind without an address is refused with where to give it', async () => {
  expect(await refusalOf({'x-gateway-provider': 'vllm'})).toEqual([
    400,
    expect.stringContaining(`${WHY} Give one as x-gateway-custom-host.`),
  ])
  const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  await gateway.admin('POST', '/integrations', {name: 'local', slug: 'local', ai_provider_id: 'vllm'})
  await gateway.admin('PUT', '/integrations/local/workspaces', {
    workspaces: [{id: workspace!.id, enabled: true, default_provider_slug: 'local'}],
  })
  expect(await refusalOf({'x-gateway-provider': '@local'})).toEqual([
    400,
    expect.stringContaining(`${WHY} Set custom_host in the integration of @local.`),
  ])
})
