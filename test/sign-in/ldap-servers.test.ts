import {mkdtempSync, readFileSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {result, startFakeLdap} from '../identity/ldap/fake-ldap.ts'
import {makeCertificate, NO_SLAPD} from '../identity/ldap/slapd.ts'
import {addPerson, type LdapHouse, openLdap} from './ldap-house.ts'

describe.skipIf(NO_SLAPD)('LDAP: the servers of a directory', () => {
  let house: LdapHouse
  beforeAll(async () => {
    house = await openLdap()
    addPerson(house.slapd, 'ada')
    await house.connect()
  })
  afterAll(() => house?.close())
  beforeEach(() => house.later())

  describe('67: TLS before any bind', () => {
    test('ldaps and StartTLS with the authority of the directory let in', async () => {
      const {url, plain_url, ca_pem: ca} = house.slapd
      for (const changes of [{url}, {url: plain_url, start_tls: true}]) {
        await house.connect({...changes, ca})
        expect((await house.signIn({username: 'ada'})).reply.status).toBe(200)
      }
    })

    test.each(['ldaps', 'StartTLS'])('%s with a certificate of a foreign authority: 503', async way => {
      const folder = mkdtempSync(join(tmpdir(), 'gateway-ca-'))
      makeCertificate(folder, 'localhost')
      const ca = readFileSync(join(folder, 'ca.pem'), 'utf8')
      rmSync(folder, {recursive: true})
      const {url, plain_url} = house.slapd
      await house.connect({url: way === 'ldaps' ? url : plain_url, start_tls: true, ca})
      const signed = await house.signIn({username: 'ada'})
      expect(signed.reply.status).toBe(503)
      expect(signed.reply.body.data).toEqual({
        message: 'The identity provider cannot be reached now. Try again shortly.',
        errorCode: 'AB04',
      })
      await house.expectShut(signed, 'provider_unreachable')
      await expect
        .poll(() => house.refusal().then(body => body?.detail))
        .toContain('not signed by an authority known here')
    })

    test('at a server that takes StartTLS with such a certificate no bind arrives', async () => {
      const server = await startFakeLdap(request =>
        request.kind === 'startTls' ? [result(request, 0), 'tls'] : [result(request, 0)],
      )
      await house.connect({url: server.url, start_tls: true})
      expect((await house.signIn({username: 'ada'})).reply.status).toBe(503)
      expect(server.received.map(({kind}) => kind)).toEqual(['startTls'])
      await server.close()
    })

    afterAll(() => house.connect())
  })

  describe('80: a directory may be at any port of its host', () => {
    test.each([389, 636])('port %i is dialled for a directory, and for nothing else', async port => {
      await house.connect({url: `ldap://localhost:${port}`})
      const signed = await house.signIn({username: 'ada'})
      expect(signed.reply.status).toBe(503)
      // the socket was refused by the machine, or answered by what listens there, and not by the wall
      await expect.poll(() => house.refusal().then(body => body?.detail)).toContain(`localhost:${port}`)
      expect((await house.refusal()).detail).not.toMatch(/blocked|not allowed|wall|may be dialled/i)
      const provider = house.gateway.provider(`mail-${port}`, 'openai', `http://localhost:${port}`)
      await expect(provider).rejects.toThrow(`port ${port} belongs to another protocol`)
    })

    test.each(['ldap://169.254.169.254', 'ldap://[::ffff:169.254.169.254]', 'ldap://metadata.google.internal'])(
      '%s is not dialled',
      async url => {
        await house.connect({url})
        const signed = await house.signIn({username: 'ada'})
        expect(signed.reply.status).toBe(503)
        await house.expectShut(signed, 'provider_unreachable')
      },
    )

    afterAll(() => house.connect())
  })

  test(
    'a directory that cannot be reached: 503, its cause for administrators alone, and no ' + 'failure is counted',
    async () => {
      await house.connect({url: 'ldap://localhost:1'})
      for (let tries = 0; tries < 6; tries++) {
        const {browser, reply} = await house.signIn({username: 'ada'})
        expect([reply.status, browser.session]).toEqual([503, undefined])
        expect(reply.text).not.toContain('localhost')
      }
      await expect
        .poll(() => house.refusal())
        .toMatchObject({
          ...{reason: 'provider_unreachable', method: 'ldap', count: 1},
          detail: expect.stringContaining('ldap://localhost:1'),
        })
      await house.connect()
      expect((await house.signIn({username: 'ada'})).reply.status).toBe(200)
    },
  )

  test('a search account that is refused: 502', async () => {
    await house.connect({bind_password: 'no-longer-right'})
    const {reply} = await house.signIn({username: 'ada'})
    expect(reply.status).toBe(502)
    await expect.poll(() => house.refusal().then(body => body?.reason)).toBe('provider_error')
    await house.connect()
  })
})
