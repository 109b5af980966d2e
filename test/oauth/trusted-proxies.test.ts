import {afterEach, describe, expect, test} from 'vitest'
import {type OAuthHouse, openOAuthHouse} from './house.ts'

let house: OAuthHouse
afterEach(() => house?.gateway.close())

const sendAs = (address: string) =>
  house.post(
    '/oauth/token',
    {grant_type: 'refresh_token', refresh_token: 'x', client_id: 'x'},
    {'x-forwarded-for': address},
  )
const statuses = async (addresses: readonly string[]) => {
  const replies = await Promise.all(addresses.map(sendAs))
  return replies.map(({status}) => status)
}
const count = (of: readonly number[], status: number) => of.filter(each => each === status).length

describe('the 60 requests a minute at an endpoint of OAuth', () => {
  test('are those of a client behind a trusted proxy, not those of the proxy', async () => {
    house = await openOAuthHouse('sqlite', {TRUSTED_PROXIES: '127.0.0.0/8,::1'})
    const one = await statuses(Array.from({length: 61}, () => '203.0.113.7'))
    expect([count(one, 401), count(one, 429)]).toEqual([60, 1])
    expect(await statuses(['203.0.113.8', '198.51.100.1, 203.0.113.7'])).toEqual([401, 429])
  })

  test('are those of the socket where the proxy is not trusted: a client writes what it likes', async () => {
    house = await openOAuthHouse('sqlite', {TRUSTED_PROXIES: '192.0.2.1'})
    const many = await statuses(Array.from({length: 61}, (_, at) => `203.0.113.${at}`))
    expect([count(many, 401), count(many, 429)]).toEqual([60, 1])
  })

  test('and the audit log has the address of the client', async () => {
    house = await openOAuthHouse('sqlite', {TRUSTED_PROXIES: '127.0.0.1'})
    const reply = await fetch(`${house.base}/v1/labels`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-gateway-api-key': 'gk-test-admin-key-of-at-least-32-characters',
        'x-forwarded-for': '203.0.113.7',
      },
      body: JSON.stringify({name: 'seen', workspace_id: house.workspace.slug}),
    })
    expect(reply.status).toBe(200)
    const {records} = await house.gateway.admin<{records: {client_ip: string; uri: string}[]}>(
      'GET',
      '/audit-logs?resource_type=label&start_time=2026-11-01T00:00:00Z&end_time=2026-11-03T00:00:00Z',
    )
    expect(records[0]).toMatchObject({client_ip: '203.0.113.7'})
  })
})
