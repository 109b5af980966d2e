import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {type FakeProvider, fakeProvider} from '../support/provider.ts'
import {openScim, type Scim} from '../support/scim.ts'
import {KINDS} from '../support/stores.ts'
import {heldToken, signer} from '../support/tokens.ts'

// Cases of comparable products, by their numbers: tokens of people who left, and groups of many.

const KEY = signer('EdDSA', 'ic11')

describe.each(KINDS)('on %s', kind => {
  let scim: Scim
  let provider: FakeProvider
  beforeAll(async () => {
    provider = await fakeProvider()
    scim = await openScim({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'}, kind)
    await scim.gateway.provider('up', 'openai', provider.url)
  })
  afterAll(async () => {
    await scim.gateway.close()
    await provider.close()
  })

  test('IC11: the token of somebody who left calls nothing, until he is back', async () => {
    const {gateway, user, patch} = scim
    const {id: organisation_id} = await gateway.admin<{id: string}>('GET', '/admin/organisation')
    const [workspace] = (await gateway.admin<{data: {slug: string}[]}>('GET', '/admin/workspaces')).data
    await gateway.admin('PUT', '/admin/organisation/auth', {jwt: {jwks: {keys: [KEY.jwk]}, algorithms: ['EdDSA']}})
    const mia = await user('mia')
    const tokenOf = (name: string, more: object = {}) => {
      const claims = {organisation_id, workspace_slug: workspace!.slug, sub: name, ...more}
      return heldToken(
        KEY,
        {...claims, email_id: `${name}@example.com`, scopes: ['completions.write'], name},
        Date.now(),
      )
    }
    const call = async (token: string) => {
      const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: {'content-type': 'application/json', 'x-gateway-api-key': token, 'x-gateway-provider': '@up'},
        body: JSON.stringify({model: 'gpt-4o', messages: [{role: 'user', content: 'hi'}]}),
      })
      const {data} = (await reply.json()) as {data?: {errorCode?: string}}
      return [reply.status, data?.errorCode ?? null]
    }
    const refusals = async () => {
      const path = '/audit-logs?start_time=2020-01-01T00:00:00Z&end_time=2100-01-01T00:00:00Z&resource_type=jwt'
      return (await gateway.admin<{records: {request_body: string}[]}>('GET', path)).records
    }
    const [cached, unknown] = [tokenOf('mia'), tokenOf('unknown')]
    expect([await call(cached), await call(unknown)]).toEqual([
      [200, null],
      [200, null],
    ])
    await patch(`/Users/${mia.id}`, {op: 'Replace', path: 'active', value: 'False'})
    const before = provider.received.length
    for (const token of [cached, tokenOf('mia', {jti: 'another'})])
      await expect.poll(async () => (await call(token))[0], {timeout: 1_000, interval: 20}).toBe(403)
    const sent = provider.received.length
    await call(cached)
    expect(provider.received.length).toBe(sent)
    expect(sent - before).toBeLessThan(5)
    await expect.poll(async () => (await refusals()).length).toBe(1)
    expect(JSON.stringify(await refusals())).toMatch(/person/i)
    expect(await call(unknown)).toEqual([200, null])
    await patch(`/Users/${mia.id}`, {op: 'Replace', path: 'active', value: 'True'})
    await expect.poll(async () => (await call(cached))[0], {timeout: 1_000, interval: 20}).toBe(200)
  })

  test('IC16: a group of 1,201 is whole, whatever is added, removed or renamed', {timeout: 120_000}, async () => {
    const {ask, user, group, patch} = scim
    const ids: string[] = []
    for (let from = 0; from < 1_202; from += 50) {
      const some = Array.from({length: Math.min(50, 1_202 - from)}, (_, at) => user(`ic16-${from + at}`))
      ids.push(...(await Promise.all(some)).map(({id}) => id as string))
    }
    const [last, ...most] = ids.toReversed()
    const {id} = await group('Everybody')
    const path = `/Groups/${id}`
    const members = async () => {
      const {status, body} = await ask('GET', path)
      expect(status).toBe(200)
      return (body.members as {value: string}[]).map(({value}) => value).toSorted()
    }
    const all = await patch(path, {op: 'Add', path: 'members', value: most.map(value => ({value}))})
    expect(all.status).toBe(200)
    expect(await members()).toEqual(most.toSorted())
    await patch(path, {op: 'Add', path: 'members', value: [{value: last}]})
    expect(await members()).toEqual(ids.toSorted())
    await patch(path, {op: 'Remove', path: `members[value eq "${last}"]`})
    expect(await members()).toHaveLength(1_201)
    await patch(path, {op: 'Replace', path: 'displayName', value: 'Everybody else'})
    expect(await members()).toEqual(most.toSorted())
    const slim = await ask('GET', `${path}?excludedAttributes=members`)
    expect(slim.body).toMatchObject({displayName: 'Everybody else'})
    expect(slim.body.members).toBeUndefined()
  })
})
