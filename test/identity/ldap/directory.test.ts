import {createHash} from 'node:crypto'
import {mkdtempSync, readFileSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import type {LdapSettings} from '../../../src/schema/connections.ts'
import {faultOf, ldapSettings, openDirectories} from './settings.ts'
import {makeCertificate, NO_SLAPD, type Slapd, startSlapd} from './slapd.ts'

// The numbered facts of LDAP at a real directory, OpenLDAP's slapd.

describe.skipIf(NO_SLAPD)('slapd', () => {
  let slapd: Slapd
  let settings: LdapSettings
  const {directories, resolved, lines} = openDirectories()
  beforeAll(async () => {
    slapd = await startSlapd({tls: true})
    slapd.add(PEOPLE)
    slapd.add(GROUPS)
    settings = ldapSettings({
      url: slapd.url,
      bind_dn: slapd.admin_dn,
      bind_password: slapd.admin_password,
      ca: slapd.ca_pem,
      user_filter: '(&(objectClass=person)(|(uid={username})(mail={username})))',
    })
  })
  afterAll(async () => {
    await directories.close()
    await slapd?.stop()
  })

  const counted: string[] = []
  const signIn = (username: string, password = 'right', changes: Partial<LdapSettings> = {}) =>
    directories.signIn(
      {...settings, ...changes},
      {
        username,
        password,
        mayBind: async id => void counted.push(id),
      },
    )

  test('67: a right password gives the statement of the entry', async () => {
    const {statement, entry_id, dn, addresses} = await signIn('ada')
    expect(entry_id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    expect({dn, addresses}).toEqual({dn: 'uid=ada,ou=people,dc=example,dc=test', addresses: ['ada@example.test']})
    expect(statement).toEqual({
      subject: entry_id,
      email: 'ada@example.test',
      email_verified: null,
      first_name: 'Ada',
      last_name: 'King',
      groups: {kind: 'known', names: expect.toSatisfy(isSetOf('admins', 'Sales, EMEA')), dropped: 0},
      session_ends_at: null,
      provider_session: null,
      id_token: null,
    })
  })

  test.each([
    ['StartTLS', () => ({url: slapd.plain_url})],
    ['plain LDAP, where StartTLS is off', () => ({url: slapd.plain_url, start_tls: false, ca: null})],
    ['ldaps', () => ({})],
    ['the second server, where the first takes no connection', () => ({url: `ldaps://localhost:1, ${slapd.url}`})],
    ['an anonymous search', () => ({bind_dn: '', bind_password: ''})],
  ])('67: in over %s', async (_, changes) => {
    expect((await signIn('ada', 'right', changes())).statement.email).toBe('ada@example.test')
  })

  test.each([
    ['a wrong password', 'ada', 'wrong'],
    ['an unknown user', 'eve', 'right'],
    ['an empty password', 'ada', ''],
    ['a password that begins with NUL', 'ada', '\0'],
    ['a password with half a character', 'ada', 'right\ud800'],
    ['a very long password', 'ada', 'x'.repeat(1025)],
    ['no user name', '', 'right'],
    ['a user name of 257 characters', 'a'.repeat(257), 'right'],
    ['a NUL in the user name', 'ada\0', 'right'],
    ['the filter injection *)(uid=*', '*)(uid=*', 'right'],
    ['a wildcard', 'ad*', 'right'],
    ['a lone wildcard', '*', 'right'],
    ['an escaped wildcard', '\\2a', 'right'],
    ['a filter that closes early', 'ada)(|(uid=ada', 'right'],
    ['an entry without a password', 'nopassword', 'right'],
    ['an entry outside the base', 'admin', 'admin-secret'],
  ])('67: %s is wrong', async (_, username, password) => {
    expect((await faultOf(signIn(username, password))).reason).toBe('credentials_wrong')
  })

  test('67: special characters in user names are found as they are', async () => {
    for (const username of ['star*', 'par(en)', 'back\\slash', 'jürgen', 'comma,']) {
      expect((await signIn(username)).statement.last_name).toBe(username)
    }
  })

  test('67, IC5: a text that fits two entries lets neither in', async () => {
    counted.length = 0
    expect(await faultOf(signIn('mia@example.test'))).toEqual({
      reason: 'credentials_wrong',
      detail: 'several entries fit the user name',
    })
    expect(counted).toEqual([])
    expect((await signIn('mallory')).statement.email).toBe('mia@example.test')
  })

  test('IC5: the entries of an address are counted, 2 for all larger numbers', async () => {
    const addresses = ['nobody@example.test', 'ada@example.test', 'MIA@example.test', 'team@example.test', '*', 'a)(b']
    const counts = await Promise.all(addresses.map(address => directories.countOfAddress(settings, address)))
    expect(counts).toEqual([0, 1, 2, 2, 0, 0])
  })

  test('IC5: an entry of two addresses states neither as its own', async () => {
    const {statement, addresses} = await signIn('two')
    expect(statement.email).toBeNull()
    expect(addresses).toEqual(['two@example.test', 'team@example.test'])
  })

  test('IC26, C14 a: each spelling of a name is counted by the same entry, before its password is tried', async () => {
    const {entry_id} = await signIn('ada')
    counted.length = 0
    const spellings = ['ada', 'Ada', ' ada', 'ada ', 'ADA', 'ada@example.test']
    for (const spelling of spellings) await signIn(spelling)
    expect(counted).toEqual(spellings.map(() => entry_id))
    const refused = directories.signIn(settings, {
      username: 'ada',
      password: 'right',
      mayBind: async () => {
        throw new Error('too many')
      },
    })
    await expect(refused).rejects.toThrow('too many')
  })

  describe('C14 d: an account that is locked, with the right password', () => {
    test('by the policy, after five wrong ones; a later unlocking lets in', async () => {
      for (let count = 0; count < 5; count++)
        expect((await faultOf(signIn('lock', 'wrong'))).reason).toBe('credentials_wrong')
      expect(await faultOf(signIn('lock'))).toEqual({
        reason: 'account_locked',
        detail: 'The directory does not let this account sign in: account locked.',
      })
      slapd.add(changed('lock', 'delete: pwdAccountLockedTime'))
      expect((await signIn('lock')).statement.last_name).toBe('lock')
    })

    test('by an administrator', async () => {
      slapd.add(changed('lock2', 'replace: pwdAccountLockedTime\npwdAccountLockedTime: 000001010000Z'))
      expect((await faultOf(signIn('lock2'))).reason).toBe('account_locked')
    })

    test('a mark that the directory itself lifts at this bind locks no one out', async () => {
      slapd.add(changed('lock3', 'replace: pwdAccountLockedTime\npwdAccountLockedTime: 20200101000000Z'))
      expect((await signIn('lock3')).statement.last_name).toBe('lock3')
    })

    test('by a reset: the password must be changed first', async () => {
      slapd.add(changed('reset', 'replace: pwdReset\npwdReset: TRUE'))
      expect(await faultOf(signIn('reset'))).toMatchObject({
        reason: 'account_locked',
        detail: expect.stringContaining('password must be changed'),
      })
    })
  })

  describe('groups', () => {
    const groupsOf = async (username: string, changes: Partial<LdapSettings> = {}) =>
      (await signIn(username, 'right', changes)).statement.groups

    test('67: by a search, with a name that needs both kinds of escapes', async () => {
      const changes = {group_base: 'ou=groups,dc=example,dc=test', group_filter: '(member={dn})'}
      expect(await groupsOf('ada', changes)).toMatchObject({
        kind: 'known',
        names: expect.toSatisfy(isSetOf('admins', 'Sales, EMEA')),
      })
      expect(await groupsOf('comma,', changes)).toMatchObject({kind: 'known', names: ['odd']})
      expect(await groupsOf('star*', changes)).toMatchObject({kind: 'known', names: ['odd']})
      expect(await groupsOf('mia', {...changes, group_filter: null})).toMatchObject({kind: 'known', names: []})
    })

    test('none of memberOf is none', async () => {
      expect(await groupsOf('mia')).toEqual({kind: 'known', names: [], dropped: 0})
    })

    test('C14 c: a search for groups that fails is not "no groups"', async () => {
      const changes = {group_base: 'ou=absent,dc=example,dc=test', group_filter: '(member={dn})'}
      expect((await faultOf(signIn('ada', 'right', changes))).reason).toBe('provider_unreachable')
    })
  })

  describe('67: TLS is checked before anything is sent', () => {
    test.each([
      ['ldaps', () => slapd.url],
      ['StartTLS', () => slapd.plain_url],
    ])('%s with a certificate of a foreign authority', async (_, url) => {
      const folder = mkdtempSync(join(tmpdir(), 'gateway-ca-'))
      makeCertificate(folder, 'localhost')
      const foreign = readFileSync(join(folder, 'ca.pem'), 'utf8')
      rmSync(folder, {recursive: true})
      for (const ca of [foreign, null]) {
        expect(await faultOf(signIn('ada', 'right', {url: url(), ca}))).toEqual({
          reason: 'provider_unreachable',
          detail: expect.stringMatching(/^TLS ldaps?:.*not signed by an authority known here/),
        })
      }
    })

    test('a certificate for another name than the URL has, at the same address', async () => {
      const url = slapd.url.replace('localhost', 'ldap.example.test')
      expect(await faultOf(signIn('ada', 'right', {url}))).toEqual({
        reason: 'provider_unreachable',
        detail: expect.stringContaining('its TLS certificate is for another host name'),
      })
    })
  })

  test('80: the host of the settings is judged by name and dialled by address, in order', async () => {
    resolved.length = 0
    const second = openDirectories(['::1', '127.0.0.1']) // slapd is on the second alone
    const {statement} = await second.directories.signIn(settings, {
      username: 'ada',
      password: 'right',
      mayBind: async () => {},
    })
    expect(statement.email).toBe('ada@example.test')
    expect(new Set(second.resolved)).toEqual(new Set(['localhost']))
    await second.directories.close()
  })

  test('80: a host that the wall refuses is not dialled', async () => {
    const walled = openDirectories([])
    expect(await faultOf(walled.directories.countOfAddress(settings, 'ada@example.test'))).toMatchObject({
      reason: 'provider_unreachable',
    })
  })

  test('67: a directory without TLS is not signed in at, unless StartTLS is off', async () => {
    const plain = await startSlapd({tls: false})
    const account = {url: plain.url, bind_dn: plain.admin_dn, bind_password: plain.admin_password, ca: plain.ca_pem}
    expect(await faultOf(directories.countOfAddress({...settings, ...account}, 'a@b.test'))).toMatchObject({
      reason: 'provider_unreachable',
      detail: expect.stringContaining('StartTLS was refused'),
    })
    expect(await directories.countOfAddress({...settings, ...account, start_tls: false}, 'a@b.test')).toBe(0)
    await plain.stop()
  })

  test('the id is the attribute of the settings, bytes as hex', async () => {
    expect((await signIn('ada', 'right', {id_attribute: 'employeeNumber'})).entry_id).toBe('17')
    const bytes = (await signIn('ada', 'right', {id_attribute: 'jpegPhoto'})).entry_id
    expect(bytes).toBe('ff00fe')
    expect((await faultOf(signIn('mia', 'right', {id_attribute: 'employeeNumber'}))).reason).toBe('provider_invalid')
  })

  test('many at once share four connections of the search account', async () => {
    const all = await Promise.all(Array.from({length: 24}, () => signIn('ada')))
    expect(new Set(all.map(({entry_id}) => entry_id)).size).toBe(1)
  })

  describe('tried', () => {
    const shown = async (changes: Partial<LdapSettings>, username?: string) =>
      (await directories.tried({...settings, ...changes}, username)).map(({name, ok}) => `${name} ${ok}`)

    test.each<[string, () => Partial<LdapSettings>, string | undefined, string[]]>([
      ['all', () => ({}), undefined, ['connect true', 'TLS true', 'bind true', 'search true']],
      [
        'a person',
        () => ({}),
        'ada',
        ['connect true', 'TLS true', 'bind true', 'search true', 'entry true', 'groups true'],
      ],
      ['nobody', () => ({}), 'eve', ['connect true', 'TLS true', 'bind true', 'search true', 'entry false']],
      ['no server', () => ({url: 'ldap://localhost:1'}), undefined, ['connect false']],
      ['no authority', () => ({ca: null}), undefined, ['connect true', 'TLS false']],
      ['no account', () => ({bind_password: 'x'}), undefined, ['connect true', 'TLS true', 'bind false']],
      [
        'no base',
        () => ({user_base: 'dc=absent'}),
        undefined,
        ['connect true', 'TLS true', 'bind true', 'search false'],
      ],
      [
        'no filter',
        () => ({user_filter: '((uid={username})'}),
        undefined,
        ['connect true', 'TLS true', 'bind true', 'search false'],
      ],
      ['no URL', () => ({url: 'ldap://'}), undefined, ['connect false']],
    ])('%s', async (_, changes, username, steps) => {
      expect(await shown(changes(), username)).toEqual(steps)
    })
  })

  test('72: no line of the log and no step has a secret', async () => {
    await faultOf(signIn('ada', 'right', {bind_password: 'canary-bind'}))
    const steps = await directories.tried({...settings, bind_password: 'canary-bind'})
    expect(lines.length).toBeGreaterThan(0)
    expect(JSON.stringify([lines, steps])).not.toContain('canary')
  })
})

/** A password as slapd keeps it. */
const RIGHT = `{SSHA}${Buffer.concat([
  createHash('sha1').update('right').update('salt').digest(),
  Buffer.from('salt'),
]).toString('base64')}`

function person(uid: string, more: readonly string[] = [], password: string | null = RIGHT): string {
  const dn = `uid=${uid.replace(/[\\,]/g, '\\$&')},ou=people,dc=example,dc=test`
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  return [
    `dn:: ${base64(dn)}`,
    'objectClass: inetOrgPerson',
    `uid:: ${base64(uid)}`,
    `cn:: ${base64(uid)}`,
    ...(more.some(line => line.startsWith('sn:')) ? [] : [`sn:: ${base64(uid)}`]),
    ...(password === null ? [] : [`userPassword: ${password}`]),
    ...more,
  ].join('\n')
}

function changed(uid: string, change: string): string {
  return `dn: uid=${uid},ou=people,dc=example,dc=test\nchangetype: modify\n${change}`
}

function isSetOf(...names: readonly string[]) {
  return (list: readonly string[]) => JSON.stringify(list.toSorted()) === JSON.stringify(names.toSorted())
}

const ADA = ['givenName: Ada', 'sn: King', 'mail: ada@example.test', 'employeeNumber: 17', 'jpegPhoto:: /wD+']
const PEOPLE = [
  person('ada', ADA),
  person('mia', ['mail: mia@example.test']),
  person('mallory', ['mail: mia@example.test']),
  person('two', ['mail: two@example.test', 'mail: team@example.test']),
  ...['team2', 'team3'].map(uid => person(uid, ['mail: team@example.test'])),
  person('nopassword', [], null),
  ...['star*', 'par(en)', 'back\\slash', 'jürgen', 'comma,', 'lock', 'lock2', 'lock3', 'reset'].map(uid => person(uid)),
].join('\n\n')

const GROUPS = `
dn: cn=admins,ou=groups,dc=example,dc=test
objectClass: groupOfNames
cn: admins
member: uid=ada,ou=people,dc=example,dc=test

dn: cn=Sales\\, EMEA,ou=groups,dc=example,dc=test
objectClass: groupOfNames
cn: Sales, EMEA
member: uid=ada,ou=people,dc=example,dc=test

dn: cn=odd,ou=groups,dc=example,dc=test
objectClass: groupOfNames
cn: odd
member: uid=comma\\,,ou=people,dc=example,dc=test
member: uid=star*,ou=people,dc=example,dc=test
`
