import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {DSIG, SAML, statusXml} from '../identity/saml/documents.ts'
import {type Answer, readRequest} from '../identity/saml/idp.ts'
import {makeCertifiedKey} from '../identity/saml/keys.ts'
import type {Browser, PageReply} from '../support/sign-in.ts'
import {KINDS} from '../support/stores.ts'
import {formOf, OF_PROVIDER, openSaml, otherOrganisation, type SamlHouse} from './saml-house.ts'

const FOREIGN = makeCertifiedKey()
const MINUTE_MS = 60_000

describe.each(KINDS)('SAML, from the first page to a session, on %s', kind => {
  let house: SamlHouse
  let other: Awaited<ReturnType<typeof otherOrganisation>>
  let of_house: string
  beforeAll(async () => {
    house = await openSaml(kind)
    other = await otherOrganisation(house)
    of_house = `?organisation_id=${house.organisation_id}`
  })
  afterAll(() => house.close())
  beforeEach(() => house.skip())

  const begun = async (query = of_house) => {
    const browser = house.gateway.browser()
    return {browser, url: await house.begin(browser, query)}
  }
  const signIn = async (answer: Answer = {}) => {
    const {browser, url} = await begun()
    const form = await house.provider.answer(url, answer)
    const consumed = await house.send(form)
    return {browser, form, consumed, reply: consumed.location ? await browser.go(consumed.location) : consumed}
  }
  const reason = async () => (await house.gateway.rows('sign_in'))[0]?.body.reason
  const expectShut = async (browser: Browser, reply: PageReply, status: number, why: string) => {
    expect(reply.status).toBe(status)
    expect(reply.text).not.toContain(why)
    await expect.poll(reason).toBe(why)
    expect([browser.session, await browser.self()]).toEqual([undefined, 401])
    expect(reply.headers.getSetCookie().filter(each => each.includes('session'))).toEqual([])
    const {data} = await house.gateway.admin<{data: {email: string}[]}>('GET', '/admin/users')
    expect(data.filter(({email}) => email.startsWith('eve'))).toEqual([])
  }

  test('39: the request names the exact consumer and this gateway, and is bound to the browser', async () => {
    const {browser, url} = await begun()
    const {xml, relay_state, acs_url, entity_id, id} = readRequest(url)
    expect([acs_url, entity_id]).toEqual([house.acs_url, house.entity_id])
    expect([relay_state, id]).toEqual([expect.stringMatching(/^[\w-]{43}$/), expect.stringMatching(/^_[\da-f]{32}$/)])
    expect(xml).toContain(`Destination="${house.idp.sso_url}"`)
    expect([...browser.cookies.keys()]).toEqual([expect.stringMatching(/^__Host-gateway_login-[\da-f]{8}$/)])
  })

  test.each([
    ['39', 'either', 'both', 'in'],
    ['39', 'both', 'both', 'in'],
    ['39', 'either', 'assertion', 'in'],
    ['39', 'assertion', 'assertion', 'in'],
    ['39', 'both', 'assertion', 'out'],
    ['40', 'either', 'response', 'in'],
    ['40', 'response', 'response', 'in'],
    ['40', 'assertion', 'response', 'out'],
    ['40', 'response', 'assertion', 'out'],
  ] as const)('%s: a connection that asks for %s, and a signature of %s: %s', async (_, signed, sign, where) => {
    await house.saml({signed})
    const {browser, reply} = await signIn({sign, email: where === 'in' ? 'mia@example.test' : 'eve@example.test'})
    await house.saml({signed: null})
    if (where === 'out') return expectShut(browser, reply, 401, 'document_signature')
    expect([reply.status, reply.location]).toEqual([303, '/'])
    const [session] = reply.headers.getSetCookie()
    expect(session).toMatch(/^__Host-gateway_session=gs-[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Lax$/)
    expect(await browser.self()).toMatchObject({
      user: {email: 'mia@example.test'},
      organisation: {role: 'member'},
      session: {kind: 'browser', method: 'saml'},
    })
    expect([...browser.cookies.keys()]).toEqual(['__Host-gateway_session'])
  })

  test.each<[string, Answer, number, string]>([
    ['41: changed', {changed: xml => xml.replaceAll('eve@', 'eve2@')}, 401, 'document_signature'],
    ['41: not signed', {sign: 'none'}, 401, 'document_signature'],
    ['41: signed by a foreign key', {signing: {key: FOREIGN}}, 401, 'document_signature'],
    ['41: signed with SHA-1', {signing: {algorithm: `${DSIG}rsa-sha1`}}, 401, 'document_algorithm'],
    ['41: digested with SHA-1', {signing: {digest: `${DSIG}sha1`}}, 401, 'document_algorithm'],
    ['44: for another audience', {audiences: ['https://other.test']}, 401, 'document_audience'],
    ['44: for nobody', {audiences: []}, 401, 'document_audience'],
    ['44: of another issuer', {issuer: 'https://other.test'}, 401, 'document_issuer'],
    ['44: in a Response of another issuer', {response_issuer: 'https://other.test'}, 401, 'document_issuer'],
    ['44: over', {ends_ms: 1_000}, 401, 'document_time'],
    ['44: not begun', {begins_ms: 4e12}, 401, 'document_time'],
    ['44: confirmed in the past', {confirmation_ends_ms: 1_000}, 401, 'document_time'],
    ['44: to another recipient', {recipient: 'https://evil.test'}, 401, 'document_recipient'],
    ['44: of another destination', {destination: 'https://evil.test'}, 401, 'document_recipient'],
    ['44: of no success', {status_xml: statusXml('Responder')}, 401, 'document_status'],
    ['44: refused by the provider', {status_xml: statusXml('Responder', 'AuthnFailed')}, 403, 'provider_denied'],
    ['44: with a document type', {changed: xml => `<!DOCTYPE x>${xml}`}, 401, 'document_unreadable'],
    ['an address of another domain', {email: 'eve@evil.test'}, 403, 'domain_foreign'],
    ['SessionNotOnOrAfter in the past', {session_ends_ms: 1_000}, 401, 'document_time'],
  ])('%s', async (_, answer, status, why) => {
    const {browser, reply} = await signIn({email: 'eve@example.test', ...answer})
    await expectShut(browser, reply, status, why)
  })

  test('41: the row names the algorithm that came, in short and in print; the page does not', async () => {
    const detail = async () => (await house.gateway.rows('sign_in'))[0]?.body.detail
    const canary = `urn:of:evil${'é'.repeat(4_000)}\u202e&lt;i>`
    for (const [signing, named] of [
      [{algorithm: `${DSIG}rsa-sha1`}, `${DSIG}rsa-sha1.`],
      [{digest: `${DSIG}sha1`}, `${DSIG}sha1.`],
      [
        {transforms: [canary, canary, canary, canary]},
        `: ${Array(3)
          .fill(`urn:of:evil${'é'.repeat(109)}`)
          .join(', ')}.`,
      ],
    ] as const) {
      house.skip()
      const {reply} = await signIn({email: 'eve@example.test', signing})
      expect([reply.status, reply.text.includes(DSIG), reply.text.includes('urn:')]).toEqual([401, false, false])
      await expect.poll(detail).toContain(named)
      expect(await detail()).not.toMatch(/[<>\u0000-\u001f\u202e]/)
    }
  })

  test('44: an assertion for another organisation, at either consumer', async () => {
    for (const [destination, to] of [
      [house.acs_url, house.acs_url],
      [other.acs_url, other.acs_url],
    ] as const) {
      house.skip()
      const {browser, url} = await begun()
      const recipient = to === house.acs_url ? other.acs_url : house.acs_url
      const form = await house.provider.answer(url, {email: 'eve@example.test', destination, recipient})
      const {SAMLResponse, RelayState} = form
      const foreign = await house.post(to, {SAMLResponse, RelayState})
      if (to === house.acs_url) await expectShut(browser, foreign, 401, 'document_recipient')
      else expect([foreign.status, foreign.location]).toEqual([400, null])
      expect((await house.post(other.acs_url, {SAMLResponse})).status).toBeGreaterThanOrEqual(400)
    }
  })

  test('44: the addresses of the original product are taken at its consumer, and at no other', async () => {
    const alias = house.acs_url.replace('/v2/', '/albus/v2/')
    const own = house.entity_id.replace('/v2/', '/albus/v2/')
    const places = {recipient: alias, destination: alias}
    for (const [answer, to, status] of [
      [{...places, audiences: [own]}, alias, 303],
      [places, alias, 303],
      [{audiences: [own]}, house.acs_url, 401],
      [places, house.acs_url, 401],
      [{}, alias, 401],
    ] as const) {
      const {browser, url} = await begun()
      const {SAMLResponse, RelayState} = await house.provider.answer(url, answer)
      const reply = await house.post(to, {SAMLResponse, RelayState})
      expect(reply.status).toBe(status)
      if (status === 303) expect((await browser.go(reply.location!)).status).toBe(303)
    }
  })

  test('42: a replay opens nothing, before the end and after it, in the same and in another browser', async () => {
    const {browser, url} = await begun()
    const form = await house.provider.answer(url)
    const consumed = await house.send(form)
    const early = await house.send(form)
    expect([early.status, early.location]).toEqual([400, null])
    expect((await browser.go(consumed.location!)).status).toBe(303)
    const late = await house.send(form)
    expect([late.status, late.location]).toEqual([400, null])
    const elsewhere = await begun()
    const {relay_state} = readRequest(elsewhere.url)
    for (const RelayState of [relay_state, ''])
      expect((await house.post(form.acs_url, {SAMLResponse: form.SAMLResponse, RelayState})).status).toBe(400)
    expect(await elsewhere.browser.self()).toBe(401)
  })

  test('42: of two that come at once one is taken', async () => {
    const {url} = await begun()
    const form = await house.provider.answer(url)
    const both = await Promise.all([house.send(form), house.send(form)])
    expect(both.map(({status}) => status).sort()).toEqual([303, 400])
  })

  test('42: another assertion for a request that was answered is refused', async () => {
    const {url} = await begun()
    expect((await house.send(await house.provider.answer(url))).status).toBe(303)
    expect((await house.send(await house.provider.answer(url))).status).toBe(400)
    await expect.poll(reason).toBe('transaction_used')
  })

  test.each<[string, () => Promise<Answer>, string]>([
    ['answers no request', async () => ({in_response_to: null, response_in_response_to: null}), 'unsolicited'],
    ['answers a request in the unsigned wrapper alone', async () => ({in_response_to: null}), 'unsolicited'],
    ['answers a request that nobody made', async () => answering(`_${'0'.repeat(32)}`), 'document_request'],
    ['answers another request', async () => answering(readRequest((await begun()).url).id), 'document_request'],
    [
      'answers a request of another organisation',
      async () => answering(readRequest((await begun(`?organisation_id=${other.id}`)).url).id),
      'document_request',
    ],
  ])('43: an assertion that %s, with RelayState and without', async (name, made, why) => {
    const answer = await made()
    const {browser, url} = await begun()
    const form = await house.provider.answer(url, {email: 'eve@example.test', ...answer})
    await expectShut(browser, await house.send(form), 400, why)
    // without RelayState it answers the sign-in that it names, which is another browser's
    if (name === 'answers another request') return
    house.skip()
    const {SAMLResponse} = form
    await expectShut(browser, await house.post(house.acs_url, {SAMLResponse}), 400, why)
  })

  test('43: RelayState of one sign-in with the answer of another', async () => {
    const [one, two] = [await begun(), await begun()]
    const {SAMLResponse} = await house.provider.answer(one.url, {email: 'eve@example.test'})
    const {relay_state: RelayState} = readRequest(two.url)
    await expectShut(two.browser, await house.post(house.acs_url, {SAMLResponse, RelayState}), 400, 'document_request')
    const foreign = readRequest((await begun(`?organisation_id=${other.id}`)).url).relay_state
    const answer = {SAMLResponse, RelayState: foreign}
    const unknown = {SAMLResponse, RelayState: 'A'.repeat(43)}
    for (const [fields, why] of [
      [answer, 'transaction_foreign'],
      [unknown, 'transaction_unknown'],
    ] as const) {
      const reply = await house.post(house.acs_url, fields)
      expect([reply.status, reply.location, await one.browser.self()]).toEqual([400, null, 401])
      // it is of no organisation for certain, so that the log of the process has it
      expect(house.gateway.lines.some(line => line.includes(`"${why}"`))).toBe(true)
    }
  })

  test('43: without RelayState InResponseTo names the sign-in', async () => {
    const {browser, url} = await begun()
    const {SAMLResponse, acs_url} = await house.provider.answer(url)
    const reply = await browser.go((await house.post(acs_url, {SAMLResponse})).location!)
    expect([reply.status, (await browser.self()).user.email]).toEqual([303, 'mia@example.test'])
  })

  test('a sign-in that took too long is over, and so is one whose connection was changed', async () => {
    const {url} = await begun()
    const form = await house.provider.answer(url)
    house.skip(11 * MINUTE_MS)
    expect((await house.send(await house.provider.answer(url))).status).toBe(400)
    await expect.poll(reason).toBe('transaction_expired')
    expect((await house.send(form)).status).toBe(400)
    // without RelayState, too
    const {SAMLResponse} = await house.provider.answer(url)
    expect((await house.post(house.acs_url, {SAMLResponse})).status).toBe(400)
    const changed = await begun()
    await house.saml({email_attribute: 'mail'})
    expect((await house.send(await house.provider.answer(changed.url))).status).toBe(400)
    await house.saml({email_attribute: null})
    const between = await begun()
    const consumed = await house.send(await house.provider.answer(between.url))
    await house.saml({clock_skew_s: 61})
    await house.saml({clock_skew_s: null})
    expect((await between.browser.go(consumed.location!)).status).toBe(400)
    expect(await between.browser.self()).toBe(401)
  })

  test('the consumer answers with an address of ours and no cookie; the way back is kept', async () => {
    const {browser, url} = await begun(`${of_house}&return_to=${encodeURIComponent('/v2/auth/device?a=b')}`)
    const consumed = await house.send(await house.provider.answer(url))
    expect([consumed.status, consumed.headers.getSetCookie()]).toEqual([303, []])
    expect(consumed.location).toMatch(/^\/v2\/auth\/saml\/finish\?h=[\w-]{43}$/)
    expect((await browser.go(consumed.location!)).location).toBe('/v2/auth/device?a=b')
  })

  test('login CSRF: the second step is for the browser that began, and another one spends nothing', async () => {
    const {browser, url} = await begun()
    const {location} = await house.send(await house.provider.answer(url, {email: 'eve@example.test'}))
    const [stranger, with_own] = [house.gateway.browser(), (await begun()).browser]
    const renamed = house.gateway.browser()
    for (const name of browser.cookies.keys()) renamed.cookies.set(name, 'A'.repeat(43))
    for (const each of [stranger, with_own, renamed]) {
      house.skip(MINUTE_MS / 10)
      await expectShut(each, await each.go(location!), 400, 'browser_foreign')
      const form = new URLSearchParams({h: new URL(location!, house.acs_url).searchParams.get('h')!})
      expect((await each.go('/v2/auth/saml/finish', {method: 'POST', body: form})).status).toBe(400)
    }
    expect((await browser.go(location!)).status).toBe(303)
    await house.gateway.admin('DELETE', `/admin/users/${(await browser.self()).user.id}`)
  })

  test('a handle works once, for a minute, and a browser that fetches ahead does not use it up', async () => {
    const {browser, url} = await begun()
    const {location} = await house.send(await house.provider.answer(url))
    for (const [name, value, method] of [
      ['sec-purpose', 'prefetch', 'GET'],
      ['sec-purpose', 'prefetch;prerender', 'GET'],
      ['purpose', 'prefetch', 'GET'],
      ['x-moz', 'prefetch', 'GET'],
      ['accept', 'text/html', 'HEAD'],
    ] as const) {
      const ahead = await browser.go(location!, {method, headers: {[name]: value}})
      expect([ahead.status, ahead.headers.getSetCookie(), ahead.text]).toEqual([204, [], ''])
    }
    expect((await browser.go(location!)).status).toBe(303)
    const again = await browser.go(location!)
    expect([again.status, again.headers.getSetCookie()]).toEqual([400, []])
    const late = await begun()
    const {location: slow} = await house.send(await house.provider.answer(late.url))
    house.skip()
    expect((await late.browser.go(slow!)).status).toBe(400)
    await expect.poll(reason).toBe('transaction_expired')
    for (const h of ['', 'x', 'A'.repeat(43), 'A'.repeat(44)])
      expect((await late.browser.go(`/v2/auth/saml/finish?h=${h}`)).status).toBe(400)
    expect(await late.browser.self()).toBe(401)
  })

  test('77: the consumer reads no session: with the cookie of one, from a sibling site, it works', async () => {
    const before = await signIn()
    const {browser, url} = await begun()
    const {SAMLResponse, RelayState, acs_url} = await house.provider.answer(url)
    const reply = await before.browser.go(acs_url, {
      method: 'POST',
      body: new URLSearchParams({SAMLResponse, RelayState}),
      headers: {'sec-fetch-site': 'same-site', origin: 'https://idp.example.test'},
    })
    expect(reply.status).toBe(303)
    expect((await browser.go(reply.location!)).status).toBe(303)
    expect((await before.browser.self()).user.email).toBe('mia@example.test')
  })

  test('a sign-in that the provider begins is refused; where it is allowed its person is asked', async () => {
    const unasked = () =>
      house.idp.respond({id: null, acs_url: house.acs_url, entity_id: house.entity_id}, {email: 'ned@example.test'})
    const browser = house.gateway.browser()
    await expectShut(browser, await house.post(house.acs_url, formOf(await unasked())), 400, 'unsolicited')
    await house.saml({allow_idp_initiated: true})
    const xml = await unasked()
    const consumed = await house.post(house.acs_url, {...formOf(xml), RelayState: 'https://app.test/deep'})
    expect([consumed.status, consumed.headers.getSetCookie()]).toEqual([303, []])
    const page = await browser.go(consumed.location!)
    expect([page.status, page.headers.getSetCookie()]).toEqual([200, []])
    expect(page.text).toContain('Sign in to this gateway?')
    const body = new URLSearchParams({h: /name="h" value="([\w-]{43})"/.exec(page.text)![1]!})
    const press = (headers: Record<string, string>) =>
      browser.go('/v2/auth/saml/finish', {method: 'POST', body, headers})
    for (const headers of [OF_PROVIDER, {'sec-fetch-site': 'same-site'}, {'sec-fetch-site': 'none'}])
      expect((await press(headers)).status).toBe(403)
    expect(await browser.self()).toBe(401)
    const reply = await press({})
    expect([reply.status, reply.location]).toEqual([303, '/'])
    expect((await browser.self()).user.email).toBe('ned@example.test')
    expect((await press({})).status).toBe(400)
    const replayed = await house.post(house.acs_url, formOf(xml))
    expect([replayed.status, replayed.location]).toEqual([400, null])
    await expect.poll(reason).toBe('replayed')
    const late = await house.post(house.acs_url, formOf(await unasked()))
    house.skip()
    expect((await house.gateway.browser().go(late.location!)).status).toBe(400)
    await house.saml({allow_idp_initiated: null})
  })

  test('IC1: a group that is gone takes its role along; IC2: one that did not fit does not', async () => {
    await house.saml({groups_attribute: 'groups'})
    await house.gateway.auth({provisioning: {role_mapping: [{group: 'gw-admins', role: 'admin'}]}})
    const role = async (answer: Answer) => {
      const {browser} = await signIn({email: 'rita@example.test', name_id_format: PERSISTENT, name_id: 'r', ...answer})
      return (await browser.self()).organisation.role
    }
    const mail = {email: 'rita@example.test'}
    expect(await role({attributes: {...mail, groups: ['gw-admins', 'x']}})).toBe('admin')
    const link = {'http://schemas.microsoft.com/claims/groups.link': 'https://graph.test'}
    expect(await role({attributes: {...mail, ...link}})).toBe('admin')
    expect((await house.gateway.rows('sign_in'))[0]!.body.notes).toContain('groups not in token')
    expect(await role({attributes: mail})).toBe('member')
    expect(await role({attributes: {...mail, groups: 'GW-ADMINS'}})).toBe('member')
    await house.gateway.auth({provisioning: {role_mapping: null}})
    await house.saml({groups_attribute: null})
  })

  test('IC4: an admin is not opened by an address, which nobody verified', async () => {
    await house.gateway.person('adam', 'admin')
    const {browser, reply} = await signIn({
      ...{email: 'adam@example.test', name_id: 'adam-1', name_id_format: PERSISTENT},
    })
    expect([reply.status, browser.session]).toEqual([409, undefined])
    await expect.poll(reason).toBe('link_needs_proof')
  })

  test('C10: an address is no subject: no link is made, and the row says so; a lasting name is one', async () => {
    const {browser} = await signIn({email: 'cora@example.test'})
    const {user} = await browser.self()
    const links = async (user_id: string) =>
      (await house.gateway.admin<{data: {subject: string}[]}>('GET', `/admin/identities?user_id=${user_id}`)).data
    expect(await links(user.id)).toEqual([])
    const [row] = await house.gateway.rows('sign_in')
    expect(row).toMatchObject({status: 200, body: {method: 'saml', email: 'cora@example.test', subject: null}})
    expect(row!.body.notes.join()).toContain('no subject that stays')
    const lasting = {name_id: 'dora-1', name_id_format: PERSISTENT}
    const dora = (await (await signIn({email: 'dora@example.test', ...lasting})).browser.self()).user
    expect((await links(dora.id)).map(({subject}) => subject)).toEqual(['dora-1'])
    const renamed = await signIn({email: 'dora.new@example.test', ...lasting})
    expect((await renamed.browser.self()).user.id).toBe(dora.id)
  })

  test('SessionNotOnOrAfter is the end of the session, where it is earlier than ours', async () => {
    const session_ends_ms = house.now() + 10 * MINUTE_MS
    const {browser} = await signIn({session_ends_ms})
    const {session} = await browser.self()
    expect(Math.abs(Date.parse(session.expires_at) - session_ends_ms)).toBeLessThan(2_000)
    house.skip(11 * MINUTE_MS)
    expect(await browser.self()).toBe(401)
    const long = await signIn({session_ends_ms: house.now() + 1e9})
    const {created_at, expires_at} = (await long.browser.self()).session
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(43_200_000)
  })
})

const PERSISTENT = `${SAML}:nameid-format:persistent`

function answering(id: string): Answer {
  return {in_response_to: id, response_in_response_to: id}
}
