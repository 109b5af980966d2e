import {isIPv6} from 'node:net'
import fc from 'fast-check'
import {expect, test} from 'vitest'
import {NO_HOSTS} from '../../../src/base/egress/hosts.ts'
import {type Asker, Destinations, readDestination} from '../../../src/base/egress/target.ts'
import {readTrusted} from '../../../src/base/egress/trust.ts'

const CALLER: Asker = {kind: 'caller'}
const read = (text: string, trusted: string[] = [], asker: Asker = CALLER) =>
  readDestination(text, asker, readTrusted(trusted))
const blocked = (reason: RegExp | string = '') =>
  expect.objectContaining({code: 'host.blocked', status: 400, message: expect.stringMatching(reason)})

test('a public host is taken apart, and nothing of it can be changed', () => {
  const destination = read(' HTTPS://API.Example.com:8443/v1/ ')
  expect(destination).toEqual({
    origin: 'https://api.example.com:8443',
    hostname: 'api.example.com',
    port: 8443,
    secure: true,
    basePath: '/v1',
    trust: 'public',
    key: 'public https://api.example.com:8443',
  })
  expect(Object.isFrozen(destination)).toBe(true)
  expect(read('http://api.example.com:80')).toMatchObject({origin: 'http://api.example.com', basePath: '', port: 80})
  expect(read('https://api.example.com:443/')).toMatchObject({
    origin: 'https://api.example.com',
    basePath: '',
    port: 443,
  })
  expect(read('https://[2606:4700:0:0::1111]:8000/a%20b/c')).toMatchObject({
    origin: 'https://[2606:4700::1111]:8000',
    hostname: '2606:4700::1111',
    basePath: '/a%20b/c',
  })
  expect(read('https://8.8.8.8/').hostname).toBe('8.8.8.8')
})

test.each([
  'http://127.1/',
  'http://2130706433/',
  'http://169.254.169.254/',
  'http://a.nip.io/',
  'http://u:p@h/',
  'http://[::ffff:10.0.0.1]/',
])('%s is an invalid custom host', text => expect(() => read(text)).toThrow(blocked(/^Invalid custom host: /)))

