import {generateKeyPairSync, randomBytes} from 'node:crypto'
import {Registry} from 'prom-client'
import {expect, onTestFinished, test} from 'vitest'
import {makeAuthority} from '../../src/base/certificates/make.ts'
import {endInWords, endsIn, type WatchedCertificate, watchedCertificates} from '../../src/identity/certificate-watch.ts'
import {SamlProviders} from '../../src/identity/saml/providers.ts'
import {openStore} from '../../src/store/dialect/index.ts'
import {certificatesJob} from '../../src/workers/certificates.ts'
import {openSignInGateway} from '../support/sign-in.ts'

const DAY_MS = 86_400_000
const NOW_MS = Date.parse('2026-03-04T12:00:00.000Z')
const {privateKey: key} = generateKeyPairSync('ec', {namedCurve: 'P-256'})

function certificate(ends_ms: number): string {
  const whole_ms = Math.floor(ends_ms / 1000) * 1000
  return makeAuthority({name: 'A', key, serial: randomBytes(16), begins_ms: whole_ms - 400 * DAY_MS, ends_ms: whole_ms})
}

function metadata(...pems: readonly string[]): string {
  const keys = pems.map(pem => {
    const base64 = pem.replace(/-----[^-]*-----|\s/g, '')
    return `<KeyDescriptor use="signing"><d:KeyInfo xmlns:d="http://www.w3.org/2000/09/xmldsig#"><d:X509Data>
      <d:X509Certificate>${base64}</d:X509Certificate></d:X509Data></d:KeyInfo></KeyDescriptor>`
  })
  return `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://idp.example.test">
    <IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">${keys.join('')}
    <SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"
      Location="https://idp.example.test/sso"/></IDPSSODescriptor></EntityDescriptor>`
}

/** A job whose certificates a test changes, and what it warned of. */
function watching() {
  const lines: [facts: Record<string, unknown>, text: string][] = []
  const registry = new Registry()
  let certificates: readonly WatchedCertificate[] = []
  const log = {warn: (facts: object, text: string) => void lines.push([facts as Record<string, unknown>, text])}
  const job = certificatesJob({watched: async () => certificates, log: log as never, registry})
  const lost = new AbortController().signal
  return {
    registry,
    async run(now_ms: number, ...now: readonly WatchedCertificate[]) {
      certificates = now
      await job.run({now_ms, lost})
      return lines.splice(0)
    },
  }
}

const IDP: WatchedCertificate = {
  use: 'saml_signing',
  connection: {id: 'c-1', name: 'entra', organisation_id: 'o-1'},
  ends_ms: NOW_MS + 29 * DAY_MS,
  unread: null,
}

test('a certificate that ends within 30 days is one warn line a day, and another once it has ended', async () => {
  const {run} = watching()
  const facts = {use: 'saml_signing', connection: 'entra', organisation_id: 'o-1', days_left: 29}
  expect(await run(NOW_MS, IDP)).toEqual([
    [{...facts, ends_at: '2026-04-02T12:00:00.000Z'}, 'a certificate of sign-in ends soon'],
  ])
  expect(await run(NOW_MS + DAY_MS - 1, IDP)).toEqual([])
  expect(await run(NOW_MS + DAY_MS, IDP)).toHaveLength(1)
  const [[ended, text] = []] = await run(IDP.ends_ms!, IDP)
  expect([text, ended?.days_left]).toEqual(['a certificate of sign-in has ended', 0])
  expect(await run(IDP.ends_ms! + 1, {...IDP, ends_ms: NOW_MS + 400 * DAY_MS})).toEqual([])
  expect(await run(IDP.ends_ms! + 2, IDP)).toHaveLength(1)
})

test('metadata that cannot be read is a warn line, whether an older one is there or not', async () => {
  const {run} = watching()
  const unread = 'The metadata of the provider does not answer.'
  const far = {...IDP, ends_ms: NOW_MS + 400 * DAY_MS}
  expect(await run(NOW_MS, far)).toEqual([])
  for (const ends_ms of [far.ends_ms, null]) {
    const [[facts, text] = []] = await run(NOW_MS + (ends_ms === null ? 2 : 1) * DAY_MS, {...IDP, ends_ms, unread})
    expect([facts?.reason, text]).toEqual([unread, expect.stringContaining('metadata of a connection cannot be read')])
  }
})

