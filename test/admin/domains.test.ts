import {afterAll, beforeAll, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

test.each([
  ['dev.example.com', true, /allow_subdomains: counts for a registrable domain alone: example\.com/],
  ['co.uk', false, /domain: is a public suffix/],
  ['github.io', false, /domain: is a public suffix/],
])('71: %s with allow_subdomains %s is refused', async (domain, allow_subdomains, sentence) => {
  const made = gateway.admin('POST', '/operator/domains', {domain, allow_subdomains})
  await expect(made).rejects.toThrow(/400/)
  await expect(gateway.admin('POST', '/operator/domains', {domain, allow_subdomains})).rejects.toThrow(sentence)
})

test.each([
  ['example.com', true],
  ['dev.example.org', false],
  ['corp.internal', true],
])('71: %s with allow_subdomains %s is taken, and its change judged alike', async (domain, allow_subdomains) => {
  await gateway.admin('POST', '/operator/domains', {domain, allow_subdomains})
  const widened = gateway.admin('PUT', `/admin/organisation/domains/${domain}`, {allow_subdomains: true})
  if (allow_subdomains) await widened
  else await expect(widened).rejects.toThrow(/registrable/)
})

test('71: a domain that another organisation has verified is refused, without its name', async () => {
  const {id} = await gateway.admin<{id: string}>('POST', '/operator/organisations', {name: 'Blue', slug: 'blue'})
  await gateway.admin('POST', '/operator/domains', {domain: 'taken.example'})
  const reply = await gateway.app.inject({
    ...{method: 'POST', url: '/v1/operator/domains', body: {domain: 'taken.example'}, organisation: id},
  })
  expect(reply.status).toBe(409)
  expect(JSON.stringify(reply.body)).not.toContain('Organisation')
})

test('C16: while connections are the only way in, the last verified domain stays', async () => {
  const {id: organisation} = await gateway.admin<{id: string}>('POST', '/operator/organisations', {
    name: 'Red',
    slug: 'red',
  })
  const at = async (method: string, path: string, body?: object) =>
    (await gateway.app.inject({method, url: `/v1${path}`, body, organisation})).status
  for (const domain of ['red.example', 'crimson.example']) await at('POST', '/operator/domains', {domain})
  const oidc = {issuer: 'https://idp.example.com', client_id: 'gateway', client_secret: 'secret-of-the-client'}
  const sso = {enabled: true, type: 'oidc', oidc, required: true, force: true}
  expect(await at('PUT', '/admin/organisation/auth', {sso})).toBe(200)
  const removed = (domain: string) => at('DELETE', `/admin/organisation/domains/${domain}`)
  expect([await removed('red.example'), await removed('crimson.example')]).toEqual([200, 409])
  expect(await at('PUT', '/admin/organisation/auth', {sso: {enabled: false}})).toBe(409)
  expect(await at('PUT', '/admin/organisation/auth', {sso: {required: false}})).toBe(200)
  expect(await removed('crimson.example')).toBe(200)
})
