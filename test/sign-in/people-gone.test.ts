import {createHash} from 'node:crypto'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {Browser, says} from '../support/sign-in.ts'
import {KINDS} from '../support/stores.ts'
import {everyRow, openPeople, type PeopleHouse, patch, scimUser} from './people-house.ts'
import {addSaml, OBJECT_ID} from './people-saml.ts'

const VERIFIER = 'v'.repeat(43)
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url')

describe.each(KINDS)('IC9: all that is under way when somebody leaves, on %s', kind => {
  let house: PeopleHouse
  let saml: Awaited<ReturnType<typeof addSaml>>
  let scim: Awaited<ReturnType<PeopleHouse['directory']>>
  let twin: TestGateway | undefined
  beforeAll(async () => {
    house = await openPeople(kind)
    saml = await addSaml(house)
    scim = await house.directory()
    if (kind === 'postgres') twin = await startGateway({...house.gateway.shared, PORT: '0'})
  })
  afterAll(async () => {
    await twin?.close()
    await house.close()
  })

  const oidc = () => `?issuer=${encodeURIComponent(house.provider.issuer)}`
  const begun = async () => {
    const browser = house.gateway.browser()
    const {location} = await browser.go(`/v2/auth/login${oidc()}`)
    return {browser, back: (await house.provider.answerTo(location!)).href}
  }
  const json = (url: string, path: string, body: object) =>
    fetch(url + path, {method: 'POST', headers: {'content-type': 'application/json'}, body: JSON.stringify(body)}).then(
      async reply => ({status: reply.status, body: (await reply.json()) as {error?: string}}),
    )

  /** The things under way of a person who signed in, and what each answers now. */
  async function prepared(claims: {sub: string; email: string}) {
    says(house.provider, {email_verified: true, ...claims})
    const first = await begun()
    expect((await first.browser.go(first.back)).status).toBe(303)
    const {browser} = first
    const {user} = await browser.self()
    const device = await json(house.gateway.url, '/v1/auth/device', {client: 'gateway-cli', host: 'laptop'})
    const {device_code, user_code} = device.body as unknown as Record<string, string>
    const send = {method: 'POST', headers: {accept: 'application/json'}}
    expect((await browser.go('/v2/auth/device', {...send, body: {user_code, decision: 'approve'}})).status).toBe(200)
    const command = `&cli_port=4567&cli_state=${'s'.repeat(20)}&cli_challenge=${CHALLENGE}`
    const {location} = await browser.go(`/v2/auth/login${oidc()}${command}`)
    const request = new URL(location!, browser.base).searchParams.get('request')
    const decided = await browser.go('/v2/auth/cli', {...send, body: {request, decision: 'approve'}})
    const code = new URL(decided.body.location).searchParams.get('code')!
    const attributes = {email: claims.email, [OBJECT_ID]: `oid-${claims.sub}`}
    await house.gateway.admin('POST', '/operator/identities', {
      ...{email: claims.email, subject: `oid-${claims.sub}`},
      connection: saml.connection,
    })
    const of_saml = house.gateway.browser()
    const finish = await saml.answered(of_saml, {email: claims.email, attributes})
    const late = await begun()
    const [workspace] = (await house.gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
    const users = [{id: user.id, role: 'member'}]
    await house.gateway.admin('POST', `/admin/workspaces/${workspace!.id}/users`, {users})
    const made = await house.gateway.admin<{key: string}>('POST', '/api-keys/workspace/user', {
      ...{workspace_id: workspace!.id, user_id: user.id, name: claims.sub, scopes: ['configs.list']},
    })
    const token = browser.session!
    return {
      user,
      /** By the process at `url`. */
      answers: async (url: string) => ({
        device: await json(url, '/v1/auth/device/token', {device_code}),
        command: await json(url, '/v1/auth/cli/token', {code, code_verifier: VERIFIER}),
        saml: (await elsewhere(of_saml, url, finish)).status,
        oidc: (await elsewhere(late.browser, url, late.back)).status,
        key: (await fetch(`${url}/v1/configs`, {headers: {'x-gateway-api-key': made.key}})).status,
        session: (await fetch(`${url}/v1/auth/self`, {headers: {authorization: `Bearer ${token}`}})).status,
        cookie: (await elsewhere(browser, url, '/v1/auth/self')).status,
      }),
      sessions: () => [of_saml.session, late.browser.session],
    }
  }

  /** The same browser, whose request another process serves. */
  async function elsewhere(browser: Browser, url: string, place: string) {
    const {pathname, search} = new URL(place, url)
    const other = new Browser(url)
    for (const [name, value] of browser.cookies) other.cookies.set(name, value)
    const {host} = new URL(browser.base)
    const reply = await other.go(pathname + search, {headers: {host}})
    return {...reply, session: other.session}
  }

  const GONE = {
    device: {status: 400, body: {error: 'access_denied'}},
    command: {status: 400, body: {error: 'access_denied'}},
    key: 401,
    session: 401,
    cookie: 401,
  }
  const active = (value: unknown) => patch({op: 'Replace', path: 'active', value})

  test('each answers while he is there', async () => {
    const there = await prepared({sub: 'stay', email: 'stay@example.test'})
    expect(await there.answers(house.gateway.url)).toMatchObject({
      device: {status: 200},
      command: {status: 200},
      saml: 303,
      oidc: 303,
      key: 200,
      session: 200,
      cookie: 200,
    })
  })

  test.each([
    ['a directory says active False', 'mia', (id: string) => scim('PATCH', `/Users/${id}`, active('False'))],
    ['a directory deletes him', 'max', (id: string) => scim('DELETE', `/Users/${id}`)],
    [
      'an admin takes him out',
      'moe',
      async (id: string) => ({status: (await house.gateway.admin('DELETE', `/admin/users/${id}`)) && 200}),
    ],
  ])('%s: it ends, in each process, and does not come back with him', async (_, name, leave) => {
    const email = `${name}@example.test`
    const {user, answers, sessions} = await prepared({sub: name, email})
    const before = sessions()
    expect((await leave(user.id)).status).toBeLessThan(300)
    const urls = [twin?.url, house.gateway.url].filter(url => url !== undefined)
    for (const url of urls) expect(await answers(url)).toMatchObject(GONE)
    const last = await answers(house.gateway.url)
    expect([last.saml, last.oidc].every(status => status === 400 || status === 403)).toBe(true)
    expect(sessions()).toEqual(before)
    const fresh = await house.comes({sub: name, email}, undefined, oidc())
    expect([fresh.reply.status, fresh.browser.session]).toEqual([403, undefined])
    expect((await house.refusal('person_archived')).status).toBe(403)
    expect(await house.role(email)).toBeUndefined()
  })

  test('the first refusal is 403; active True brings nothing of it back, and a new sign-in works', async () => {
    const {user, answers} = await prepared({sub: 'ned', email: 'ned@example.test'})
    await scim('PATCH', `/Users/${user.id}`, active('False'))
    expect(await answers(house.gateway.url)).toMatchObject({...GONE, saml: 403, oidc: 403})
    expect((await scim('PATCH', `/Users/${user.id}`, active('True'))).body.active).toBe(true)
    const again = await answers(house.gateway.url)
    expect(again).toMatchObject({...GONE, saml: 400, oidc: 400})
    const {browser, reply} = await house.comes({sub: 'ned', email: 'ned@example.test'}, undefined, oidc())
    expect([reply.status, (await browser.self()).user.id]).toEqual([303, user.id])
    expect(await answers(house.gateway.url)).toMatchObject(GONE)
  })

  test('C5: what was not tried while he was away does not work afterwards, nor what he began then', async () => {
    const claims = {sub: 'nora', email: 'nora@example.test'}
    const {user, answers, sessions} = await prepared(claims)
    const before = sessions()
    await scim('PATCH', `/Users/${user.id}`, active('False'))
    const away = await begun()
    await scim('PATCH', `/Users/${user.id}`, active('True'))
    expect(await answers(house.gateway.url)).toMatchObject({...GONE, saml: 400, oidc: 400})
    expect((await away.browser.go(away.back)).status).toBe(400)
    expect([sessions(), away.browser.session]).toEqual([before, undefined])
    expect((await house.refusal('transaction_expired')).body.detail).toMatch(/removed or came back/)
    const {browser, reply} = await house.comes(claims, undefined, oidc())
    expect([reply.status, (await browser.self()).user.id]).toEqual([303, user.id])
  })

  test('C5: a sign-in of before the removal brings nobody back by an invite of after it', async () => {
    const claims = {sub: 'olli', email: 'olli@example.test'}
    const id = (await (await house.comes(claims, undefined, oidc())).browser.self()).user.id
    const open = await begun()
    await house.gateway.admin('DELETE', `/admin/users/${id}`)
    const invite = await house.invite(claims.email)
    expect((await open.browser.go(open.back)).status).toBe(400)
    expect([open.browser.session, await house.inviteStatus(invite.id)]).toEqual([undefined, 'pending'])
    expect((await house.comes(claims, undefined, oidc())).reply.status).toBe(303)
  })

  test('a service key that he made goes on, and the row counts what ended', async () => {
    await house.gateway.person('sue', 'admin')
    const sue = await house.session('sue')
    const {user} = (await house.as(sue, 'GET', '/v1/auth/self')).body
    const [workspace] = (await house.gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
    const {body} = await house.as(sue, 'POST', '/v1/api-keys/workspace/service', {
      ...{workspace_id: workspace!.id, name: 'service', scopes: ['configs.list']},
    })
    await scim('PATCH', `/Users/${user.id}`, active('False'))
    expect((await house.ask('GET', '/v1/configs', undefined, {'x-gateway-api-key': body.key})).status).toBe(200)
    expect((await house.as(sue, 'GET', '/v1/auth/self')).status).toBe(401)
    const [row] = await house.gateway.rows('scim_user')
    expect(row).toMatchObject({action: 'update'})
    expect(JSON.stringify(row!.body)).toContain('1 sessions, 0 keys, 0 invites')
  })
})

describe.each(KINDS)('IC10: an old invite is not a way back, on %s', kind => {
  let house: PeopleHouse
  let scim: Awaited<ReturnType<PeopleHouse['directory']>>
  beforeAll(async () => {
    house = await openPeople(kind)
    scim = await house.directory()
  })
  afterAll(() => house.close())

  const accept = (token: string) => house.ask('POST', '/v1/invites/accept', {token}, {})
  const person = (name: string) => ({sub: name, email: `${name}@example.test`})
  const expectOut = async (name: string) => {
    const {browser, reply} = await house.comes(person(name))
    expect([reply.status, browser.session, await house.role(`${name}@example.test`)]).toEqual([
      403,
      undefined,
      undefined,
    ])
  }
  const leave = (id: string) => scim('PATCH', `/Users/${id}`, patch({op: 'Replace', path: 'active', value: 'False'}))

  test('(1-5) of a directory: neither the old invite nor a later one', async () => {
    const invite = await house.invite('zoe@example.test', 'admin')
    const {body} = await scim('POST', '/Users', scimUser('zoe@example.test'))
    await leave(body.id)
    await expectOut('zoe')
    expect(await house.inviteStatus(invite.id)).toBe('cancelled')
    const old = await accept(invite.token)
    expect([old.status, JSON.stringify(old.body)]).toEqual([401, expect.not.stringContaining('gs-')])
    const later = await house.invite('zoe@example.test', 'admin')
    await expectOut('zoe')
    expect(await house.inviteStatus(later.id)).toBe('pending')
    expect((await scim('PATCH', `/Users/${body.id}`, patch({op: 'Replace', path: 'active', value: true}))).status).toBe(
      200,
    )
    const {browser, reply} = await house.comes(person('zoe'))
    expect([reply.status, (await browser.self()).user.id]).toEqual([303, body.id])
  })

  test.each([
    ['who is linked', true],
    ['who is not linked', false],
  ])('(5) by hand, of a person %s: a later invite lets him in, with its role and no other', async (_, is_linked) => {
    const name = is_linked ? 'yan' : 'yul'
    const id = is_linked
      ? (await (await house.comes(person(name))).browser.self()).user.id
      : await house.gateway.person(name, 'admin')
    await house.gateway.admin('DELETE', `/admin/users/${id}`)
    await expectOut(name)
    const invite = await house.invite(`${name}@example.test`)
    const {browser, reply} = await house.comes(person(name))
    expect(reply.status).toBe(303)
    expect(await browser.self()).toMatchObject({user: {id}, organisation: {role: 'member'}})
    expect(await house.inviteStatus(invite.id)).toBe('accepted')
  })

  test('(5) an invite of before the removal does not, even where it is still open', async () => {
    const {user} = await (await house.comes(person('xia'))).browser.self()
    const leaves = () => house.gateway.admin('DELETE', `/admin/users/${user.id}`)
    await leaves()
    const invite = await house.invite('xia@example.test')
    await house.gateway.admin('POST', '/operator/users', {email: 'xia@example.test', role: 'member'})
    await leaves()
    expect(await house.inviteStatus(invite.id)).toBe('cancelled')
    // as if it had been made in the same moment by another process
    await house.write(`update invites set status = 'pending' where id = '${invite.id}'`)
    await expectOut('xia')
  })

  test('an invite does not lower whoever became an owner meanwhile', async () => {
    const invite = await house.invite('una@example.test', 'admin')
    await house.gateway.person('una', 'owner')
    await house.comes(person('una'))
    expect([await house.role('una@example.test'), await house.inviteStatus(invite.id)]).toEqual(['owner', 'accepted'])
  })

  test('an invite that names a workspace twice, or one that is gone, is accepted all the same', async () => {
    const made = (name: string) => house.gateway.admin<{id: string; slug: string}>('POST', '/admin/workspaces', {name})
    const [here, gone] = [await made('here'), await made('gone')]
    const invite = await house.invite('ron@example.test', 'member', {
      workspaces: [here.id, here.slug, gone.id].map(id => ({id, role: 'member'})),
    })
    await house.gateway.admin('DELETE', `/admin/workspaces/${gone.id}`, {name: 'gone', force_delete: true})
    const {browser, reply} = await house.comes(person('ron'))
    const {user} = await browser.self()
    expect([reply.status, await house.inviteStatus(invite.id)]).toEqual([303, 'accepted'])
    expect(await memberships(house, user.id)).toEqual([here.id])
  })

  test('(7) an invite as admin needs a verified address, or its link', async () => {
    const invite = await house.invite('wim@example.test', 'admin')
    const plain = {...person('wim'), email_verified: undefined}
    const {reply, browser} = await house.comes(plain)
    expect([reply.status, browser.session]).toEqual([403, undefined])
    expect(reply.text).toContain('Open the invite’s link to accept it')
    expect([await house.inviteStatus(invite.id), await house.role('wim@example.test')]).toEqual(['pending', undefined])
    const other = await house.invite('vic@example.test')
    const foreign = await house.comes(plain, undefined, `?invite_token=${other.token}`)
    expect([foreign.reply.status, await house.inviteStatus(invite.id)]).toEqual([403, 'pending'])
    const linked = await house.comes(plain, undefined, `?invite_token=${invite.token}`)
    expect(linked.reply.status).toBe(303)
    expect((await linked.browser.self()).organisation.role).toBe('admin')
    const member = await house.comes({...person('vic'), email_verified: undefined})
    expect([member.reply.status, await house.inviteStatus(other.id)]).toEqual([303, 'accepted'])
    const verified = await house.invite('uwe@example.test', 'admin')
    await house.comes(person('uwe'))
    expect([await house.role('uwe@example.test'), await house.inviteStatus(verified.id)]).toEqual(['admin', 'accepted'])
  })

  test('(6) where sign-in is required, a link alone accepts nothing, and the connection accepts it once', async () => {
    await house.gateway.auth({sso: {required: true, force: true}})
    const workspaces = [
      {id: (await house.gateway.admin<{id: string}>('POST', '/admin/workspaces', {name: 'k'})).id, role: 'member'},
    ]
    const invite = await house.invite('tea@example.test', 'member', {
      workspaces,
      workspace_api_key_details: {scopes: ['completions.write']},
    })
    const refused = await accept(invite.token)
    expect([refused.status, refused.body.data.login_url, await house.inviteStatus(invite.id)]).toEqual([
      403,
      expect.stringContaining('/v2/auth/login?organisation_id='),
      'pending',
    ])
    expect(JSON.stringify(refused.body)).not.toMatch(/gk-|gs-/)
    const {browser, reply} = await house.comes(person('tea'), undefined, `?invite_token=${invite.token}`)
    expect([reply.status, await house.inviteStatus(invite.id)]).toEqual([303, 'accepted'])
    expect((await browser.self()).workspaces).toHaveLength(1)
    expect([401, 403]).toContain((await accept(invite.token)).status)
    expect((await house.gateway.rows('invite')).filter(({action}) => action === 'manage')[0]!.body.by).toBe('oidc')
    await house.gateway.auth({sso: {required: false}})
    expect((await accept(invite.token)).status).toBe(401)
  })

  test('a cancelled invite, an expired one, and one of another organisation let nobody in', async () => {
    await house.gateway.auth({provisioning: {disable_auto_provision_user: true}})
    const other = await house.gateway.admin<{id: string}>('POST', '/operator/organisations', {
      name: 'Other',
      slug: 'oth',
    })
    const body = {email: 'sal@example.test', role: 'admin', workspaces: []}
    expect((await house.operator(other.id, 'POST', '/admin/users/invites', body)).status).toBe(200)
    await expectOut('sal')
    const {id} = await house.invite('sal@example.test')
    await house.gateway.admin('DELETE', `/admin/users/invites/${id}`)
    await expectOut('sal')
    const late = await house.invite('sal@example.test')
    await house.write(`update invites set expires_at = '2026-01-01T00:00:00.000Z' where id = '${late.id}'`)
    expect(await house.inviteStatus(late.id)).toBe('expired')
    await expectOut('sal')
    await house.gateway.auth({provisioning: {disable_auto_provision_user: false}})
  })
})

describe.each(KINDS)('directories over sign-ins, on %s', kind => {
  let house: PeopleHouse
  let scim: Awaited<ReturnType<PeopleHouse['directory']>>
  beforeAll(async () => {
    house = await openPeople(kind)
    scim = await house.directory()
  })
  afterAll(() => house.close())

  test('C4: a new person of an old address is another user, and the link of before opens nothing', async () => {
    const made = await scim('POST', '/Users', scimUser('tom@example.test', {externalId: 'old-hire'}))
    const first = await house.comes({sub: 'tom-old', email: 'tom@example.test'})
    expect((await first.browser.self()).user.id).toBe(made.body.id)
    await scim('PATCH', `/Users/${made.body.id}`, patch({op: 'Replace', path: 'active', value: 'False'}))
    const again = await scim('POST', '/Users', scimUser('tom@example.test', {externalId: 'new-hire'}))
    expect(again.status).toBe(201)
    expect(again.body.id).not.toBe(made.body.id)
    const old = await house.comes({sub: 'tom-old', email: 'tom@example.test'})
    expect([old.reply.status, old.browser.session]).toEqual([403, undefined])
    expect(await house.links(again.body.id)).toEqual([])
    const fresh = await house.comes({sub: 'tom-new', email: 'tom@example.test'})
    expect((await fresh.browser.self()).user.id).toBe(again.body.id)
  })

  test('scim_only: neither a sign-in nor an invite makes or brings back a user, the directory does', async () => {
    const invite = await house.invite('new@example.test')
    await house.gateway.person('gil', 'member')
    const gone = await house.gateway.person('gus', 'member')
    await house.gateway.admin('DELETE', `/admin/users/${gone}`)
    await house.invite('gus@example.test')
    await house.gateway.auth({provisioning: {scim_only: true}})
    for (const name of ['new', 'other', 'gus']) {
      const {browser, reply} = await house.comes({sub: name, email: `${name}@example.test`})
      expect([reply.status, browser.session, await house.role(`${name}@example.test`)]).toEqual([
        403,
        undefined,
        undefined,
      ])
    }
    expect((await house.refusal('not_invited')).body.email).toBe('new@example.test')
    expect((await house.ask('POST', '/v1/invites/accept', {token: invite.token}, {})).status).toBeGreaterThan(399)
    expect(await house.inviteStatus(invite.id)).toBe('pending')
    expect((await house.comes({sub: 'gil', email: 'gil@example.test'})).reply.status).toBe(303)
    expect((await scim('POST', '/Users', scimUser('other@example.test'))).status).toBe(201)
    const {browser, reply} = await house.comes({sub: 'other', email: 'other@example.test'})
    expect([reply.status, (await browser.self()).organisation.role]).toEqual([303, 'member'])
  })
})

async function memberships({gateway}: PeopleHouse, user_id: string): Promise<readonly string[]> {
  const rows = (await everyRow(gateway)).filter(row => row.startsWith('workspace_users ') && row.includes(user_id))
  const {data} = await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')
  const places = data.map(({id}) => id)
  return rows.map(row => places.find(id => row.includes(id)) ?? row)
}
