import {join} from 'node:path'
import Sqlite from 'better-sqlite3'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {isPassword, PasswordQueueFault, passwordHash} from '../../src/identity/password.ts'
import {openStore} from '../../src/store/dialect/index.ts'
import {setPassword} from '../../src/store/user-passwords.ts'
import {RING} from '../support/ring.ts'
import {type Browser, openSignInGateway, type PageReply} from '../support/sign-in.ts'
import {elsewhere} from './ldap-house.ts'

const RIGHT = 'correct horse of the owner'
const QUARTER_MS = 900_000

async function openHouse(env: Record<string, string> = {}) {
  const clock = {ms: Date.now()}
  const gateway = await openSignInGateway('sqlite', env, {now: () => clock.ms})
  const store = await openStore({kind: 'sqlite', folder: gateway.folder, role: 'operator'})
  return {
    gateway,
    clock,
    store,
    later() {
      clock.ms += QUARTER_MS + 1
    },
    async person(name: string, role: 'owner' | 'admin' | 'member', phc: string | null) {
      const id = await gateway.person(name, role)
      if (phc !== null) await store.write(db => setPassword(db, id, phc, new Date(clock.ms).toISOString()))
      return id
    },
    async signIn(name: string, password = RIGHT, headers: Record<string, string> = {}, more: object = {}) {
      const browser = gateway.browser()
      const email = name.includes('@') ? name : `${name}@example.test`
      const reply = await browser.go('/v2/auth/password', {method: 'POST', body: {email, password, ...more}, headers})
      return {browser, reply}
    },
    async close() {
      await store.close()
      await gateway.close()
    },
  }
}

