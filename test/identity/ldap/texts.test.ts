import {describe, expect, test} from 'vitest'
import {BerFault, messageLength, readBer} from '../../../src/identity/ldap/ber.ts'
import {readPerson} from '../../../src/identity/ldap/entries.ts'
import {escapedFilterValue, filledFilter} from '../../../src/identity/ldap/filters.ts'
import {firstValueOf, isEntryName} from '../../../src/identity/ldap/names.ts'
import {plaintextHosts, readLdapUrls} from '../../../src/identity/ldap/urls.ts'
import {LDAP_USER_FILTER} from '../../../src/schema/connections.ts'
import {ldapSettings} from './settings.ts'

describe('67: values inside a filter', () => {
  test.each([
    ['ada', 'ada'],
    ['*)(uid=*', '\\2a\\29\\28uid=\\2a'],
    ['\\2a', '\\5c2a'],
    ['a\0b', 'a\\00b'],
    ['jürgen 李 🙂', 'jürgen 李 🙂'],
    ['$&$1', '$&$1'],
    ['{username}', '{username}'],
    ['a&b|c!d=e~f>g<h/', 'a&b|c!d=e~f>g<h/'],
  ])('%j is %j', (text, escaped) => {
    expect(escapedFilterValue(text)).toBe(escaped)
    expect(filledFilter('(|(uid={username})(mail={username}))', 'username', text)).toBe(
      `(|(uid=${escaped})(mail=${escaped}))`,
    )
  })

  test('ldapts reads each of them as the text itself', async () => {
    const {FilterParser, EqualityFilter, AndFilter} = await import('ldapts')
    for (const text of ['*)(uid=*', '\\2a', 'a\0b', 'jürgen 李 🙂', '(', ')', '\\', ' ada ', 'cn=a\\,b,dc=x']) {
      const filter = FilterParser.parseString(filledFilter('(&(uid={username})(x=y))', 'username', text))
      const [first] = filter instanceof AndFilter ? filter.filters : []
      expect(first instanceof EqualityFilter && first.value).toBe(text)
    }
  })

  test('C14 b: the usual filter finds people of Active Directory by both of their names', () => {
    const filter = filledFilter(LDAP_USER_FILTER, 'username', 'ada@corp.example')
    expect(filter).toContain('(userPrincipalName=ada@corp.example)')
    expect(filter).toContain('(sAMAccountName=ada@corp.example)')
  })
})

describe('an entry whose name is its id', () => {
  const idOf = (dn: string) => readPerson(ldapSettings({url: 'ldaps://x'}), {dn, attributes: new Map()}).id

  test('has one id in any case of letters', () => {
    expect(idOf('CN=Ärger Ada,OU=People')).toBe(idOf('cn=ärger ada,ou=people'))
    expect(idOf('cn=ΑΣ,ou=People')).toBe('cn=ας,ou=people')
  })

  test.each([
    ['the Kelvin sign', '\u212a', 'k'],
    ['a capital I with a dot', '\u0130', 'i\u0307'],
    ['the Angstrom sign', '\u212b', 'å'],
  ])('has not that of another entry, whose name has another letter in place of %s', (_, sign, letter) => {
    expect(idOf(`cn=${sign}ate,ou=people`)).not.toBe(idOf(`cn=${letter}ate,ou=people`))
  })
})

