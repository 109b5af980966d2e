import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {startLyingProvider} from '../identity/oidc/lying-provider.ts'
import {type Browser, says} from '../support/sign-in.ts'
import {KINDS} from '../support/stores.ts'
import {openPeople, type PeopleHouse, scimUser} from './people-house.ts'
import {addSaml, OBJECT_ID} from './people-saml.ts'

const POWERFUL =
  'This address belongs to an owner or admin. Sign in once as that person and connect the ' +
  'provider, or run `gateway identities link`.'
const olga = {sub: 'x1', email: 'olga@example.test'}

describe.each(KINDS)('links of people to providers, on %s', kind => {
  let house: PeopleHouse
  let second: Awaited<ReturnType<typeof startLyingProvider>>
  let saml: Awaited<ReturnType<typeof addSaml>>
  let ids: Record<string, string>
  beforeAll(async () => {
    house = await openPeople(kind)
    second = await startLyingProvider()
    const {sso} = await house.gateway.admin<{sso: {connections: {id: string}[]}}>('GET', '/admin/organisation/auth')
    const oidc = {issuer: second.issuer, client_id: second.client_id, client_secret: 'second-secret-of-the-client'}
    const [{id}] = sso.connections as [{id: string}]
    await house.gateway.auth({sso: {connections: [{id}, {name: 'second', type: 'oidc', oidc}]}})
    saml = await addSaml(house)
    ids = {}
    for (const [name, role] of [
      ['olga', 'owner'],
      ['adam', 'admin'],
      ['mia', 'member'],
      ['pia', 'member'],
    ] as const)
      ids[name] = await house.gateway.person(name, role)
  })
  afterAll(async () => {
    await house.close()
    await second.close()
  })

  const comes = async (claims: Record<string, unknown>, browser = house.gateway.browser(), at = house.provider) => {
    says(at, {email_verified: undefined, ...claims})
    const {location} = await browser.go(`/v2/auth/login?issuer=${encodeURIComponent(at.issuer)}`)
    const back = await at.answerTo(location!)
    return {browser, reply: await browser.go(back.href)}
  }

  const withSession = async (name: string): Promise<Browser> => {
    const browser = house.gateway.browser()
    browser.cookies.set('__Host-gateway_session', await house.session(name))
    return browser
  }

  const expectProofNeeded = async (
    {browser, reply}: {browser: Browser; reply: {status: number; text: string}},
    name: string,
  ) => {
    expect(reply.status).toBe(409)
    expect(reply.text.replaceAll('&#96;', '`')).toContain(POWERFUL)
    expect(browser.session).toBeUndefined()
    expect(await house.links(ids[name])).toEqual([])
    expect((await house.refusal('link_needs_proof')).status).toBe(409)
  }

  const proofs = async () =>
    (await house.gateway.rows('identity')).filter(({action}) => action === 'create').map(({body}) => body.proof)

  test('IC4 (1): an owner and an admin are not linked by the address alone', async () => {
    await expectProofNeeded(await comes(olga), 'olga')
    await expectProofNeeded(await comes({sub: 'x2', email: 'adam@example.test'}), 'adam')
  })

  test('IC4 (4): nor by an assertion of SAML, which says nothing of it', async () => {
    const attributes = {email: 'adam@example.test', [OBJECT_ID]: 'oid-adam'}
    await expectProofNeeded(await saml.comes({email: 'adam@example.test', attributes}), 'adam')
    await expectProofNeeded(await saml.comes({email: 'adam@example.test'}), 'adam')
  })

  test('IC4 (3): a session of another proves nothing, one of her own does', async () => {
    const other = await withSession('mia')
    const before = other.session
    const {reply} = await comes(olga, other)
    expect([reply.status, other.session, await house.links(ids.olga)]).toEqual([409, before, []])
    const own = await withSession('olga')
    const old = own.session!
    const opened = await comes(olga, own)
    expect(opened.reply.status).toBe(303)
    expect((await opened.browser.self()).user.id).toBe(ids.olga)
    expect(await proofs()).toEqual(['session'])
    expect(opened.browser.session).not.toBe(old)
    const kept = await withSession('mia')
    const first = (
      await house.comes({sub: 'x1', email: olga.email}, kept, `?issuer=${encodeURIComponent(house.provider.issuer)}`)
    ).browser
    const ended = first.session!
    await house.comes({sub: 'x1', email: olga.email}, first, `?issuer=${encodeURIComponent(house.provider.issuer)}`)
    expect((await house.as(ended, 'GET', '/v1/auth/self')).status).toBe(401)
  })

  test('IC4 (6): a known link needs no proof any more', async () => {
    const {browser, reply} = await comes(olga)
    expect([reply.status, (await browser.self()).user.id]).toEqual([303, ids.olga])
  })

  test('IC4 (7): a link at one issuer is no proof at another; 33: nor is another subject at this one', async () => {
    const {reply, browser} = await comes({sub: 'y1', email: olga.email}, undefined, second)
    expect([reply.status, browser.session]).toEqual([409, undefined])
    const another = await comes({sub: 'x9', email: olga.email, email_verified: true})
    expect([another.reply.status, another.browser.session]).toEqual([409, undefined])
    expect((await house.refusal('link_conflict')).body.subject).toBe('x9')
    expect(await house.links(ids.olga)).toHaveLength(1)
  })

  test('IC4 (2): a verified address is proof, at the second issuer as well', async () => {
    const {reply} = await comes({sub: 'y1', email: olga.email, email_verified: true}, undefined, second)
    expect([reply.status, (await proofs())[0]]).toEqual([303, 'email_verified'])
  })

  test('IC4 (5): a member without any link is found by the address; with a link elsewhere he is not', async () => {
    const mia = {sub: 'm1', email: 'mia@example.test'}
    const {browser, reply} = await comes(mia)
    expect([reply.status, (await browser.self()).user.id, (await proofs())[0]]).toEqual([303, ids.mia, 'address'])
    const elsewhere = await comes({...mia, sub: 'm2'}, undefined, second)
    expect([elsewhere.reply.status, elsewhere.browser.session]).toEqual([409, undefined])
  })

  test('IC4: a password makes an account one that needs proof', async () => {
    const id = await house.gateway.person('quin', 'owner')
    const password = {email: 'quin@example.test', password: 'a password of many words'}
    await house.gateway.admin('POST', '/operator/users/password', password)
    await house.gateway.admin('PUT', `/admin/users/${id}`, {role: 'member'})
    const {reply} = await comes({sub: 'q2', email: 'quin@example.test'})
    expect([reply.status, await house.links(id)]).toEqual([409, []])
  })

  test('IC4: the external id of a directory is proof where it is the subject, and no other one is', async () => {
    const scim = await house.directory()
    const made = await scim(
      'POST',
      '/Users',
      scimUser('dora@example.test', {externalId: 'oid-dora', roles: [{value: 'admin'}]}),
    )
    expect(made.status).toBe(201)
    expect(await house.role('dora@example.test')).toBe('admin')
    const wrong = await comes({sub: 'oid-other', email: 'dora@example.test'})
    expect([wrong.reply.status, await house.links(made.body.id)]).toEqual([409, []])
    const right = await comes({sub: 'oid-dora', email: 'dora@example.test'})
    expect([right.reply.status, (await proofs())[0]]).toEqual([303, 'directory'])
  })

  test('C10: a provider without a lasting subject links no one, and each sign-in is by the address', async () => {
    for (const _ of [1, 2]) {
      const {browser, reply} = await saml.comes({email: 'pia@example.test'})
      expect([reply.status, (await browser.self()).user.id, await house.links(ids.pia)]).toEqual([303, ids.pia, []])
    }
    expect((await house.letIn()).body).toMatchObject({
      subject: null,
      notes: expect.arrayContaining(['the provider names no lasting subject: by the address alone']),
    })
    const fresh = await saml.comes({email: 'Sam@Example.test'})
    const again = await saml.comes({email: 'sam@example.test'})
    expect((await again.browser.self()).user).toEqual((await fresh.browser.self()).user)
    expect((await fresh.browser.self()).user.email).toBe('sam@example.test')
  })

  test('C10: without a subject a link of before is no contradiction, and no proof', async () => {
    const attributes = {email: 'ned@example.test', [OBJECT_ID]: 'oid-ned'}
    expect((await saml.comes({email: 'ned@example.test', attributes})).reply.status).toBe(303)
    expect((await saml.comes({email: 'ned@example.test'})).reply.status).toBe(409)
    expect((await saml.comes({email: 'ned@example.test'}, await withSession('ned'))).reply.status).toBe(303)
  })

  test('an address that changes at the provider is taken over, unless another has it or an invite waits', async () => {
    const rob = {sub: 'rob', email: 'rob@example.test'}
    const {browser} = await comes(rob)
    const {user} = await browser.self()
    const seen = async (email: string, more: object = {}) => {
      const {browser, reply} = await comes({...rob, email, ...more})
      expect(reply.status).toBe(303)
      return browser.self()
    }
    expect(await seen('rob.new@example.test')).toMatchObject({user: {id: user.id, email: 'rob.new@example.test'}})
    expect(await seen('mia@example.test')).toMatchObject({user: {id: user.id, email: 'rob.new@example.test'}})
    expect((await house.letIn()).body.notes).toEqual(['the address stays, not mia@example.test: another user has it'])
    const invite = await house.invite('zoe@example.test', 'admin')
    for (const _ of [1, 2])
      expect(await seen('zoe@example.test')).toMatchObject({
        user: {id: user.id, email: 'rob.new@example.test'},
        organisation: {role: 'member'},
      })
    expect(await house.inviteStatus(invite.id)).toBe('pending')
    expect(await seen('zoe@example.test', {email_verified: true})).toMatchObject({user: {email: 'zoe@example.test'}})
    expect(await seen('rob@example.test')).toMatchObject({user: {email: 'rob@example.test'}})
    const foreign = await comes({...rob, email: 'rob@evil.test'})
    expect([foreign.reply.status, foreign.browser.session]).toEqual([403, undefined])
  })

  test('a known person whose address is not said comes in, while the domain of his own is verified', async () => {
    await house.gateway.admin('POST', '/operator/domains', {domain: 'old.test'})
    const una = {sub: 'una', email: 'una@old.test'}
    const {browser} = await comes(una)
    const {user} = await browser.self()
    const silent = () => comes({sub: 'una', email: undefined})
    expect((await (await silent()).browser.self()).user.id).toBe(user.id)
    const folded = await comes({sub: 'una', email: '\u212Aim@old.test'})
    expect([folded.reply.status, folded.browser.session]).toEqual([403, undefined])
    const {data} = await house.gateway.admin<{data: {id: string; domain: string}[]}>(
      'GET',
      '/admin/organisation/domains',
    )
    await house.gateway.admin(
      'DELETE',
      `/admin/organisation/domains/${data.find(({domain}) => domain === 'old.test')!.id}`,
    )
    for (const {browser, reply} of [await silent(), await comes(una)])
      expect([reply.status, browser.session]).toEqual([403, undefined])
    const unknown = await comes({sub: 'unknown', email: undefined})
    expect([unknown.reply.status, unknown.browser.session]).toEqual([403, undefined])
  })

  test('a link whose user is none of the organisation any more opens nothing', async () => {
    const zac = {sub: 'zac', email: 'zac@example.test'}
    const {user} = await (await comes(zac)).browser.self()
    await house.write(`delete from organisation_users where user_id = '${user.id}'`)
    const {browser, reply} = await comes(zac)
    expect([reply.status, browser.session]).toEqual([403, undefined])
  })

  test('names are those that the provider says, and stay where it says none', async () => {
    const first = await comes({sub: 'nina', email: 'nina@example.test', given_name: 'Nina', family_name: 'Old'})
    expect((await first.browser.self()).user).toMatchObject({first_name: 'Nina', last_name: 'Old'})
    const later = await comes({sub: 'nina', email: 'nina@example.test', family_name: 'New'})
    expect((await later.browser.self()).user).toMatchObject({first_name: 'Nina', last_name: 'New'})
    const last = await comes({sub: 'nina', email: 'nina@example.test', given_name: 'Ninette'})
    expect((await last.browser.self()).user).toMatchObject({first_name: 'Ninette', last_name: 'New'})
  })
})

