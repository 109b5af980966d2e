import {afterEach, describe, expect, test} from 'vitest'
import {LdapDirectories} from '../../../src/identity/ldap/directory.ts'
import {ldapRequests} from '../../../src/identity/ldap/requests.ts'
import type {LdapSettings} from '../../../src/schema/connections.ts'
import {CERTIFICATE} from '../../support/tls.ts'
import {
  entry,
  type FakeLdap,
  type LdapReplies,
  type LdapRequest,
  message,
  policyControl,
  reference,
  result,
  startFakeLdap,
  tlv,
} from './fake-ldap.ts'
import {type Directories, faultOf, ldapSettings, openDirectories} from './settings.ts'

// A server that answers as none should. It keeps every request, so that what was not sent is seen too.

const SLOW = {connect_ms: 5000, answer_ms: 5000}
/** For servers that keep silent. */
const QUICK = {connect_ms: 1000, answer_ms: 1000}
const ACCOUNT = 'cn=search,dc=example,dc=test'
const ADA = 'uid=ada,ou=people,dc=example,dc=test'
const DECOY = 'cn=gateway-no-such-entry,ou=people,dc=example,dc=test'
const ENTRY = {uid: ['ada'], mail: ['ada@example.test'], entryUUID: ['11111111-2222-3333-4444-555555555555']}

test('a host whose addresses no name server gives is left in the time of a connection', async () => {
  const hosts: string[] = []
  const directories = new LdapDirectories({
    addressesOf: hostname => {
      hosts.push(hostname)
      return new Promise(() => undefined)
    },
    now_ms: () => Date.now(),
    log: {warn: () => undefined},
    timeouts: {connect_ms: 20, answer_ms: 20},
  })
  const url = Array.from({length: 10}, (_, at) => `ldaps://host-${at}.example.test`).join(',')
  const fault = await faultOf(directories.countOfAddress(ldapSettings({url}), 'ada@example.test'))
  expect(fault.reason).toBe('provider_unreachable')
  expect(fault.detail).toContain('not connected within 20 ms')
  expect(hosts.length).toBeLessThan(10)
})

type Answer = (request: LdapRequest) => LdapReplies | undefined

const opened: {close(): Promise<unknown>}[] = []
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close()
})

/** A server that lets Ada in, but for the requests that `answer` answers itself. */
async function start(answer: Answer = () => undefined, options: {readonly greeting?: Buffer} = {}): Promise<FakeLdap> {
  const server = await startFakeLdap(request => {
    const own = answer(request)
    if (own !== undefined) return own
    if (request.kind === 'startTls') return [result(request, 0), 'tls']
    if (request.kind === 'search') return [entry(request, ADA, ENTRY), result(request, 0)]
    return request.kind === 'bind' ? [result(request, 0)] : []
  }, options)
  opened.push(server)
  return server
}

interface Attempt extends Directories {
  readonly settings: LdapSettings
  readonly counted: string[]
  readonly signIn: (password?: string) => Promise<unknown>
}

function attempt(
  {url}: Pick<FakeLdap, 'url'>,
  changes: Partial<LdapSettings> = {},
  timeouts = SLOW,
  now_ms = () => Date.now(),
): Attempt {
  const all = openDirectories(['127.0.0.1'], timeouts, now_ms)
  opened.push(all.directories)
  const account = {bind_dn: ACCOUNT, bind_password: 'account-secret'}
  const settings = ldapSettings({url, start_tls: false, ...account, ...changes})
  const counted: string[] = []
  const mayBind = async (id: string) => void counted.push(id)
  const signIn = (password = 'right') => all.directories.signIn(settings, {username: 'ada', password, mayBind})
  return {...all, settings, counted, signIn}
}

const kindsOf = ({received}: FakeLdap) => received.map(({kind}) => kind)
const boundAs = ({received}: FakeLdap) => received.filter(({kind}) => kind === 'bind').map(({dn}) => dn)