describe('names of entries', () => {
  test.each([
    ['cn=admins,ou=groups', 'admins'],
    [' CN = admins ,ou=groups', 'admins'],
    ['cn=Sales\\, EMEA,ou=groups', 'Sales, EMEA'],
    ['cn=Sales\\2c EMEA,ou=groups', 'Sales, EMEA'],
    ['cn=J\\C3\\BCrgen', 'Jürgen'],
    ['cn=Jürgen', 'Jürgen'],
    ['cn=a\\\\,ou=b', 'a\\'],
    ['cn=a\\\\\\,b,ou=c', 'a\\,b'],
    ['cn=a+ou=b,dc=c', 'a'],
    ['cn=\\ a\\ ,dc=c', ' a '],
    ['2.5.4.3=a', 'a'],
    ['cn=#0401', undefined],
    ['cn=\\#0401', '#0401'],
    ['cn=\\ff', undefined],
    ['cn=', undefined],
    ['admins', undefined],
    ['', undefined],
    ['=a', undefined],
  ])('the first value of %j is %j', (dn, value) => {
    expect(firstValueOf(dn)).toBe(value)
  })

  test('a name of very many spaces is read at once', () => {
    const began = performance.now()
    firstValueOf(`cn=${' '.repeat(4000)}a`)
    expect(performance.now() - began).toBeLessThan(1000)
  })

  test('no one is bound by an empty name', () => {
    expect(['', 'EXTERNAL', '=', 'cn=', 'cn=a'].map(isEntryName)).toEqual([false, false, false, false, true])
  })
})

describe('urls', () => {
  test('in their order, with the usual ports', () => {
    expect(
      readLdapUrls('ldaps://A.Example.com, ldap://b.example.com/dc=x?y,ldap://[::1]:3890,ldaps://10.0.0.1:443'),
    ).toEqual([
      {hostname: 'a.example.com', port: 636, secure: true, text: 'ldaps://a.example.com:636'},
      {hostname: 'b.example.com', port: 389, secure: false, text: 'ldap://b.example.com:389'},
      {hostname: '::1', port: 3890, secure: false, text: 'ldap://[::1]:3890'},
      {hostname: '10.0.0.1', port: 443, secure: true, text: 'ldaps://10.0.0.1:443'},
    ])
  })

  test('an address in another notation is that address', () => {
    expect(readLdapUrls('ldap://0x7f.1').map(({hostname}) => hostname)).toEqual(['127.0.0.1'])
  })

  test.each([
    '',
    'ldap://',
    'http://a.test',
    'ldap://u:p@a.test',
    'ldap://a.test,',
    'ldap://a.test:0',
    'ldap://a%00b',
    'ldap://a b',
  ])('%j is none', text => {
    expect(() => readLdapUrls(text)).toThrow('ldap.url')
  })

  test('more than ten are too many', () => {
    expect(() => readLdapUrls(Array(11).fill('ldap://a.test').join(','))).toThrow('more than 10')
  })

  test.each([
    ['ldap://a.test,ldaps://b.test', true, []],
    ['ldap://a.test,ldaps://b.test', false, ['a.test']],
    ['ldaps://b.test', false, []],
  ])('%s with StartTLS %s shows passwords to %j', (url, start_tls, hosts) => {
    expect(plaintextHosts({url, start_tls})).toEqual(hosts)
  })
})

describe('BER', () => {
  test.each([
    ['a value that ends early', '3003040561'],
    ['an inner one that ends late', '3003040461'],
    ['an indefinite length', '30800000'],
    ['a length of five bytes', '30850000000001'],
    ['two values', '04000400'],
    ['none', ''],
  ])('%s is refused', (_, hex) => {
    expect(() => readBer(Buffer.from(hex, 'hex'))).toThrow(BerFault)
  })

  test('very many values are refused', () => {
    const inner = Buffer.from('0400'.repeat(20_001), 'hex')
    const message = Buffer.concat([
      Buffer.from([0x30, 0x83, inner.length >> 16, (inner.length >> 8) & 0xff, inner.length & 0xff]),
      inner,
    ])
    expect(() => readBer(message)).toThrow('too many values')
  })

  test('a message is awaited until its length is there', () => {
    const lengths = ['', '30', '3082', '308201', '30820102', '3005'].map(hex => messageLength(Buffer.from(hex, 'hex')))
    expect(lengths).toEqual([undefined, undefined, undefined, undefined, 262, 7])
    expect(() => messageLength(Buffer.from('3083100001', 'hex'))).toThrow('more than 1048576 bytes')
  })
})
