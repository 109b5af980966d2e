import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {newId} from '../../src/base/ids.ts'
import {coversDomain, insertDomain, organisationsOfDomain} from '../../src/store/domains.ts'
import {type DnsAnswer, SERVER_FAILED} from '../support/dns-server.ts'
import {type DomainHouse, type DomainOwner, domainHouse} from '../support/domain-house.ts'
import {KINDS} from '../support/stores.ts'

const PATH = '/v1/admin/organisation/domains'

describe.each(KINDS)('domains on %s', kind => {
  let house: DomainHouse
  let own: DomainOwner
  beforeAll(async () => {
    house = await domainHouse(kind)
  })
  beforeEach(async () => {
    own = await house.organisation()
    house.asked.length = 0
    house.records.clear()
  })
  afterAll(() => house.close())

  test('71: a claim says what proves it, and is verified once the record is there', async () => {
    const claimed = await own.claim('Example.COM')
    expect(claimed).toMatchObject({domain: 'example.com', status: 'pending', proof: null, verified_at: null})
    expect(claimed.verification).toEqual({
      dns_name: '_gateway-challenge.example.com',
      dns_value: expect.stringMatching(/^gateway-verification=[\da-f]{32}$/),
      mail_to: ['admin@example.com', 'hostmaster@example.com', 'postmaster@example.com'],
      mail_code_ends_at: null,
    })
    expect((await own.verify('example.com')).body.data.message).toContain(
      'The name _gateway-challenge.example.com is not in the DNS. Add a TXT record',
    )
    house.publish(claimed, 'v=spf1 -all')
    const {status, body} = await own.verify(claimed.id)
    expect(status).toBe(200)
    expect(body).toMatchObject({status: 'verified', proof: 'dns', verification: null, lost_at: null})
    expect(body.looked_at).toBe(body.verified_at)
    expect(await own.tries()).toEqual([
      [200, {method: 'dns', outcome: 'proven'}],
      [409, {method: 'dns', outcome: 'no_name'}],
      [200, {domain: 'Example.COM'}],
    ])
    expect(await own.remove('example.com')).toMatchObject({status: 200})
  })

  test('71: goes to the first that proves it; the others learn no name', async () => {
    const other = await house.organisation()
    const [claimed, theirs] = [await own.claim('first.example'), await other.claim('first.example')]
    expect(claimed.verification!.dns_value).not.toBe(theirs.verification!.dns_value)
    house.publish(theirs)
    expect((await own.verify('first.example')).status).toBe(409)
    expect((await other.verify('first.example')).status).toBe(200)
    house.publish(claimed)
    const looks = house.asked.length
    const late = await own.verify('first.example')
    expect(late).toMatchObject({status: 409, body: {data: {errorCode: 'AB07'}}})
    expect(late.text).not.toMatch(new RegExp(`Other|${other.organisation_id}`))
    expect(house.asked).toHaveLength(looks)
    expect((await own.tries())[0]).toEqual([409, {method: 'dns', outcome: 'taken'}])
    expect((await own.send('POST', `/v1/operator/domains/${claimed.id}/verify`)).status).toBe(409)
    expect((await own.remove('first.example')).status).toBe(200)
    expect((await own.send('POST', PATH, {domain: 'first.example'})).status).toBe(409)
  })

  test('71: of several that prove it at once, one gets it, however often each tries', async () => {
    const owners = [own, await house.organisation(), await house.organisation()]
    const claims = await Promise.all(owners.map(each => each.claim('race.example')))
    house.records.set(
      '_gateway-challenge.race.example',
      claims.map(({verification}) => [verification!.dns_value]),
    )
    const tries = await Promise.all([...owners, ...owners].map(each => each.verify('race.example')))
    expect(tries.map(({status}) => status).toSorted()).toEqual([200, 200, 409, 409, 409, 409])
    const listed = await Promise.all(owners.map(each => each.list()))
    expect(listed.map(([domain]) => domain!.status).toSorted()).toEqual(['pending', 'pending', 'verified'])
    const rows = (await Promise.all(owners.map(each => each.tries()))).flat().filter(([, body]) => 'outcome' in body)
    expect(rows).toHaveLength(6)
  })
})