describe.each(KINDS)('letter case and two at once, on %s', kind => {
  let house: PeopleHouse
  beforeAll(async () => {
    house = await openPeople(kind)
  })
  afterAll(() => house.close())

  test('IC8: another spelling of a known address is the same person, in SCIM and SAML as well', async () => {
    const saml = await addSaml(house)
    const scim = await house.directory()
    const {id} = await house.invite('pat.lee@example.test', 'admin')
    says(house.provider, {sub: 'pat', email: 'Pat.LEE@Example.TEST', email_verified: true})
    const oidc = async () => {
      const browser = house.gateway.browser()
      const {location} = await browser.go(`/v2/auth/login?issuer=${encodeURIComponent(house.provider.issuer)}`)
      return {browser, reply: await browser.go((await house.provider.answerTo(location!)).href)}
    }
    const {browser} = await oidc()
    const {user, organisation} = await browser.self()
    expect([user.email, organisation.role, await house.inviteStatus(id)]).toEqual([
      'pat.lee@example.test',
      'admin',
      'accepted',
    ])
    expect((await scim('POST', '/Users', scimUser('PAT.lee@example.test'))).status).toBe(409)
    const filter = encodeURIComponent('userName eq "PAT.LEE@EXAMPLE.TEST"')
    expect((await scim('GET', `/Users?filter=${filter}`)).body.totalResults).toBe(1)
    const own = house.gateway.browser()
    own.cookies.set('__Host-gateway_session', await house.session('pat.lee'))
    const attributes = {email: 'PAT.LEE@example.Test', [OBJECT_ID]: 'oid-pat'}
    const third = await saml.comes({email: 'PAT.LEE@example.Test', attributes}, own)
    expect((await third.browser.self()).user.id).toBe(user.id)
    expect((await house.users()).filter(({email}) => email.toLowerCase() === 'pat.lee@example.test')).toHaveLength(1)
  })

  test.each([
    ['the same subject', ['twin', 'twin'], [303, 303, 303]],
    ['two subjects', ['left', 'right'], [303, 409]],
  ])('IC8: two first sign-ins of one new address at once make one user: %s', async (name, subjects, statuses) => {
    const oidc = encodeURIComponent(house.provider.issuer)
    const email = `${name.replaceAll(' ', '-')}@example.test`
    const begun = await Promise.all(
      statuses.map(async () => {
        const browser = house.gateway.browser()
        const {location} = await browser.go(`/v2/auth/login?issuer=${oidc}`)
        return {browser, back: await house.provider.answerTo(location!)}
      }),
    )
    let count = 0
    house.provider.lie({
      payload: good => {
        const at = count++
        const spelled = at % 2 ? email.toUpperCase() : email
        return JSON.stringify({...JSON.parse(good), sub: subjects[at % 2], email: spelled, email_verified: true})
      },
      userinfo: good => ({...good, sub: undefined}),
    })
    const replies = await Promise.all(begun.map(({browser, back}) => browser.go(back.href)))
    expect(replies.map(({status}) => status).sort()).toEqual(statuses)
    expect((await house.users()).filter(user => user.email === email)).toHaveLength(1)
    const [user] = (await house.users()).filter(user => user.email === email)
    expect(await house.links(user!.id)).toHaveLength(1)
  })
})