// biome-ignore format: a table is read by its lines
test.each([
  ['ftp://api.example.com', /http:\/\/ or https:\/\//], ['api.example.com', /http:\/\//], ['//api.example.com', /http:\/\//], ['https:/api.example.com', /http:\/\//],
  ['https:api.example.com', /http:\/\//], ['file:///etc/passwd', /http:\/\//], ['gopher://x/', /http:\/\//], ['', /http:\/\//], ['https:\\\\api.example.com', /http:\/\//],
  ['javascript:alert(1)', /http:\/\//], [`https://api.example.com/${'a'.repeat(2048)}`, /2048/], [' '.repeat(2049), /2048/],
  ['https://api.exa\tmple.com', /control/], ['https://api.example.com/\n/x', /control/], ['https://api.example.com\0', /control/], ['https://a b.example.com', /spaces/],
  ['https://user@api.example.com', /@/], ['https://user:pw@api.example.com', /@/], ['https://api.example.com@evil.example', /@/], ['https://@api.example.com', /@/],
  ['https://api.example.com/@x', /@/], ['https://api.example.com\\@127.0.0.1', /@|path/], ['https://api.example.com\\.evil.example/', /path/],
  ['https://api.exam%70le.com', /%/], ['https://%31%32%37.0.0.1', /%/], ['https://api.example.com.', /dot at the end/], ['https://127.0.0.1.', /dot at the end/], ['https://localhost./', /dot at the end/],
  ['https://a.b.c.d.e.f.g.h.i.example.com', /10 labels/], ['https://a..example.com', /label/], ['https://.example.com', /label/], ['https://-a.example.com', /label/], ['https://a-.example.com', /label/],
  [`https://${'a'.repeat(64)}.com`, /label/], ['https://xn--mnchen-3ya.de', /xn--/], ['https://api.xn--p1ai', /xn--/], ['https://münchen.de', /ASCII/],
  ['http://１２７.0.0.1', /ASCII/], ['http://127。0。0。1', /ASCII/], ['http://127．0．0．1', /ASCII/], ['http://①②⑦.0.0.1', /ASCII/], ['http://ⓛocalhost', /ASCII/], ['http://loc\u00adalhost', /ASCII/],
  ['https://', /no host/], ['https:///x', /no host/], ['https://:80', /no host/], ['https://?x', /no host/], ['https://a_b.example.com', /a-z/], ['https://*.example.com', /a-z/], ['https://a,b.com', /a-z/],
  ['https://api.example.com:', /port/], ['https://api.example.com:0', /port/], ['https://api.example.com:65536', /port/], ['https://api.example.com:080', /port/], ['https://api.example.com:1e3', /port/],
  ['https://api.example.com:80:80', /port/], ['https://api.example.com:-1', /port/], ['https://api.example.com:٣', /ASCII/],
  ['https://api.example.com?x=1', /query/], ['https://api.example.com/v1?x=1', /query/], ['https://api.example.com#x', /fragment/], ['https://api.example.com/v1#', /fragment/],
  ['https://api.example.com/a/../b', /\.\./], ['https://api.example.com/%2e%2e/b', /\.\./], ['https://api.example.com/.', /\/\.\//], ['https://api.example.com/a/%2E/b', /\/\.\//], ['https://api.example.com//b', /\/\//], ['https://api.example.com/a\\b', /path/], ['https://api.example.com/%zz', /path/],
  ['https://api.example.com/{x}', /path/], ['http://[::1', /host|IPv6|a-z/], ['http://::1/', /no host/], ['http://[fe80::1%25eth0]/', /zone/], ['http://[fe80::1%eth0]/', /zone/], ['http://[::1]x/', /a-z|no host/],
  ['http://[::ffff:1.2.3]/', /IPv6/], ['http://[1.2.3.4]/', /IPv6/], ['http://[]/', /IPv6/], ['http://[::1]:22/', /port 22/],
] as const)('%j is refused for what is wrong with it', (text, reason) => {
  expect(() => read(text)).toThrow(blocked(reason))
})

test.each([
  '0x7f000001',
  '0X7F000001',
  '017700000001',
  '127.1',
  '127.0.1',
  '0x7f.1',
  '0177.0.0.1',
  '127.0.0.01',
  '127.0.0.0x1',
  '10.0x0.0.1',
  '2130706433',
  '0',
  '1',
  '0x',
  '134744072',
  '8.8.2056',
  '0x8.8.8.8',
  '08.8.8.8',
  '256.1.1.1',
  '1.2.3.4.5',
  'example.1',
  'example.0x1',
  '99999999999',
  '1.2.3.999',
])('%s is no way to write an address, public or not, trusted or not', host => {
  expect(() => read(`http://${host}/`, ['0.0.0.0/0', 'localhost'])).toThrow(blocked(/four decimal numbers/))
})

test.each([
  '127.0.0.1',
  '10.0.0.1',
  '0.0.0.0',
  '192.168.0.1',
  '172.16.0.1',
  '100.64.0.1',
  '169.254.1.1',
  '224.0.0.1',
  '255.255.255.255',
  '192.0.2.1',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[fd12::1]',
  '[fe80::1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  '[2001:db8::1]',
  '[::127.0.0.1]',
])('%s is open to the trusted alone', host => {
  const text = `http://${host}:8080/v1`
  expect(() => read(text)).toThrow(blocked(/private or reserved/))
  expect(() => read(text, [], {kind: 'builtin'})).toThrow(blocked(/private or reserved/))
  expect(read(text, [host]).trust).toBe('listed')
  const {hostname} = read(text, [host])
  expect(read(text, [], {kind: 'integration', id: 'a', host: hostname}).trust).toBe('integration')
})

test.each([
  'localhost',
  'a.localhost',
  'models',
  'models.local',
  'models.lan',
  'a.internal',
  'host.docker.internal',
  'x.corp',
  'x.home',
  'x.home.arpa',
  'x.intranet',
  'x.test',
  'x.invalid',
  'x.onion',
  'my_engine',
])('%s is a name of a private network, open to the trusted alone', host => {
  expect(() => read(`http://${host}/`)).toThrow(blocked(/private network/))
  expect(read(`http://${host}/`, [host]).trust).toBe('listed')
  expect(read(`http://${host}/`, [], {kind: 'integration', id: 'a', host}).trust).toBe('integration')
})

test.each([
  'a.nip.io',
  '10.0.0.1.nip.io',
  'nip.io',
  '7f000001.rbndr.us',
  'x.sslip.io',
  'x.xip.io',
  'localtest.me',
  'a.lvh.me',
  'vcap.me',
  'x.traefik.me',
  'x.localhost.run',
  'models.default.svc.cluster.local',
])('%s leads where its asker likes, and is open only when named', host => {
  expect(() => read(`http://${host}/`, ['10.0.0.0/8', 'localhost'])).toThrow(blocked(/its asker's choice/))
  expect(read(`http://${host}/`, [host]).trust).toBe('listed')
  expect(read(`http://${host}/`, [`*.${host.split('.').slice(-2).join('.')}`]).trust).toBe('listed')
})

test.each([
  '169.254.169.254',
  '169.254.169.253',
  '169.254.170.2',
  '169.254.170.23',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '[fd00:ec2::254]',
  '[::ffff:169.254.169.254]',
  '[::ffff:a9fe:a9fe]',
  '[64:ff9b::a9fe:a9fe]',
  '[2002:a9fe:a9fe::]',
  'metadata',
  'instance-data',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
  'metadata.google.internal',
  'a.metadata.google.internal',
  'METADATA.google.internal',
  'metadata.goog',
  'metadata.azure.com',
  'x.internal.cloudapp.net',
  'instance-data.ec2.internal',
  'ip-10-0-0-1.eu-west-1.compute.internal',
  'metadata.internal',
  'consul',
  'vault.service.consul',
])('%s is open to nobody', host => {
  const trusted = ['0.0.0.0/0', '::/0', '*.internal', '*.goog', '*.com', '*.net', '*.local', '*.google.internal']
  const hostname = host.replace(/^\[|\]$/g, '').toLowerCase()
  for (const asker of [CALLER, {kind: 'builtin'}, {kind: 'integration', id: 'a', host: hostname}] as const) {
    expect(() => read(`http://${host}/latest/meta-data`, trusted, asker)).toThrow(blocked(/metadata or cluster/))
  }
})

test.each([22, 25, 445, 3306, 5432, 6379, 6443, 9200, 27017, 2375, 11211, 10250])('port %i is open to nobody', port => {
  expect(() => read(`https://api.example.com:${port}`)).toThrow(blocked(`port ${port} `))
  expect(() => read(`http://models.lan:${port}`, ['models.lan'])).toThrow(blocked(`port ${port} `))
  expect(() => read(`http://models.lan:${port}`, [], {kind: 'integration', id: 'a', host: 'models.lan'})).toThrow(
    blocked(`port ${port} `),
  )
})

test.each([80, 443, 1234, 3000, 4000, 5000, 6333, 7860, 8000, 8080, 8443, 8787, 8888, 11434, 19530, 30000])(
  'port %i serves models',
  port => {
    expect(read(`https://api.example.com:${port}`).port).toBe(port)
  },
)

test('an integration is trusted for its own host alone, and shares sockets with no other', () => {
  const asker: Asker = {kind: 'integration', id: 'i1', host: '10.0.0.5'}
  expect(read('http://10.0.0.5:8000/v1', [], asker)).toMatchObject({
    trust: 'integration',
    key: 'integration i1 http://10.0.0.5:8000',
  })
  expect(read('http://10.0.0.5:8000/v1', [], {...asker, id: 'i2'}).key).toBe('integration i2 http://10.0.0.5:8000')
  expect(() => read('http://10.0.0.6:8000/v1', [], asker)).toThrow(blocked(/private/))
  expect(() => read('http://localhost/', [], asker)).toThrow(blocked(/private/))
  expect(read('https://api.example.com/', [], asker)).toMatchObject({
    trust: 'public',
    key: 'public https://api.example.com',
  })
})

test('a remembered answer is given only to the same asker', () => {
  const destinations = new Destinations(NO_HOSTS)
  const asker: Asker = {kind: 'integration', id: 'i1', host: '10.0.0.5'}
  const trusted = destinations.read('http://10.0.0.5/', asker)
  expect(destinations.read('http://10.0.0.5/', asker)).toBe(trusted)
  expect(() => destinations.read('http://10.0.0.5/', CALLER)).toThrow(blocked())
  expect(() => destinations.read('http://10.0.0.5/', {kind: 'builtin'})).toThrow(blocked())
  expect(() => destinations.read('http://10.0.0.5/', {...asker, host: '10.0.0.6'})).toThrow(blocked())
  expect(destinations.read('https://api.example.com', {kind: 'builtin'}).trust).toBe('builtin')
  expect(destinations.read('https://api.example.com', CALLER).trust).toBe('public')
})

/**
 * A number of a blocked range, written as inet_aton would read it: one to four parts, each decimal, octal or
 * hexadecimal.
 */
const blockedV4 = fc
  .tuple(
    fc.constantFrom(
      [10, 8],
      [127, 8],
      [0, 8],
      [0xac1, 12],
      [0xc0a8, 16],
      [0xa9fe, 16],
      [0x191, 10],
      [0xe, 4],
      [0xf, 4],
    ),
    fc.nat(0xffffffff),
  )
  .map(([[prefix, bits], rest]) => prefix! * 2 ** (32 - bits!) + (rest % 2 ** (32 - bits!)))
const written = fc
  .record({
    value: blockedV4,
    parts: fc.integer({min: 1, max: 4}),
    radix: fc.array(fc.constantFrom(8, 10, 16), {minLength: 4, maxLength: 4}),
    zeros: fc.nat(3),
    upper: fc.boolean(),
  })
  .map(({value, parts, radix, zeros, upper}) => {
    const bytes = [24, 16, 8, 0].map(shift => Math.floor(value / 2 ** shift) % 256)
    const numbers = [...bytes.slice(0, parts - 1), bytes.slice(parts - 1).reduce((sum, byte) => sum * 256 + byte, 0)]
    const spelt = numbers.map(
      (number, at) =>
        `${{8: '0', 10: '', 16: '0x'}[radix[at] as 8 | 10 | 16]}${radix[at] === 10 ? '' : '0'.repeat(zeros)}${number.toString(radix[at])}`,
    )
    return upper ? spelt.join('.').toUpperCase() : spelt.join('.')
  })

test('no textual form of a blocked IPv4 address passes', () => {
  fc.assert(
    fc.property(written, host => {
      expect(() => read(`http://${host}/`)).toThrow(blocked())
    }),
    {numRuns: 3000},
  )
})

test('no IPv6 address that carries a blocked IPv4 address passes', () => {
  const carriers: ((hex: string) => string)[] = [
    hex => `::ffff:${hex}`,
    hex => `::${hex}`,
    hex => `::ffff:0:${hex}`,
    hex => `64:ff9b::${hex}`,
    hex => `2002:${hex}::1`,
    hex => `2a00:1450::5efe:${hex}`,
  ]
  fc.assert(
    fc.property(blockedV4, fc.constantFrom(...carriers), (value, carry) => {
      const address = carry(`${Math.floor(value / 65_536).toString(16)}:${(value % 65_536).toString(16)}`)
      expect(isIPv6(address)).toBe(true)
      expect(() => read(`http://[${address}]/`)).toThrow(blocked())
    }),
    {numRuns: 1000},
  )
})

test('whatever is let through, a URL parser reads the same host and port', () => {
  const piece = fc.constantFrom(
    'a',
    'example.com',
    '.',
    '-',
    ':',
    '80',
    '@',
    '/',
    '\\',
    '#',
    '?',
    '%',
    '[',
    ']',
    '::1',
    '0x7f',
    '1',
    'http://',
    '。',
    '\t',
    ' ',
    ';',
  )
  const text = fc
    .tuple(fc.constantFrom('http://', 'https://', 'HTTP://'), fc.array(piece, {maxLength: 6}))
    .map(([scheme, rest]) => scheme + rest.join(''))
  fc.assert(
    fc.property(text, said => {
      let destination: ReturnType<typeof read>
      try {
        destination = read(said)
      } catch (error) {
        expect(error).toMatchObject({code: 'host.blocked'})
        return
      }
      const url = new URL(said)
      expect(destination.origin).toBe(url.origin)
      expect(destination.hostname).toBe(url.hostname.replace(/^\[|\]$/g, ''))
      expect(destination.basePath).toBe(url.pathname.replace(/\/$/, ''))
    }),
    {numRuns: 5000},
  )
})