test('the metric has the connections that end first, a bounded number of them', async () => {
  const {run, registry} = watching()
  const many = Array.from({length: 150}, (_, at) => ({
    ...IDP,
    connection: {...IDP.connection!, id: `c-${at}`},
    ends_ms: NOW_MS + (400 - at) * DAY_MS,
  }))
  await run(
    NOW_MS,
    ...many,
    {...IDP, ends_ms: null},
    {use: 'listener', connection: null, ends_ms: NOW_MS, unread: null},
  )
  const lines = (await registry.metrics()).split('\n').filter(line => line.startsWith('gateway_certificate'))
  expect(lines).toHaveLength(100)
  expect(lines).toContain(`gateway_certificate_expiry_timestamp_seconds{use="listener",connection=""} ${NOW_MS / 1000}`)
  expect(lines.some(line => line.includes('"c-149"'))).toBe(true)
  expect(lines.some(line => line.includes('"c-50"'))).toBe(false)
})

test('ends are read of each certificate in a text, and said in words', () => {
  const pem = `${certificate(NOW_MS)}\nno certificate\n${certificate(NOW_MS + DAY_MS)}`
  expect(endsIn(pem)).toEqual([NOW_MS, NOW_MS + DAY_MS])
  expect(endsIn('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----')).toEqual([])
  expect([-1, 0, 1, 30, 31].map(days => endInWords(NOW_MS + days * DAY_MS, NOW_MS))).toEqual([
    '2026-03-03 (has ended)',
    '2026-03-04 (has ended)',
    '2026-03-05 (1 day left)',
    '2026-04-03 (30 days left)',
    '2026-04-04',
  ])
})

test('a gateway that serves watches its connections, and a try of one names what ends', async () => {
  const now_ms = Date.now()
  const [soon, far, past] = [now_ms + 12.5 * DAY_MS, now_ms + 300 * DAY_MS, now_ms - DAY_MS].map(certificate)
  const SAML_SP_PRIVATE_KEY = key.export({type: 'pkcs8', format: 'pem'}) as string
  const gateway = await openSignInGateway('sqlite', {SAML_SP_PRIVATE_KEY, SAML_SP_CERT: soon!})
  onTestFinished(() => gateway.close())
  const saml = (metadata_xml: string) => ({type: 'saml', saml: {metadata_xml}})
  await gateway.auth({
    sso: {
      connections: [
        {name: 'soon', ...saml(metadata(past!, soon!))},
        {name: 'rolled', ...saml(metadata(past!, far!))},
        {name: 'directory', type: 'ldap', ldap: {url: 'ldaps://127.0.0.1:1', user_base: 'dc=x', ca: past!}},
      ],
    },
  })
  const steps = async (part: string, connection: string) => {
    const body = {part, connection}
    return (await gateway.admin<{steps: object[]}>('POST', '/admin/organisation/auth/test', body)).steps
  }
  const day = (pem: string) => new Date(endsIn(pem)[0]!).toISOString().slice(0, 10)
  expect(await steps('saml', 'soon')).toContainEqual({
    name: 'certificates',
    ok: true,
    detail: `2 signing certificates, until ${day(past!)} (has ended), ${day(soon!)} (12 days left)`,
  })
  expect((await steps('ldap', 'directory'))[0]).toEqual({
    ...{name: 'certificate authority', ok: false},
    detail: `until ${day(past!)} (has ended)`,
  })
  // The job may look before the connections above are there, or after: the gateway's own is warned of either way.
  const warned = () =>
    gateway.lines.find(line => line.includes('a certificate of sign-in ends soon') && line.includes('"saml_own"'))
  await expect.poll(warned).toBeDefined()
  expect(JSON.parse(warned()!)).toMatchObject({use: 'saml_own', days_left: 12})
  expect(await (await fetch(`${gateway.url}/metrics`)).text()).toContain(
    `gateway_certificate_expiry_timestamp_seconds{use="saml_own",connection=""} ${endsIn(soon!)[0]! / 1000}`,
  )
  const store = await openStore({kind: 'sqlite', folder: gateway.folder, role: 'operator'})
  onTestFinished(() => store.close())
  const providers = new SamlProviders({
    ...{fetch: async () => ({text: ''}), steady_ms: () => 0, now_ms: () => now_ms, random: () => 0.5},
    ...{refetch_min_interval_ms: 1, log: {warn: () => undefined}},
  })
  const watched = await watchedCertificates({
    db: store.db,
    connections: {seal: NO_SEAL, of_environment: null, is_off: false},
    saml: async () => providers,
    own: () => ({listener: undefined, saml_own: `${far}${soon}`}),
  })
  const ends = watched.map(({use, connection, ends_ms, unread}) => [use, connection?.name, ends_ms, unread])
  expect(ends).toEqual([
    ['saml_signing', 'soon', endsIn(soon!)[0], null],
    ['saml_signing', 'rolled', endsIn(far!)[0], null],
    ['ldap_ca', 'directory', endsIn(past!)[0], null],
    ['saml_own', undefined, endsIn(soon!)[0], null],
  ])
})

/** These connections have no secret. */
const NO_SEAL = {
  open: () => {
    throw new Error('nothing is sealed')
  },
} as never