describe.each(KINDS)('C19: several connections of an organisation, on %s', kind => {
  let house: PeopleHouse
  let second: Awaited<ReturnType<typeof startLyingProvider>>
  beforeAll(async () => {
    house = await openPeople(kind)
    second = await startLyingProvider()
    await house.gateway.admin('POST', '/operator/domains', {domain: 'branch.test'})
    await house.gateway.admin('POST', '/operator/domains', {domain: 'third.test'})
    const oidc = {issuer: second.issuer, client_id: second.client_id, client_secret: 'second-secret-of-the-client'}
    const {sso} = await house.gateway.admin<{sso: {connections: {id: string}[]}}>('GET', '/admin/organisation/auth')
    await house.gateway.auth({
      sso: {
        connections: [
          {id: sso.connections[0]!.id, domains: ['example.test', 'third.test']},
          {name: 'branch', type: 'oidc', domains: ['branch.test'], oidc},
        ],
      },
    })
  })
  afterAll(async () => {
    await house.close()
    await second.close()
  })

  const comes = async (at: typeof second, claims: Record<string, unknown>) => {
    says(at, {email_verified: true, ...claims})
    const browser = house.gateway.browser()
    const {location} = await browser.go(`/v2/auth/login?issuer=${encodeURIComponent(at.issuer)}`)
    return {browser, reply: await browser.go((await at.answerTo(location!)).href)}
  }

  test('the address finds its connection', async () => {
    for (const [email, at] of [
      ['a@example.test', house.provider],
      ['a@branch.test', second],
    ] as const) {
      const {location} = await house.gateway.browser().go(`/v2/auth/login?email=${email}`)
      expect(location).toContain(at.issuer)
    }
    const {location} = await house.gateway.browser().go('/v2/auth/login')
    expect(location).toMatch(/^\/v2\/auth\/sign-in/)
  })

  test('a connection lets in nobody of a domain of the other, verified as it is', async () => {
    const own = await comes(second, {sub: 'b', email: 'bo@branch.test'})
    expect(own.reply.status).toBe(303)
    for (const [at, email] of [
      [second, 'eve@example.test'],
      [house.provider, 'eve@branch.test'],
    ] as const) {
      const {browser, reply} = await comes(at, {sub: 'eve', email})
      expect([reply.status, browser.session, await house.role(email)]).toEqual([403, undefined, undefined])
    }
  })

  test('nor a person who is known to it, once his domain is none of its own', async () => {
    const tim = {sub: 'tim', email: 'tim@third.test'}
    expect((await comes(house.provider, tim)).reply.status).toBe(303)
    const {sso} = await house.gateway.admin<{sso: {connections: {id: string}[]}}>('GET', '/admin/organisation/auth')
    const [{id}, {id: other}] = sso.connections as [{id: string}, {id: string}]
    await house.gateway.auth({sso: {connections: [{id, domains: ['example.test']}, {id: other}]}})
    for (const claims of [tim, {sub: 'tim', email: undefined}]) {
      const {browser, reply} = await comes(house.provider, claims)
      expect([reply.status, browser.session]).toEqual([403, undefined])
    }
  })
})