test.each([
  ['an empty password', 'ada', ''],
  ['a password with NUL', 'ada', '\0right'],
  ['a password with half a character', 'ada', '\ud800'],
  ['a very long password', 'ada', 'x'.repeat(1025)],
  ['no user name', '', 'right'],
  ['a user name of 257 characters', 'a'.repeat(257), 'right'],
  ['a user name with NUL', 'ada\0', 'right'],
  ['a user name with half a character', 'ada\udc00', 'right'],
])('67: %s opens no connection', async (_, username, password) => {
  const server = await start()
  const {directories, settings} = attempt(server)
  const given = {username, password, mayBind: async () => {}}
  expect((await faultOf(directories.signIn(settings, given))).reason).toBe('credentials_wrong')
  expect(server.opened()).toBe(0)
})

test('67: no bind is ever written without a name or a password', async () => {
  const {bind} = await ldapRequests()
  expect(() => bind('', 'right')).toThrow('a bind needs')
  expect(() => bind(ADA, '')).toThrow('a bind needs')
})

describe('67, C14 e: before TLS nothing but StartTLS is sent', () => {
  const injected = (request: LdapRequest) => message(request.id + 1, tlv(0x61, tlv(0x0a, 0), tlv(4), tlv(4)))

  test.each<[string, Answer, Partial<LdapSettings>, string, RegExp]>([
    [
      'refused',
      startTls(each => [result(each, 2, 'no')]),
      {},
      'provider_unreachable',
      /StartTLS was refused: result 2/,
    ],
    ['refused as a referral', startTls(each => [result(each, 10)]), {}, 'provider_unreachable', /StartTLS was refused/],
    ['refused by an end', startTls(() => ['close']), {}, 'provider_unreachable', /the connection ended/],
    ['not answered', startTls(() => null), {}, 'provider_unreachable', /no answer within 1000 ms/],
    [
      'taken, and no TLS follows',
      startTls(each => [result(each, 0)]),
      {},
      'provider_unreachable',
      /not connected within 1000 ms/,
    ],
    [
      'taken, with bytes behind it',
      startTls(each => [result(each, 0), injected(each), 'tls']),
      {},
      'provider_invalid',
      /in clear before TLS/,
    ],
    [
      'taken, with part of a message behind it',
      startTls(each => [result(each, 0), Buffer.from([0x30]), 'tls']),
      {},
      'provider_invalid',
      /in clear before TLS/,
    ],
    [
      'taken, with bytes before it',
      startTls(each => [injected(each), result(each, 0), 'tls']),
      {},
      'provider_invalid',
      /an answer to no request/,
    ],
    [
      'taken with the answer to a bind',
      startTls(each => [result({...each, kind: 'bind'}, 0), 'tls']),
      {},
      'provider_invalid',
      /an answer to bind/,
    ],
    [
      'taken, by a certificate of a foreign authority',
      () => undefined,
      {ca: null},
      'provider_unreachable',
      /not signed by an authority/,
    ],
  ])('%s', async (_, answer, changes, reason, detail) => {
    const server = await start(answer)
    const {signIn} = attempt(server, {start_tls: true, ca: CERTIFICATE, ...changes}, timeoutsOf(detail))
    expect(await faultOf(signIn())).toEqual({reason, detail: expect.stringMatching(detail)})
    expect(kindsOf(server)).toEqual(['startTls'])
  })

  test('by a certificate for another name', async () => {
    const server = await start()
    const {signIn} = attempt({url: `ldap://ldap.example.test:${server.port}`}, {start_tls: true, ca: CERTIFICATE})
    expect((await faultOf(signIn())).detail).toMatch(/for another host name/)
    expect(kindsOf(server)).toEqual(['startTls'])
  })

  test('a greeting in clear ends it', async () => {
    const server = await start(undefined, {greeting: message(1, tlv(0x78, tlv(0x0a, 0), tlv(4), tlv(4)))})
    const {signIn} = attempt(server, {start_tls: true, ca: CERTIFICATE}, QUICK)
    await faultOf(signIn())
    expect(boundAs(server)).toEqual([])
  })

  test('all that follows is inside TLS', async () => {
    const server = await start()
    await attempt(server, {start_tls: true, ca: CERTIFICATE}).signIn()
    expect(server.received.filter(({kind, is_tls}) => kind !== 'startTls' && !is_tls)).toEqual([])
    expect(boundAs(server)).toEqual([ACCOUNT, ADA])
  })
})

