import {expect, test} from 'vitest'
import {startGateway} from '../support/gateway.ts'
import {openScim} from '../support/scim.ts'
import {heldToken, signer} from '../support/tokens.ts'

const database = process.env.TEST_DATABASE_URL
const KEY = signer('EdDSA')

test.skipIf(!database)('who is switched off at one process is refused at the other within a second', async () => {
  const scim = await openScim({}, 'postgres')
  const {gateway, user, group, patch} = scim
  const other = await startGateway(gateway.shared)
  const {id: organisation_id} = await gateway.admin<{id: string}>('GET', '/admin/organisation')
  const [workspace] = (await gateway.admin<{data: {slug: string}[]}>('GET', '/admin/workspaces')).data
  await gateway.admin('PUT', '/admin/organisation/auth', {jwt: {jwks: {keys: [KEY.jwk]}, algorithms: ['EdDSA']}})
  const ada = await user('ada')
  await group('ws-Search-role-member', [ada.id])
  const {token: session} = await gateway.admin<{token: string}>('POST', '/operator/sessions', {
    email: 'ada@example.com',
  })
  const claims = {
    organisation_id,
    workspace_slug: workspace!.slug,
    email_id: 'ada@example.com',
    scope: 'completions.write',
  }
  const token = heldToken(KEY, claims, Date.now())
  const status = async (credential: string, path: string, init: RequestInit = {}) => {
    const headers = {'x-gateway-api-key': credential, 'x-gateway-provider': '@demo', 'content-type': 'application/json'}
    const reply = await fetch(`${other.url}/v1${path}`, {...init, headers})
    await reply.arrayBuffer()
    return reply.status
  }
  const body = JSON.stringify({model: 'm', messages: [{role: 'user', content: 'hi'}]})
  const both = async () => [
    await status(session, '/admin/workspaces'),
    await status(token, '/chat/completions', {method: 'POST', body}),
  ]
  await expect.poll(both, {timeout: 2_000}).toEqual([200, 200])
  const since = performance.now()
  await patch(`/Users/${ada.id}`, {op: 'Replace', path: 'active', value: 'False'})
  await expect.poll(both, {timeout: 2_000, interval: 20}).toEqual([401, 403])
  expect(performance.now() - since).toBeLessThan(1_000)
  await other.close()
  await gateway.close()
})
