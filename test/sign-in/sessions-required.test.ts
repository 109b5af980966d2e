import {join} from 'node:path'
import Sqlite from 'better-sqlite3'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {type OidcHouse, openOidc, says} from '../support/sign-in.ts'

const HOUR_MS = 3_600_000
let house: OidcHouse
let ahead_ms = 0
const now = () => Date.now() + ahead_ms
beforeAll(async () => {
  house = await openOidc('sqlite', {}, {now})
  await house.gateway.person('olga', 'owner')
})
afterAll(() => house.close())

async function enter(name: string): Promise<string> {
  const now_s = Math.floor(now() / 1000)
  const times = {iat: now_s, exp: now_s + 300}
  says(house.provider, {sub: name, email: `${name}@example.test`, email_verified: true, ...times})
  const {browser, reply} = await house.signIn()
  expect(reply.status).toBe(303)
  return browser.session!
}

async function call(token: string, method: string, path: string, body?: object) {
  const reply = await fetch(`${house.gateway.url}/v1${path}`, {
    method,
    headers: {authorization: `Bearer ${token}`, ...(body && {'content-type': 'application/json'})},
    ...(body && {body: JSON.stringify(body)}),
  })
  const text = await reply.text()
  return {status: reply.status, text, body: JSON.parse(text)}
}

const operator = async (body: object) =>
  (await house.gateway.app.inject({method: 'PUT', url: '/v1/admin/organisation/auth', body})).status
const isRequired = async () =>
  (await house.gateway.admin<{sso: {required: boolean}}>('GET', '/admin/organisation/auth')).sso.required

test('69, C16: sign-in becomes the only way in when an owner tried it within the hour', async () => {
  const required = {sso: {required: true}}
  expect([await operator(required), await isRequired()]).toEqual([409, false])
  const {token} = await house.gateway.admin<{token: string}>('POST', '/operator/sessions', {email: 'olga@example.test'})
  const untried = await call(token, 'PUT', '/admin/organisation/auth', required)
  expect([untried.status, untried.text.includes('within the last hour')]).toEqual([409, true])
  const forced = await call(token, 'PUT', '/admin/organisation/auth', {sso: {required: true, force: true}})
  expect([forced.status, await isRequired()]).toEqual([403, false])
  await enter('mia')
  expect(await operator(required)).toBe(409)
  const owner = await enter('olga')
  ahead_ms += HOUR_MS - 60_000
  expect((await call(owner, 'PUT', '/admin/organisation/auth', required)).status).toBe(200)
  expect(await operator({sso: {required: false}})).toBe(200)
  ahead_ms += 120_000
  expect([await operator(required), await isRequired()]).toEqual([409, false])
  expect([await operator({sso: {required: true, force: true}}), await isRequired()]).toEqual([200, true])
  expect(await operator({sso: {required: false}})).toBe(200)
})

test('69: an invite opens nothing then; the operator, and people of the connection, come in', async () => {
  const invite = await house.gateway.admin<{invite_link: string}>('POST', '/admin/users/invites', {
    ...{email: 'ina@example.test', role: 'member', workspaces: []},
  })
  const accepted = await fetch(`${house.gateway.url}/v1/invites/accept`, {
    ...{method: 'POST', body: JSON.stringify({token: invite.invite_link.split('#token=')[1]})},
    headers: {'content-type': 'application/json'},
  })
  const invited = /gs-[\w-]{43}/.exec(await accepted.text())![0]
  const of_operator = (
    await house.gateway.admin<{token: string}>('POST', '/operator/sessions', {email: 'olga@example.test'})
  ).token
  const of_connection = await enter('olga')
  expect((await call(invited, 'GET', '/auth/self')).body.session.method).toBe('invite')
  expect((await call(of_connection, 'PUT', '/admin/organisation/auth', {sso: {required: true}})).status).toBe(200)
  expect((await call(invited, 'GET', '/auth/self')).status).toBe(401)
  for (const token of [of_operator, of_connection]) expect((await call(token, 'GET', '/auth/self')).status).toBe(200)
  // one that is open all the same, as a process that was slower would have opened it
  const database = new Sqlite(join(house.gateway.folder, 'gateway.db'))
  database.prepare("update sessions set revoked_at = null where method = 'invite'").run()
  database.close()
  for (const path of ['/auth/self', '/admin/workspaces']) {
    const reply = await call(invited, 'GET', path)
    expect([path, reply.status, reply.text.includes('lets people in by its own sign-in alone')]).toEqual([
      ...[path, 403, true],
    ])
  }
  const {data} = (await call(invited, 'GET', '/auth/self')).body
  expect(data.login_url).toBe(`${house.gateway.shared.CONTROL_PLANE_URL}/v2/auth/login`)
  expect((await call(await enter('mia'), 'GET', '/auth/self')).status).toBe(200)
  expect(await operator({sso: {required: false}})).toBe(200)
  expect((await call(invited, 'GET', '/auth/self')).status).toBe(200)
})

test('65: who is archived comes in by no session, also by one that was opened all the same', async () => {
  const token = await enter('arno')
  const {user} = (await call(token, 'GET', '/auth/self')).body
  await house.gateway.admin('DELETE', `/admin/users/${user.id}`)
  const database = new Sqlite(join(house.gateway.folder, 'gateway.db'))
  database.prepare('update sessions set revoked_at = null where user_id = ?').run(user.id)
  database.close()
  for (const path of ['/auth/self', '/admin/workspaces']) expect((await call(token, 'GET', path)).status).toBe(401)
})

test('a command line that waits gets a yes or a no, and nothing else', async () => {
  const now_s = Math.floor(now() / 1000)
  const times = {iat: now_s, exp: now_s + 300}
  says(house.provider, {sub: 'mia', email: 'mia@example.test', email_verified: true, ...times})
  const command = `cli_port=4567&cli_state=${'s'.repeat(20)}&cli_challenge=${'c'.repeat(43)}`
  const {browser, reply} = await house.signIn(undefined, `?${command}`)
  const request = new URL(reply.location!, browser.base).searchParams.get('request')
  const decide = (decision: string) =>
    browser.go('/v2/auth/cli', {method: 'POST', body: {request, decision}, headers: {accept: 'application/json'}})
  for (const word of ['maybe', 'APPROVE', 'Deny', 'true']) expect((await decide(word)).status).toBe(400)
  const {status, body} = await decide('approve')
  expect([status, new URL(body.location).searchParams.has('code')]).toEqual([200, true])
})

test('69, C16: while it is on the last connection stays, but where the same change switches it off', async () => {
  await enter('olga')
  expect(await operator({sso: {required: true}})).toBe(200)
  for (const sso of [{enabled: false}, {connections: []}]) expect(await operator({sso})).toBe(409)
  expect(await isRequired()).toBe(true)
  expect((await house.gateway.browser().go('/v2/auth/login')).status).toBe(303)
  expect(await operator({sso: {enabled: false, required: false}})).toBe(200)
  expect((await house.gateway.browser().go('/v2/auth/login')).status).toBe(404)
})
