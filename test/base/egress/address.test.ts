import {expect, test} from 'vitest'
import {judge, readAddress, readRange} from '../../../src/base/egress/address.ts'

test.each([
  '169.254.169.254',
  '169.254.169.1',
  '169.254.170.2',
  '169.254.170.23',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd00:ec2:0:0:0:0:0:23',
  'fd20:ce::254',
  '::ffff:169.254.169.254',
  '::ffff:a9fe:a9fe',
  '::169.254.169.254',
  '::ffff:0:169.254.169.254',
  '64:ff9b::169.254.169.254',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::169.254.169.254',
  '64:ff9b:1:a9fe:a9:fe00::',
  '2002:a9fe:a9fe::1',
  '2001:0:4136:e378:8000:63bf:5601:5601',
  'fe80::5efe:169.254.169.254',
  '2a00:1450::200:5efe:169.254.169.254',
])('%s is a metadata address', address => expect(judge(address)).toBe('metadata'))

test.each([
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '10.255.255.255',
  '100.64.0.1',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.1.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.9',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  'fc00::1',
  'fdff::1',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
  '2001::1',
  '2001:2::1',
  '2001:10::1',
  '2001:20::1',
  '2001:db8::1',
  '3fff::1',
  '100::1',
  '100:0:0:1::1',
  '5f00::1',
  '4000::1',
  '::ffff:10.0.0.1',
  '::ffff:7f00:1',
  '::127.0.0.1',
  '::8.8.8.8',
  '::ffff:0:10.0.0.1',
  '64:ff9b::10.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::1',
  '2002:0a00:0001::1',
  '2002:7f00:1::',
  '2001:0:5ef5:79fd:0:0:f5ff:fffe',
  '2a00:1450::5efe:10.0.0.1',
])('%s is a private address', address => expect(judge(address)).toBe('private'))

test.each([
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.1',
  '169.253.255.255',
  '172.15.255.255',
  '172.32.0.0',
  '191.255.255.255',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2606:4700:4700::1111',
  '2a00:1450:4001::1',
  '2001:4860:4860::8888',
  '::ffff:8.8.8.8',
  '64:ff9b::8.8.8.8',
  '2002:808:808::1',
])('%s is a public address', address => expect(judge(address)).toBeNull())

test('what is no address is judged as what is open to nobody', () => {
  for (const text of [
    '',
    'localhost',
    '127.1',
    '010.0.0.1',
    '0x7f000001',
    '2130706433',
    '1.2.3.4.5',
    '[::1]',
    ':::',
    '1.2.3.4/8',
  ]) {
    expect([text, judge(text)]).toEqual([text, 'metadata'])
  }
})

test('all spellings of an address are one value', () => {
  const spellings = ['::ffff:10.0.0.1', '0:0:0:0:0:ffff:0a00:0001', '::FFFF:a00:1', '10.0.0.1']
  expect(new Set(spellings.map(readAddress)).size).toBe(1)
  expect(readAddress('1:2:3:4:5:6:7:8')).toBe(0x00010002000300040005000600070008n)
  expect(readAddress('1::8')).toBe((1n << 112n) | 8n)
  expect(readAddress('1::')).toBe(1n << 112n)
  expect(readAddress('::')).toBe(0n)
})

test('a range is read whatever stands behind its prefix, and nothing else is', () => {
  expect(readRange('10.1.2.3/8')).toEqual(readRange('10.0.0.0/8'))
  expect(readRange('10.0.0.0/8')).toEqual(readRange('::ffff:10.0.0.0/104'))
  for (const text of [
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/',
    '10.0.0.0/08',
    '10.0.0.0/-1',
    '10.0.0/8',
    'a/8',
    '10.0.0.0/8/8',
    'fe80::1%eth0/64',
    '',
  ]) {
    expect([text, readRange(text)]).toEqual([text, undefined])
  }
})
