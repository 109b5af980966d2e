import {describe, expect, test} from 'vitest'
import {hostOfBytes, readHost, readHosts} from '../../../src/base/certificates/hosts.ts'

const LABEL = 'a'.repeat(63)
const LONGEST = `${LABEL}.${LABEL}.${LABEL}.${'a'.repeat(61)}`

describe('a host', () => {
  test.each([
    ['gateway', 'gateway'],
    ['Gateway.Example.COM', 'gateway.example.com'],
    ['gateway.example.com.', 'gateway.example.com'],
    ['*.example.com', '*.example.com'],
    ['münchen.example', 'xn--mnchen-3ya.example'],
    ['MÜNCHEN.example', 'xn--mnchen-3ya.example'],
    ['mu\u0308nchen.example', 'xn--mnchen-3ya.example'],
    ['*.münchen.example', '*.xn--mnchen-3ya.example'],
    ['xn--mnchen-3ya.example', 'xn--mnchen-3ya.example'],
    ['a--b.example', 'a--b.example'],
    [LONGEST, LONGEST],
  ])('%j is the name %j', (text, name) => {
    expect(readHost(text)).toEqual({kind: 'name', text: name, bytes: Buffer.from(name)})
  })

  test.each([
    ['10.0.0.5', '10.0.0.5', '0a000005'],
    ['::1', '::1', '00000000000000000000000000000001'],
    ['2001:DB8:0::5', '2001:db8::5', '20010db8000000000000000000000005'],
    ['::', '::', '00000000000000000000000000000000'],
    ['1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
    ['fe80::', 'fe80::', 'fe800000000000000000000000000000'],
    ['::ffff:10.0.0.5', '::ffff:a00:5', '00000000000000000000ffff0a000005'],
  ])('%j is the address %j', (text, shortest, hex) => {
    expect(readHost(text)).toEqual({kind: 'address', text: shortest, bytes: Buffer.from(hex, 'hex')})
    expect(hostOfBytes('address', Buffer.from(hex, 'hex'))).toEqual(readHost(text))
  })

  test.each([
    '',
    '.',
    ' ',
    '*',
    '*.com',
    '*.*.example.com',
    'a.*.example.com',
    'a*.example.com',
    '*.10.0.0.5',
    '*.1.2',
    'https://gateway.example.com',
    'gateway.example.com:8443',
    'gateway.example.com/v1',
    'user@gateway.example.com',
    '[::1]',
    'fe80::1%eth0',
    '1.2.3',
    '300.1.1.1',
    '010.0.0.1',
    '0x7f.1',
    '12345',
    '１.２.３.４',
    'a%2eb',
    'ａ/b',
    'ｅxample.com',
    'example。com',
    '℀.com',
    'a..b',
    '-a.example',
    'a-.example',
    'a_b.example',
    'xn--a.example',
    'gateway.example.com\n',
    'gateway.example.com\nX: y',
    'gateway.example.com\0.attacker.example',
    '../x',
    '../../etc/passwd',
    'DNS:a,DNS:b',
    'a,b',
    '"a"',
    `a\u202eb.example`,
    'a\u200db.com',
    `${'a'.repeat(64)}.example`,
    `a${LONGEST}`,
    `*.${LONGEST}`,
    `*.${LONGEST.slice(1)}`,
    'a.'.repeat(10_000),
    '\ud800.example',
  ])('%j is refused', text => {
    expect(readHost(text)).toBeUndefined()
  })

  test('is named in the refusal as one short line', () => {
    expect(() => readHosts(['fine.example', 'no\nhost'])).toThrow('"no\\nhost" is no host name and no IP address.')
    const thrown = (() => {
      try {
        readHosts(['x'.repeat(100_000)])
      } catch (fault) {
        return (fault as Error).message
      }
      return ''
    })()
    expect(thrown.length).toBeLessThan(200)
    expect(thrown).toContain('…"')
  })

  test('counts once, and there are a hundred at most', () => {
    expect(readHosts(['a.example', 'A.example', '::1', '0::1']).map(({text}) => text)).toEqual(['a.example', '::1'])
    const many = Array.from({length: 101}, (_, at) => `h${at}.example`)
    expect(readHosts(many.slice(1))).toHaveLength(100)
    expect(() => readHosts(many)).toThrow('101 hosts are too many')
  })
})