describe('a domain that is claimed', () => {
  let house: DomainHouse
  let own: DomainOwner
  beforeAll(async () => {
    house = await domainHouse()
  })
  beforeEach(async () => {
    own = await house.organisation()
    house.asked.length = 0
  })
  afterAll(() => house.close())

  test.each<[string, DnsAnswer, number, RegExp]>([
    ['no record', [], 409, /has no TXT record\. Add a TXT record of this name with the value gateway-/],
    ['another record', [['gateway-verification=0']], 409, /has TXT records \(1\), and none has the right value\. Add/],
    ['200 records', Array.from({length: 200}, (_, n) => [`r${n}`]), 409, /has 200 TXT records, of which 100 are read/],
    ['a failure', SERVER_FAILED, 503, /could not be looked up: it failed \(SERVFAIL\)\. .* DOMAIN_DNS_SERVERS/],
    ['garbage', Buffer.from('no message of a name server'), 503, /its answer cannot be read/],
  ])('stays so where the name server has %s, with the next step', async (_, answer, status, sentence) => {
    const {verification} = await own.claim('example.com')
    house.records.set(verification!.dns_name, answer)
    const reply = await own.verify('example.com')
    expect(reply.status).toBe(status)
    expect(reply.body.data.message).toMatch(sentence)
    expect(reply.headers.get('retry-after')).toBe(status === 503 ? '30' : null)
    expect(await own.list()).toMatchObject([{status: 'pending', proof: null}])
  })

  test('lets nobody in, and gets its organisation no sign-in', async () => {
    const {db} = house.admin.store
    const claimed = await own.claim('in.example')
    const covers = () => coversDomain(db, own.organisation_id, 'in.example')
    expect([await covers(), await organisationsOfDomain(db, 'in.example')]).toEqual([false, []])
    house.publish(claimed)
    await own.verify('in.example')
    expect([await covers(), await organisationsOfDomain(db, 'in.example')]).toEqual([true, [own.organisation_id]])
  })

  test('is for those who may change the settings, and its code as well', async () => {
    const {id, verification} = await own.claim('example.com')
    const scopes = ['organisation_settings.read']
    const {key} = await house.admin.seedKey({organisation_id: own.organisation_id}, {scopes})
    const ask = (method: string, path: string, body?: object) => house.admin.send(key, method, path, body)
    expect((await ask('POST', PATH, {domain: 'example.org'})).status).toBe(403)
    expect((await ask('POST', `${PATH}/${id}/verify`, {method: 'dns'})).status).toBe(403)
    const {status, text, body} = await ask('GET', PATH)
    expect(status).toBe(200)
    expect(body.data).toMatchObject([{verification: {dns_value: null}}])
    expect(text).not.toContain(verification!.dns_value)
    expect(JSON.stringify(await own.tries())).not.toContain(verification!.dns_value.slice(-32))
    const other = await house.organisation()
    expect((await other.verify(id)).status).toBe(404)
    expect((await other.remove(id)).status).toBe(404)
  })

  test('is claimed once by an organisation, and no more than 50 wait', async () => {
    await own.claim('example.com')
    expect(await own.send('POST', PATH, {domain: 'example.com'})).toMatchObject({status: 409})
    for (let n = 1; n < 50; n++)
      await insertDomain(house.admin.store.db, {
        ...{id: newId(), organisation_id: own.organisation_id, domain: `d${n}.example`, allow_subdomains: 0, code: ''},
        ...{status: 'pending', created_at: '2026-03-04T05:06:07.000Z', verified_at: null},
      })
    const more = await own.send('POST', PATH, {domain: 'd50.example'})
    expect(more).toMatchObject({status: 409, body: {data: {message: expect.stringContaining('50 domains wait')}}})
    expect(await own.remove('d1.example')).toMatchObject({status: 200})
    await own.claim('d50.example')
  })

  test('71: what can be no domain, or no try, is refused by its field, and not looked up', async () => {
    for (const [body, field] of [
      [{domain: 'localhost'}, 'domain'],
      [{domain: 'co.uk'}, 'domain'],
      [{domain: `${'a.'.repeat(117)}com`}, 'domain'],
      [{domain: 'dev.example.com', allow_subdomains: true}, 'allow_subdomains'],
    ] as const)
      expect(await own.send('POST', PATH, body)).toMatchObject({
        ...{status: 400, body: {data: {message: expect.stringContaining(`${field}: `)}}},
      })
    await own.claim('example.com')
    for (const [body, field] of [
      [{}, 'method'],
      [{method: 'file'}, 'method'],
      [{method: 'dns', code: 'BCDFG'}, 'code'],
      [{method: 'dns', mail_to: 'admin@example.com'}, 'mail_to'],
      [{method: 'mail', mail_to: 'admin@example.com', code: 'BCDFG'}, 'mail_to'],
    ] as const)
      expect(await own.verify('example.com', body)).toMatchObject({
        ...{status: 400, body: {data: {message: expect.stringContaining(`${field}: `)}}},
      })
    expect((await own.verify('example.net')).status).toBe(404)
    expect(house.asked).toEqual([])
  })

  test('of which the operator vouches is his: no name server is asked for it', async () => {
    const {id} = await own.claim('vouched.example')
    const vouched = await own.send('POST', `/v1/operator/domains/${id}/verify`)
    expect(vouched).toMatchObject({status: 200, body: {id, status: 'verified', proof: 'operator', looked_at: null}})
    expect((await own.verify('vouched.example')).body).toMatchObject({proof: 'operator', looked_at: null})
    await own.claim('vouched.test')
    const added = await own.send('POST', '/v1/operator/domains', {domain: 'vouched.test', allow_subdomains: true})
    expect(added.body).toMatchObject({status: 'verified', proof: 'operator', allow_subdomains: true})
    expect((await own.send('POST', '/v1/operator/domains', {domain: 'vouched.test'})).status).toBe(409)
    expect(house.asked).toEqual([])
  })

  test('without a mail server is not proven by mail, and the refusal names the ways that are left', async () => {
    await own.claim('example.com')
    const reply = await own.verify('example.com', {method: 'mail'})
    expect(reply.status).toBe(409)
    expect(reply.body.data.message).toBe(
      'No mail can be sent: this gateway has no mail server (SMTP_MAIL, SMTP_HOST). Prove the domain by its DNS ' +
        'record, or have the operator run gateway domains verify example.com on the data directory.',
    )
  })
})
