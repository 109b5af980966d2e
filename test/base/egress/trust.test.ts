import {expect, test} from 'vitest'
import {readTrusted} from '../../../src/base/egress/trust.ts'

const names = (entry: string, ...hosts: string[]) => hosts.map(host => readTrusted([entry]).names(host))

test('a host is that host alone', () => {
  expect(names('Models.LAN', 'models.lan', 'a.models.lan', 'lan', 'xmodels.lan')).toEqual([true, false, false, false])
  expect(names('my_engine', 'my_engine')).toEqual([true])
})

test('*.domain is the domain and all below it', () => {
  expect(names('*.ai.example', 'ai.example', 'a.ai.example', 'a.b.ai.example', 'xai.example', 'example')).toEqual([
    true,
    true,
    true,
    false,
    false,
  ])
})

test('localhost is also all below it, and no address', () => {
  expect(names('localhost', 'localhost', 'a.localhost', '127.0.0.1', 'xlocalhost')).toEqual([true, true, false, false])
})

test('addresses and ranges are compared by value, also behind a name', () => {
  expect(names('10.1.2.3', '10.1.2.3', '::ffff:a01:203', '10.1.2.4')).toEqual([true, true, false])
  expect(names('10.0.0.0/8', '10.255.0.1', '11.0.0.1')).toEqual([true, false])
  expect(names('[fd00::1]', 'fd00::1', 'fd00::2')).toEqual([true, false])
  expect(names('fd00::/8', 'fd12::1', 'fe80::1')).toEqual([true, false])
  expect(readTrusted(['10.0.0.0/8']).covers('10.1.1.1')).toBe(true)
  expect(readTrusted(['10.0.0.0/8']).covers('models.lan')).toBe(false)
})

test('of a URL the host counts', () => {
  expect(names('http://models.lan:8080/v1', 'models.lan')).toEqual([true])
  expect(names('https://[fd00::1]:8080', 'fd00::1')).toEqual([true])
  expect(names('http://10.0.0.1/', '10.0.0.1', '10.0.0.2')).toEqual([true, false])
})

test('no entry, or an empty one, names nothing', () => {
  expect(readTrusted([]).names('localhost')).toBe(false)
  expect(readTrusted(['', ' ']).names('')).toBe(false)
})

test.each([
  '*',
  '*.',
  'a b',
  'a,b',
  '*.*.example',
  'a.*.example',
  '.example',
  'example.',
  '10.0.0.0/33',
  '10.0.0',
  '0x7f.1',
  '2130706433',
  'http://',
  'ftp://a.lan',
  'http://user:secret@models.lan',
  'models.lan:8080',
  'models.lan/v1',
  '-a.lan',
  'a..lan',
  'münchen.lan',
  '[::1',
  '10.0.0.0/8/8',
  `${'a'.repeat(64)}.lan`,
])('%s is not an entry, and the error says so', entry => {
  expect(() => readTrusted([entry])).toThrow(
    /^TRUSTED_CUSTOM_HOSTS: ".*" is not a host, \*\.domain, IP address, CIDR range or URL/,
  )
})

test.each([
  '169.254.169.254',
  '::ffff:169.254.169.254',
  'http://100.100.100.200/',
  'metadata.google.internal',
  '*.metadata.google.internal',
  '*.ec2.internal',
  'metadata',
])('%s is not opened by any entry', entry => expect(() => readTrusted([entry])).toThrow(/no setting opens/))