describe.skipIf(RING === 'own')('break glass: an owner signs in with a password of the gateway', () => {
  let house: Awaited<ReturnType<typeof openHouse>>
  let phc: string
  beforeAll(async () => {
    house = await openHouse()
    phc = await passwordHash(RIGHT)
    await house.person('olga', 'owner', phc)
    await house.person('otto', 'owner', null)
    await house.person('adam', 'admin', phc)
    await house.person('mia', 'member', phc)
    await house.person('bert', 'owner', '$argon2id$v=19$m=19456,t=2,p=1$broken')
    await house.person('greta', 'owner', phc.replace('m=19456', 'm=9999999'))
  })
  afterAll(() => house?.close())
  beforeEach(() => house.later())

  const expectShut = async ({browser, reply}: {browser: Browser; reply: PageReply}, status: number) => {
    expect([reply.status, reply.headers.getSetCookie()]).toEqual([status, []])
    expect(await browser.self()).toBe(401)
  }
  const sentenceOf = ({status, body}: PageReply) => ({status, message: body.data.message, code: body.data.errorCode})

  test('78: the right password opens a session, noted in the audit log and the log', async () => {
    const {browser, reply} = await house.signIn('Olga', RIGHT, {}, {return_to: '/v2/auth/account'})
    expect([reply.status, reply.body]).toEqual([200, {location: '/v2/auth/account'}])
    expect(reply.headers.getSetCookie()[0]).toMatch(
      /^__Host-gateway_session=gs-[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Lax$/,
    )
    expect(await browser.self()).toMatchObject({
      user: {email: 'olga@example.test'},
      organisation: {role: 'owner'},
      session: {kind: 'browser', method: 'password'},
    })
    const [row] = await house.gateway.rows('sign_in')
    expect(row).toMatchObject({action: 'manage', actor_type: 'user', status: 200, body: {method: 'password'}})
    const line = house.gateway.lines.find(each => each.includes('signed in with a password'))
    expect(line && JSON.parse(line)).toMatchObject({email: 'olga@example.test', client_ip: '127.0.0.1'})
    expect(JSON.parse(line!).level).toBeOneOf(['warn', 40])
    // there is no mail server here: letters would wait for ever
    expect(await house.store.db.selectFrom('mails').select('id').execute()).toEqual([])
  })

  test('a form of the page works as well, and stays here', async () => {
    const browser = house.gateway.browser()
    const body = new URLSearchParams({email: 'olga@example.test', password: RIGHT, return_to: '//evil.test/'})
    const reply = await browser.go('/v2/auth/password', {method: 'POST', body})
    expect([reply.status, reply.location]).toEqual([303, '/'])
    expect((await browser.self()).session.method).toBe('password')
  })

  test('69: where single sign-on is required, it still works, and ends nobody', async () => {
    const ldap = {url: 'ldap://localhost:1', user_base: 'dc=example,dc=test'}
    const {browser: before} = await house.signIn('olga')
    await house.gateway.auth({sso: {enabled: true, type: 'ldap', ldap, required: true, force: true}})
    const {browser, reply} = await house.signIn('olga')
    expect(reply.status).toBe(200)
    expect((await browser.self()).session.method).toBe('password')
    expect((await before.self()).session.method).toBe('password')
    await house.gateway.auth({sso: {required: false}})
  })

  test.each<[string, Record<string, string>]>([
    ['X-Forwarded-For', {'x-forwarded-for': '127.0.0.1'}],
    ['Forwarded', {forwarded: 'for=127.0.0.1'}],
    ['Via', {via: '1.1 proxy'}],
    ['X-Real-IP', {'x-real-ip': '127.0.0.1'}],
    ['X-Forwarded-Host alone', {'x-forwarded-host': 'gateway.example.com'}],
    ['X-Forwarded-Proto alone', {'x-forwarded-proto': 'https'}],
    ['X-Forwarded-Port alone', {'x-forwarded-port': '443'}],
    ['an empty X-Forwarded-For', {'x-forwarded-for': ''}],
  ])('78: from 127.0.0.1 with %s: 403, whatever the password', async (_, headers) => {
    const right = await house.signIn('olga', RIGHT, headers)
    await expectShut(right, 403)
    const wrong = await house.signIn('olga', 'wrong', headers)
    expect(sentenceOf(wrong.reply)).toEqual(sentenceOf(right.reply))
    const lines = house.gateway.lines.filter(line => line.includes('password_elsewhere'))
    expect(lines.length).toBeGreaterThan(0)
  })

  test('77: a form of another site is refused', async () => {
    const body = new URLSearchParams({email: 'olga@example.test', password: RIGHT})
    for (const headers of [{'sec-fetch-site': 'cross-site'}, {'sec-fetch-site': 'same-site'}]) {
      const browser = house.gateway.browser()
      const reply = await browser.go('/v2/auth/password', {method: 'POST', body, headers})
      await expectShut({browser, reply}, 403)
    }
  })

  test('by a name of the gateway at which browsers keep no session it is refused', async () => {
    const {CONTROL_PLANE_URL} = house.gateway.shared
    const fields = {email: 'olga@example.test', password: RIGHT}
    const reply = await elsewhere(CONTROL_PLANE_URL!, '/v2/auth/password', fields)
    expect(reply).toEqual({status: 403, cookies: []})
  })

  describe('the same answer, whatever is wrong', () => {
    const wrong = {status: 401, message: 'The user name or the password is wrong.', code: 'AB05'}

    test.each([
      ['a wrong password', 'olga', 'wrong'],
      ['an empty password', 'olga', ''],
      ['the right password in another case', 'olga', RIGHT.toUpperCase()],
      ['the right password with a space', 'olga', `${RIGHT} `],
      ['the PHC text itself', 'olga', '$argon2id$'],
      ['an unknown address', 'nobody', RIGHT],
      ['a text that is no address', '@@', RIGHT],
      ['an owner without a password', 'otto', RIGHT],
      ['an admin with one', 'adam', RIGHT],
      ['a member with one', 'mia', RIGHT],
      ['an owner whose PHC text is broken', 'bert', RIGHT],
      ['an owner whose PHC text would take 10 GB', 'greta', RIGHT],
    ])('%s', async (_, name, password) => {
      const signed = await house.signIn(name, password)
      expect(sentenceOf(signed.reply)).toEqual(wrong)
      await expectShut(signed, 401)
    })

    test('a refusal of an owner is a row of the audit log', async () => {
      await house.signIn('olga', 'wrong-for-the-row')
      const {rows} = house.gateway
      const reason = 'credentials_wrong'
      await expect.poll(() => rows('sign_in').then(([row]) => row?.body.reason)).toBe(reason)
      const [row] = await rows('sign_in')
      expect(row).toMatchObject({
        ...{actor_type: 'system', status: 401},
        body: {method: 'password', email: 'olga@example.test', reason},
      })
    })

    test('an unknown address takes a derivation, as a known one', async () => {
      // the one queue of this process is full: whoever needs a derivation hears so
      const slow = `$argon2id$v=19$m=262144,t=10,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`
      const held = Array.from({length: 20}, (_, index) => isPassword(index === 0 ? slow : undefined, 'x'))
      const replies = await Promise.all(['olga', 'nobody', 'otto', 'adam', 'bert'].map(name => house.signIn(name, 'w')))
      expect(replies.map(({reply}) => reply.status)).toEqual(replies.map(() => 429))
      await Promise.all(held)
    })
  })

  test.each([
    ['a password of 1025 characters', {email: 'olga@example.test', password: 'x'.repeat(1025)}],
    ['a list for a password', {email: 'olga@example.test', password: [RIGHT]}],
    ['an address of 256 characters', {email: `${'o'.repeat(250)}@x.test`, password: RIGHT}],
  ])('%s is refused before a derivation', async (_, body) => {
    const browser = house.gateway.browser()
    const reply = await browser.go('/v2/auth/password', {method: 'POST', body})
    await expectShut({browser, reply}, 400)
  })

  describe('after five failures', () => {
    const statuses = async (name: string, count: number) => {
      const all: number[] = []
      for (let index = 0; index < count; index++) all.push((await house.signIn(name, `wrong-${index}`)).reply.status)
      return all
    }
    const FIVE = [401, 401, 401, 401, 401]

    test('the sixth is 429 however it is spelled, for a quarter of an hour, and not for others', async () => {
      expect(await statuses('olga', 6)).toEqual([...FIVE, 429])
      for (const name of ['olga', 'OLGA', ' olga@example.test ', 'ｏlga'])
        expect((await house.signIn(name)).reply.status, name).toBe(429)
      expect((await house.signIn('otto', 'wrong')).reply.status).toBe(401)
      house.clock.ms += QUARTER_MS - 1000
      expect((await house.signIn('olga')).reply.status).toBe(429)
      house.clock.ms += 1001
      expect((await house.signIn('olga')).reply.status).toBe(200)
    })

    test('an unknown address is locked as a known one', async () => {
      expect(await statuses('nobody', 6)).toEqual([...FIVE, 429])
    })

    test('a right password begins the count again', async () => {
      await statuses('olga', 4)
      expect((await house.signIn('olga')).reply.status).toBe(200)
      expect(await statuses('olga', 4)).toEqual([401, 401, 401, 401])
      expect((await house.signIn('olga')).reply.status).toBe(200)
    })

    test('many at once are no more tries than one after the other', async () => {
      const all = await Promise.all(Array.from({length: 15}, (_, index) => house.signIn('olga', `wrong-${index}`)))
      const found = all.map(({reply}) => reply.status)
      expect(found.filter(status => status === 401).length).toBeLessThanOrEqual(5)
      expect(found.filter(status => status !== 401 && status !== 429)).toEqual([])
    })
  })

  test('an owner who loses his role while his password is checked gets no session', async () => {
    await house.person('paul', 'owner', phc)
    await house.signIn('paul', 'wrong')
    // the failures are forgotten after the check, and before the session
    const file = new Sqlite(join(house.gateway.folder, 'gateway.db'))
    file.exec(`create trigger demotes after delete on sign_in_failures begin
      update organisation_users set role = 'member'
      where user_id = (select id from users where email = 'paul@example.test'); end`)
    const signed = await house.signIn('paul')
    file.exec('drop trigger demotes')
    file.close()
    await expectShut(signed, 401)
  })

  test('other writes do not wait for the derivation of a password that is set', async () => {
    const {gateway} = house
    await gateway.person('pia', 'owner')
    // one derivation at a time: the one that is set waits for these
    const before = Promise.all(Array.from({length: 4}, () => passwordHash(RIGHT)))
    const ended: string[] = []
    const body = {email: 'pia@example.test', password: 'a password of Pia'}
    const set = gateway.admin('POST', '/operator/users/password', body).then(() => ended.push('password'))
    const other = gateway.person('quin', 'member').then(() => ended.push('other'))
    await Promise.all([set, other, before])
    expect(ended).toEqual(['other', 'password'])
    expect((await house.signIn('pia', body.password)).reply.status).toBe(200)
  })

  test('72: no password is in a log line or an audit row', async () => {
    const {reply} = await house.signIn('olga', 'canary-of-a-password')
    const rows = await house.gateway.rows('sign_in')
    const text = JSON.stringify([house.gateway.lines, rows, reply.text])
    for (const secret of ['canary-of-a-password', RIGHT, phc, phc.split('$').at(-1)!])
      expect(text).not.toContain(secret)
  })
})

describe('78: from where', () => {
  test.each<[string, Record<string, string>, number]>([
    ['addresses elsewhere', {BREAK_GLASS_ADDRESSES: '10.0.0.0/8'}, 403],
    ['this one address', {BREAK_GLASS_ADDRESSES: '10.0.0.0/8,127.0.0.1'}, 200],
    ['nobody signs in with a browser', {AUTH_MODE: 'NO_AUTH'}, 404],
  ])('%s: %o', async (_, env, status) => {
    const house = await openHouse(env)
    await house.person('olga', 'owner', await passwordHash(RIGHT))
    const {browser, reply} = await house.signIn('olga')
    expect([reply.status, browser.session !== undefined]).toEqual([status, status === 200])
    await house.close()
  })

  test('by the address of the socket, whatever a trusted proxy would say', async () => {
    const house = await openHouse({BREAK_GLASS_ADDRESSES: '203.0.113.0/24'})
    await house.person('olga', 'owner', await passwordHash(RIGHT))
    expect((await house.signIn('olga', RIGHT, {'x-forwarded-for': '203.0.113.7'})).reply.status).toBe(403)
    await house.close()
  })
})

describe('argon2id', () => {
  // of the documentation of argon2-cffi, which made it by the reference code
  const KNOWN = '$argon2id$v=19$m=65536,t=3,p=4$MIIRqgvgQbgj220jfp0MPA$YfwJSVjtjSU0zzV/P3S9nnQ/USre2wvJMjfCIjrTQbg'

  test('a known vector is of its password alone', async () => {
    expect(await isPassword(KNOWN, 'correct horse battery staple')).toBe(true)
    expect(await isPassword(KNOWN, 'correct horse battery stapl')).toBe(false)
  })

  test('texts are of 19 MiB, 2 passes and 1 lane, each with a salt of its own', async () => {
    const [one, two] = [await passwordHash('pässword'), await passwordHash('pässword')]
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z\d+/]{22}\$[A-Za-z\d+/]{43}$/)
    expect(two).not.toBe(one)
    expect(await isPassword(one, 'pässword')).toBe(true)
    expect(await isPassword(one, 'passwörd')).toBe(false)
  })

  test.each([
    ['none', undefined],
    ['empty', ''],
    ['plain text', 'x'],
    ['another function', KNOWN.replace('argon2id', 'argon2i')],
    ['another version', KNOWN.replace('v=19', 'v=16')],
    ['a hash that was cut', KNOWN.slice(0, -1)],
    ['a line more', `${KNOWN}\n`],
    ['more memory than is given', KNOWN.replace('m=65536', 'm=262145')],
    ['more passes than are given', KNOWN.replace('t=3', 't=11')],
    ['more lanes than are given', KNOWN.replace('p=4', 'p=9')],
    ['no passes', KNOWN.replace('t=3', 't=0')],
    ['no lanes', KNOWN.replace('p=4', 'p=0')],
    ['too little memory for its lanes', KNOWN.replace('m=65536', 'm=31')],
    ['the decoy', `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`],
  ])('%s is of no password', async (_, text) => {
    for (const password of ['x', '']) expect(await isPassword(text, password)).toBe(false)
  })

  test('one derivation runs at a time, and at most twenty wait', async () => {
    const order: number[] = []
    const all = Array.from({length: 20}, (_, index) =>
      // the first takes longest: at once with others it would be the last
      isPassword(index === 0 ? KNOWN.replace('t=3', 't=10') : undefined, 'x').then(() => void order.push(index)),
    )
    await expect(isPassword(undefined, 'x')).rejects.toThrow(PasswordQueueFault)
    await Promise.all(all)
    expect(order).toEqual(Array.from({length: 20}, (_, index) => index))
    expect(await isPassword(KNOWN, 'correct horse battery staple')).toBe(true)
  })
})