describe('C14 c: the search for the person', () => {
  const huge = Buffer.concat([Buffer.from([0x30, 0x84, 0x7f, 0xff, 0xff, 0xff]), Buffer.alloc(1000)])
  const many = (each: LdapRequest) => Array.from({length: 600}, () => entry(each, ADA, {x: ['y'.repeat(16_000)]}))
  // an attribute list that says it is longer than its message
  const overlong = ({id}: LdapRequest) =>
    tlv(0x30, tlv(2, id), Buffer.concat([Buffer.from([0x64, 4]), tlv(4), Buffer.from([0x30, 0x7f])]))

  test.each<[string, Answer, string, RegExp]>([
    ['a referral', search(each => [result(each, 10)]), 'provider_unreachable', /result 10/],
    ['busy', search(each => [result(each, 51, 'busy\r\nx')]), 'provider_unreachable', /result 51 \(busy x\)/],
    ['no such base', search(each => [result(each, 32)]), 'provider_error', /result 32/],
    ['a protocol error', search(each => [result(each, 2)]), 'provider_invalid', /result 2/],
    ['silence', search(() => null), 'provider_unreachable', /no answer within 1000 ms/],
    [
      'entries and no end',
      search(each => [entry(each, ADA, ENTRY)]),
      'provider_unreachable',
      /no answer within 1000 ms/,
    ],
    ['an end', search(() => ['close']), 'provider_unreachable', /the connection ended/],
    [
      'a notice of disconnection',
      search(each => [result({...each, id: 0, kind: 'startTls'}, 52, 'bye')]),
      'provider_unreachable',
      /bye/,
    ],
    ['a message of 2 GB', search(() => [huge]), 'provider_invalid', /more than 1048576 bytes/],
    ['entries of 9 MB', search(many), 'provider_invalid', /more than 8388608 bytes/],
    ['a length beyond its message', search(each => [overlong(each)]), 'provider_invalid', /longer than the place/],
    [
      'an indefinite length',
      search(() => [Buffer.from([0x30, 0x80, 0, 0])]),
      'provider_invalid',
      /length cannot be read/,
    ],
    ['deep nesting', search(({id}) => [message(id, nested(50))]), 'provider_invalid', /too many values/],
    ['HTTP', search(() => [Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')]), 'provider_invalid', /no message begins/],
    [
      'another number',
      search(each => [result({...each, id: each.id + 1}, 0)]),
      'provider_invalid',
      /an answer to no request/,
    ],
    [
      'an answer to a bind',
      search(each => [result({...each, kind: 'bind'}, 0)]),
      'provider_invalid',
      /an answer to bind/,
    ],
    ['an unknown operation', search(({id}) => [message(id, tlv(0x7f))]), 'provider_invalid', /unknown kind/],
    ['an entry without a name', found('', ENTRY), 'provider_invalid', /name of the entry/],
    ['an entry with a word for a name', found('EXTERNAL', ENTRY), 'provider_invalid', /name of the entry/],
    ['an entry with two ids', found(ADA, {entryUUID: ['1', '2']}), 'provider_invalid', /entryUUID is not one value/],
    [
      'an entry with 51 addresses',
      found(ADA, {mail: Array.from({length: 51}, (_, n) => `${n}@x.y`)}),
      'address_not_unique',
      /50/,
    ],
    [
      'one entry, cut short',
      search(each => [entry(each, ADA, ENTRY), result(each, 4)]),
      'credentials_wrong',
      /several/,
    ],
    ['none, cut short', search(each => [result(each, 4)]), 'credentials_wrong', /several/],
    ['three entries where two were wanted', found(ADA, ENTRY, 3), 'credentials_wrong', /several/],
    ['two entries', found(ADA, ENTRY, 2), 'credentials_wrong', /several/],
    ['no entry', found(ADA, ENTRY, 0), 'credentials_wrong', /no entry/],
  ])('%s', async (_, answer, reason, detail) => {
    const server = await start(answer)
    const {signIn, counted} = attempt(server, {}, timeoutsOf(detail))
    expect(await faultOf(signIn())).toEqual({reason, detail: expect.stringMatching(detail)})
    expect(counted).toEqual([])
    // IC5: nothing is bound but the account, and a name that is none so that both take as long
    expect(boundAs(server)).toEqual(
      reason === 'credentials_wrong' ? [ACCOUNT, DECOY] : expect.not.arrayContaining([ADA]),
    )
  })

  test('references to other servers are left out', async () => {
    const server = await start(
      search(each => [
        reference(each, 'ldap://evil.test/'),
        entry(each, ADA, ENTRY),
        reference(each, 'ldap://evil.test/'),
        result(each, 0),
      ]),
    )
    const {signIn, resolved} = attempt(server)
    expect(await signIn()).toMatchObject({statement: {email: 'ada@example.test'}})
    expect(new Set(resolved)).toEqual(new Set(['localhost']))
  })

  test('bytes are read as bytes: objectGUID, and addresses that are not UTF-8', async () => {
    const guid = Buffer.from('30a1b2c3d4e5f60718293a4b5c6d7e8f', 'hex')
    const server = await start(found(ADA, {objectGUID: [guid], mail: [Buffer.from('ad\xe4@example.test', 'latin1')]}))
    expect(await attempt(server).signIn()).toMatchObject({
      entry_id: '30a1b2c3d4e5f60718293a4b5c6d7e8f',
      addresses: ['ad\ufffd@example.test'],
    })
  })

  test.each([
    ['bytes that happen to be letters', {objectGUID: ['abcdefghijklmnop']}, '6162636465666768696a6b6c6d6e6f70'],
    ['a text with a NUL', {entryUUID: ['a\0']}, '6100'],
    ['no id at all', {}, ADA],
  ])('the id of an entry with %s', async (_, attributes, id) => {
    const server = await start(found(ADA, attributes))
    expect(await attempt(server).signIn()).toMatchObject({entry_id: id})
  })
})

describe('C14 d: the bind of a person', () => {
  test.each<[string, Answer, string | null, RegExp]>([
    ['success', bind(each => [result(each, 0)]), null, /./],
    ['wrong', bind(each => [result(each, 49)]), 'credentials_wrong', /result 49/],
    ['no such entry', bind(each => [result(each, 32)]), 'credentials_wrong', /result 32/],
    ...[
      ['52e', 'credentials_wrong', /result 49/],
      ['530', 'account_locked', /not at this time/],
      ['532', 'account_locked', /password expired/],
      ['533', 'account_locked', /disabled/],
      ['701', 'account_locked', /account expired/],
      ['773', 'account_locked', /must be changed/],
      ['775', 'account_locked', /account locked/],
    ].map(([sub, reason, detail]): [string, Answer, string, RegExp] => [
      `Active Directory's ${sub}`,
      bind(each => [
        result(each, 49, `80090308: LdapErr: DSID-0C09042A, comment: AcceptSecurityContext error, data ${sub}, v3839`),
      ]),
      reason as string,
      detail as RegExp,
    ]),
    [
      'success, password expired',
      bind(each => [result(each, 0, '', policyControl({error: 0}))]),
      'account_locked',
      /expired/,
    ],
    [
      'success, to be changed',
      bind(each => [result(each, 0, '', policyControl({error: 2}))]),
      'account_locked',
      /must be changed/,
    ],
    [
      'success, with a warning too',
      bind(each => [result(each, 0, '', policyControl({error: 2, warning: 1}))]),
      'account_locked',
      /must/,
    ],
    [
      'wrong, locked',
      bind(each => [result(each, 49, '', policyControl({error: 1}))]),
      'account_locked',
      /account locked/,
    ],
    [
      'success, another policy error',
      bind(each => [result(each, 0, '', policyControl({error: 9}))]),
      'account_locked',
      /error 9/,
    ],
    ['success, with a warning', bind(each => [result(each, 0, '', policyControl({warning: 0}))]), null, /./],
    [
      'success, expired at 389 Directory Server',
      bind(each => [result(each, 0, '', tlv(0x30, tlv(4, '2.16.840.1.113730.3.4.4'), tlv(4, '0')))]),
      'account_locked',
      /expired/,
    ],
    [
      'success, an unreadable control',
      bind(each => [result(each, 0, '', tlv(0x30, tlv(4, '1.3.6.1.4.1.42.2.27.8.5.1'), tlv(4, '0')))]),
      'provider_invalid',
      /control/,
    ],
    ['too many tries at 389 Directory Server', bind(each => [result(each, 19)]), 'account_locked', /result 19/],
    ['inactivated', bind(each => [result(each, 53, 'Account inactivated')]), 'account_locked', /inactivated/],
    ['a referral', bind(each => [result(each, 10)]), 'provider_unreachable', /result 10/],
    ['unavailable', bind(each => [result(each, 52)]), 'provider_unreachable', /result 52/],
    ['more steps', bind(each => [result(each, 14)]), 'provider_invalid', /result 14/],
    [
      'a search result',
      bind(each => [result({...each, kind: 'search'}, 0)]),
      'provider_invalid',
      /an answer to search/,
    ],
    ['an entry', bind(each => [entry(each, ADA, ENTRY)]), 'provider_invalid', /an entry where none/],
    ['silence', bind(() => null), 'provider_unreachable', /no answer within/],
  ])('%s', async (_, answer, reason, detail) => {
    const server = await start(answer)
    const {signIn} = attempt(server, {}, timeoutsOf(detail))
    if (reason === null) expect(await signIn()).toMatchObject({dn: ADA})
    else expect(await faultOf(signIn())).toEqual({reason, detail: expect.stringMatching(detail)})
    expect(boundAs(server)).toEqual([ACCOUNT, ADA])
  })

  test.each([
    ['userAccountControl', '514', 'account_locked'],
    ['useraccountcontrol', '66050', 'account_locked'],
    ['userAccountControl', '512', null],
    ['nsAccountLock', 'TRUE', 'account_locked'],
    ['nsAccountLock', 'false', null],
    ['pwdAccountLockedTime', '20200101000000Z', 'account_locked'],
  ])('an entry with %s %s', async (name, value, reason) => {
    const server = await start(found(ADA, {...ENTRY, [name]: [value]}))
    const {signIn} = attempt(server)
    if (reason === null) expect(await signIn()).toMatchObject({dn: ADA})
    else expect(await faultOf(signIn())).toMatchObject({reason, detail: expect.stringContaining('does not let')})
  })

  test('a wrong password says nothing of a lock', async () => {
    const server = await start(each =>
      each.kind === 'bind' && each.dn === ADA
        ? [result(each, 49)]
        : found(ADA, {...ENTRY, nsAccountLock: ['true']})(each),
    )
    expect((await faultOf(attempt(server).signIn())).reason).toBe('credentials_wrong')
  })

  test('72: a password that the server repeats is cut out', async () => {
    const server = await start(bind(each => [result(each, 49, `wrong: ${each.password}`)]))
    expect((await faultOf(attempt(server).signIn('canary'))).detail).toMatch(/wrong: \*\*\*/)
    const account = await start(each => (each.kind === 'bind' ? [result(each, 49, each.password)] : undefined))
    const {signIn, lines} = attempt(account)
    expect(await faultOf(signIn())).toMatchObject({reason: 'provider_error', detail: expect.stringContaining('***')})
    expect(JSON.stringify(lines)).not.toContain('account-secret')
  })
})

describe('groups', () => {
  const GROUPS = {group_base: 'ou=groups,dc=example,dc=test', group_filter: '(member={dn})'}
  const groups =
    (answer: (request: LdapRequest) => LdapReplies): Answer =>
    each =>
      each.kind === 'search' && each.dn === GROUPS.group_base ? answer(each) : undefined

  test.each<[string, Answer]>([
    ['a referral', groups(each => [result(each, 10)])],
    ['not allowed', groups(each => [result(each, 50)])],
    ['no such base', groups(each => [result(each, 32)])],
    ['cut short', groups(each => [entry(each, 'cn=a', {cn: ['a']}), result(each, 4)])],
    ['1,001', groups(each => [...Array(1001).fill(entry(each, 'cn=a', {cn: ['a']})), result(each, 0)])],
    ['out of time', groups(each => [entry(each, 'cn=a', {cn: ['a']}), result(each, 3)])],
    ['an end', groups(() => ['close'])],
    ['silence', groups(() => null)],
  ])('C1, C14 c: a search that fails is no "no groups": %s', async (_, answer) => {
    const server = await start(answer)
    expect((await faultOf(attempt(server, GROUPS, QUICK).signIn())).reason).toBe('provider_unreachable')
  })

  test('by a search: names as they are, those that are none counted', async () => {
    const names = [['b', 'a'], ['a'], [], ['x'.repeat(256)], ['\0'], [Buffer.from([0xff])]]
    const server = await start(
      groups(each => [
        ...names.map(cn => entry(each, 'cn=g', {CN: cn})),
        reference(each, 'ldap://x/'),
        result(each, 0),
      ]),
    )
    expect(await attempt(server, GROUPS).signIn()).toMatchObject({
      statement: {groups: {kind: 'known', names: ['b', 'a'], dropped: 4}},
    })
  })

  test.each<[string, Readonly<Record<string, readonly string[]>>, unknown]>([
    [
      'first parts',
      {memberOf: ['cn=A\\2cB,dc=x', 'CN=J\\C3\\BCrgen+ou=c,dc=x', 'cn=#0401,dc=x', 'none']},
      {kind: 'known', names: ['A,B', 'Jürgen'], dropped: 2},
    ],
    ['none', {}, {kind: 'known', names: [], dropped: 0}],
    [
      '1,001',
      {memberOf: Array.from({length: 1001}, (_, n) => `cn=${n}`)},
      {kind: 'unknown', reason: expect.any(String)},
    ],
    [
      'the first of many',
      {memberOf: [], 'memberOf;range=0-1499': ['cn=a']},
      {kind: 'unknown', reason: expect.any(String)},
    ],
  ])('of memberOf: %s', async (_, attributes, expected) => {
    const server = await start(found(ADA, {...ENTRY, ...attributes}))
    expect(await attempt(server).signIn()).toMatchObject({statement: {groups: expected}})
  })
})

describe('connections', () => {
  test('those of people are not kept; that of the search account is', async () => {
    const server = await start()
    const {signIn} = attempt(server)
    await signIn()
    await signIn()
    expect(boundAs(server)).toEqual([ACCOUNT, ADA, ADA])
    expect(server.opened()).toBe(3)
    await expect.poll(() => kindsOf(server).filter(kind => kind === 'unbind').length).toBe(2)
  })

  test('IC26: of 24 at once no more than four search', async () => {
    const server = await start()
    const {signIn} = attempt(server)
    await Promise.all(Array.from({length: 24}, () => signIn()))
    expect(boundAs(server).filter(dn => dn === ACCOUNT).length).toBeLessThanOrEqual(4)
    expect(boundAs(server).filter(dn => dn === ADA).length).toBe(24)
  })

  test('one that ended unseen is replaced', async () => {
    const server = await start()
    const {signIn} = attempt(server)
    await signIn()
    await server.dropAll()
    expect(await signIn()).toMatchObject({dn: ADA})
    expect(boundAs(server)).toEqual([ACCOUNT, ADA, ACCOUNT, ADA])
  })

  test.each([
    ['one minute of silence', [59_999, 60_000], 2],
    ['ten minutes of use', Array(12).fill(50_000), 2],
  ])('after %s a new one is opened', async (_, pauses_ms, count) => {
    const server = await start()
    let now_ms = 1e12
    const {directories, settings} = attempt(server, {}, SLOW, () => now_ms)
    const count_of = () => directories.countOfAddress(settings, 'ada@example.test')
    await count_of()
    for (const ms of pauses_ms) {
      expect(server.opened()).toBe(1)
      now_ms += ms
      await count_of()
    }
    await count_of()
    expect(server.opened()).toBe(count)
  })

  test('those of settings that changed are ended', async () => {
    const server = await start()
    let now_ms = 1e12
    const {directories, settings} = attempt(server, {}, SLOW, () => now_ms)
    await directories.countOfAddress(settings, 'a@b.test')
    now_ms += 60_000
    await directories.countOfAddress({...settings, bind_password: 'another'}, 'a@b.test')
    await expect.poll(() => kindsOf(server).filter(kind => kind === 'unbind').length).toBe(1)
    await directories.close()
    await expect.poll(() => kindsOf(server).filter(kind => kind === 'unbind').length).toBe(2)
  })

  test('one that answers ahead of the request is not used again', async () => {
    const server = await start(
      search(each => {
        const next = {...each, id: each.id + 1}
        return [entry(each, ADA, ENTRY), result(each, 0), entry(next, 'uid=mallory,dc=x', ENTRY), result(next, 0)]
      }),
    )
    const {signIn} = attempt(server)
    await signIn()
    expect(await signIn()).toMatchObject({dn: ADA})
    expect(boundAs(server)).toEqual([ACCOUNT, ADA, ACCOUNT, ADA])
  })

  test('a server that is unavailable leads to the next', async () => {
    const first = await start(each => (each.kind === 'bind' ? [result(each, 52)] : undefined))
    const second = await start()
    expect(await attempt({url: `${first.url},${second.url}`}).signIn('right')).toMatchObject({dn: ADA})
    expect(kindsOf(first)).not.toContain('search')
  })

  test('after four times the time of one, no other server is tried', async () => {
    let now_ms = 1e12
    const first = await start(each => {
      now_ms += 20_000
      return [result(each, 52)]
    })
    const second = await start()
    const {signIn} = attempt({url: `${first.url},${second.url}`}, {}, SLOW, () => now_ms)
    expect((await faultOf(signIn())).reason).toBe('provider_unreachable')
    expect(second.opened()).toBe(0)
  })

  test('a refused search account leads nowhere, and is no wrong password', async () => {
    const first = await start(each => (each.kind === 'bind' ? [result(each, 49)] : undefined))
    const second = await start()
    const {signIn} = attempt({url: `${first.url},${second.url}`})
    expect((await faultOf(signIn())).reason).toBe('provider_error')
    expect(second.opened()).toBe(0)
  })

  test('a search account without a password is not bound', async () => {
    const server = await start()
    expect((await faultOf(attempt(server, {bind_password: ''}).signIn())).reason).toBe('provider_error')
    expect(boundAs(server)).toEqual([])
  })

  test('C14 a: nothing is bound for one who failed too often', async () => {
    const server = await start()
    const {directories, settings} = attempt(server)
    const mayBind = async () => {
      throw new Error('too many')
    }
    await expect(directories.signIn(settings, {username: 'ada', password: 'x', mayBind})).rejects.toThrow('too many')
    expect(boundAs(server)).toEqual([ACCOUNT])
  })
})

function timeoutsOf(detail: RegExp): typeof SLOW {
  return / within/.test(detail.source) ? QUICK : SLOW
}

function startTls(answer: (request: LdapRequest) => LdapReplies): Answer {
  return request => (request.kind === 'startTls' ? answer(request) : undefined)
}

function search(answer: (request: LdapRequest) => LdapReplies): Answer {
  return request => (request.kind === 'search' ? answer(request) : undefined)
}

/** Answers the bind of Ada. */
function bind(answer: (request: LdapRequest) => LdapReplies): Answer {
  return request => (request.kind === 'bind' && request.dn === ADA ? answer(request) : undefined)
}

function found(dn: string, attributes: Readonly<Record<string, readonly (string | Buffer)[]>>, count = 1): Answer {
  return search(each => [...Array.from({length: count}, () => entry(each, dn, attributes)), result(each, 0)])
}

function nested(depth: number): Buffer {
  return depth === 0 ? tlv(4) : tlv(0x30, nested(depth - 1))
}
