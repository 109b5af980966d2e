import {describe, expect, test} from 'vitest'
import {clientAddress} from '../../../src/base/ingress/client-address.ts'

const TRUSTED = ['10.0.0.0/8', '2001:db8:1::/48', '127.0.0.1']
const CLIENT = '203.0.113.7'

const of = (remoteAddress: string | undefined, headers: Record<string, string> = {}, trusted = TRUSTED) =>
  clientAddress({headers, socket: {remoteAddress}}, trusted)

describe('the address of a client', () => {
  test.each<[string, string | undefined, Record<string, string>, string]>([
    ['without a header is that of the socket', '10.0.0.1', {}, '10.0.0.1'],
    ['of an untrusted socket is that, whatever it says', '198.51.100.9', {'x-forwarded-for': CLIENT}, '198.51.100.9'],
    ['behind a proxy is the entry it wrote', '10.0.0.1', {'x-forwarded-for': CLIENT}, CLIENT],
    ['is not the entry that the client wrote', '10.0.0.1', {'x-forwarded-for': `1.1.1.1, ${CLIENT}`}, CLIENT],
    ['behind two proxies is past both', '10.0.0.1', {'x-forwarded-for': `${CLIENT}, 10.9.9.9`}, CLIENT],
    ['is the first one where all are proxies', '10.0.0.1', {'x-forwarded-for': '10.2.2.2, 10.3.3.3'}, '10.2.2.2'],
    ['may have a port', '10.0.0.1', {'x-forwarded-for': `${CLIENT}:4711`}, CLIENT],
    ['may be IPv6 in brackets', '10.0.0.1', {'x-forwarded-for': '[2001:db8::7]:4711'}, '2001:db8::7'],
    ['may be IPv6 without them', '2001:db8:1::1', {'x-forwarded-for': '2001:db8::7'}, '2001:db8::7'],
    ['of a mapped proxy is found', '::ffff:10.0.0.1', {'x-forwarded-for': CLIENT}, CLIENT],
    ['stays the proxy where its entry is none', '10.0.0.1', {'x-forwarded-for': `${CLIENT}, unknown`}, '10.0.0.1'],
    ['stays the proxy where the header is empty', '10.0.0.1', {'x-forwarded-for': ''}, '10.0.0.1'],
    ['is in Forwarded', '10.0.0.1', {forwarded: `for=1.1.1.1, for=${CLIENT};proto=https`}, CLIENT],
    ['is quoted in Forwarded', '10.0.0.1', {forwarded: 'proto=https; For="[2001:db8::7]:47"'}, '2001:db8::7'],
    ['may hide itself in Forwarded', '10.0.0.1', {forwarded: 'for=_hidden'}, '10.0.0.1'],
    ['is one where both headers agree', '10.0.0.1', {forwarded: `for=${CLIENT}`, 'x-forwarded-for': CLIENT}, CLIENT],
    [
      'is the proxy where the headers differ: the client may have written one',
      '10.0.0.1',
      {forwarded: 'for=1.1.1.1', 'x-forwarded-for': CLIENT},
      '10.0.0.1',
    ],
    ['of a socket that is gone is empty', undefined, {'x-forwarded-for': CLIENT}, ''],
  ])('%s', (_, peer, headers, expected) => expect(of(peer, headers)).toBe(expected))

  test('is that of the socket where no proxy is trusted', () =>
    expect(of('127.0.0.1', {'x-forwarded-for': CLIENT}, [])).toBe('127.0.0.1'))
})
