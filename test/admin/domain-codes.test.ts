import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {openDomainProofs} from '../../src/app/domain-proofs.ts'
import {type After, after} from '../../src/base/delay.ts'
import {createLog} from '../../src/base/log.ts'
import {readSettings} from '../../src/settings/index.ts'
import {contentsOf} from '../support/database-contents.ts'
import {type DomainHouse, type DomainOwner, domainHouse} from '../support/domain-house.ts'
import {mailServer, silentServer} from '../support/mail-server.ts'
import {KINDS} from '../support/stores.ts'

const MAIL = {method: 'mail'}
const NOON_MS = Date.parse('2026-03-04T12:00:00.000Z')

describe.each(KINDS)('the code of a domain on %s', kind => {
  let house: DomainHouse
  let own: DomainOwner
  beforeAll(async () => {
    house = await domainHouse(kind)
  })
  beforeEach(async () => {
    own = await house.organisation()
    minutes(0)
  })
  afterAll(() => house.close())

  const minutes = (after: number) => house.admin.at(new Date(NOON_MS + after * 60_000).toISOString())

  /** Lets the administration send mail by a server on loopback, and gives what came there. */
  async function mailing() {
    const {received, settings} = await mailServer()
    mailAt(settings.port)
    return {received, codes: () => received.map(({text}) => /[B-Z]{5}-[B-Z]{5}/.exec(text)![0])}
  }

  function mailAt(port: number, deadline: After = after) {
    const env = {SMTP_HOST: '127.0.0.1', SMTP_PORT: String(port), SMTP_SECURITY: 'none', SMTP_FROM: 'a@example.com'}
    const log = createLog('silent', 'gateway', () => undefined)
    const domain_proofs = openDomainProofs({settings: readSettings({env}).settings, log, after: deadline})
    Object.assign(house.admin.services, {domain_proofs})
  }
  const using = (code: string) => ({...MAIL, code})

  test('comes to an address of the domain, proves it once, and is kept nowhere', async () => {
    const {received, codes} = await mailing()
    await own.claim('mail.example')
    const sent = await own.verify('mail.example', MAIL)
    expect(sent.body).toMatchObject({
      ...{status: 'pending', verification: {mail_code_ends_at: '2026-03-04T13:00:00.000Z'}},
    })
    expect(received.map(({to}) => to)).toEqual([['admin@mail.example']])
    expect(received[0]!.text).toContain('Subject: The code for the domain mail.example')
    const [code] = codes()
    expect(sent.text).not.toContain(code)
    minutes(59)
    const {status, body} = await own.verify('mail.example', using(` ${code!.toLowerCase().replace('-', '')} `))
    expect(status).toBe(200)
    expect(body).toMatchObject({status: 'verified', proof: 'mail', looked_at: null, verification: null})
    expect(house.asked).toEqual([])
    expect(await own.tries()).toEqual([
      [200, {method: 'mail', code: '***', outcome: 'proven'}],
      [200, {method: 'mail', outcome: 'code_made'}],
      [200, {domain: 'mail.example'}],
    ])
    expect((await own.verify('mail.example', using('wrong'))).body).toMatchObject({status: 'verified'})
    const kept = await contentsOf(await house.admin.again())
    for (const text of [code!, code!.replace('-', '')]) expect(kept).not.toContain(text)
  })

  test('goes to the address that is named, which is one of the domain’s', async () => {
    const {received} = await mailing()
    await own.claim('named.example')
    expect((await own.verify('named.example', {...MAIL, mail_to: 'Postmaster@named.example'})).status).toBe(200)
    expect(received[0]!.to).toEqual(['postmaster@named.example'])
    for (const mail_to of ['eve@named.example', 'admin@other.example', 'admin@named.example,eve@example.com'])
      expect(await own.verify('named.example', {...MAIL, mail_to})).toMatchObject({
        ...{status: 400, body: {data: {message: expect.stringContaining('mail_to: must be one of admin@named')}}},
      })
    expect(received).toHaveLength(1)
  })

  test('can be tried five times, however many come at once; then the right one is no use', async () => {
    const {codes} = await mailing()
    await own.claim('tries.example')
    await own.verify('tries.example', MAIL)
    const first = await own.verify('tries.example', using('BBBBB-BBBBB'))
    expect(first).toMatchObject({
      ...{status: 409, body: {data: {message: 'The code is wrong. It can be tried 4 more times.'}}},
    })
    const tries = await Promise.all(Array.from({length: 8}, () => own.verify('tries.example', using('CCCCC-CCCCC'))))
    expect(tries.map(({status}) => status).toSorted()).toEqual([...Array(4).fill(409), ...Array(4).fill(429)])
    const late = await own.verify('tries.example', using(codes()[0]!))
    expect([late.status, late.headers.get('retry-after')]).toEqual([429, '1'])
    await own.verify('tries.example', MAIL)
    expect((await own.verify('tries.example', using(codes()[0]!))).status).toBe(409)
    expect((await own.verify('tries.example', using(codes()[1]!))).status).toBe(200)
  })

  test('ends after an hour, and is sent three times in one, also for a claim that is made again', async () => {
    const {received, codes} = await mailing()
    await own.claim('often.example')
    expect((await own.verify('often.example', using('BBBBB-BBBBB'))).body.data.message).toContain('No code was sent')
    await own.verify('often.example', MAIL)
    minutes(30)
    await own.verify('often.example', MAIL)
    await own.remove('often.example')
    await own.claim('often.example')
    expect((await own.verify('often.example', using(codes()[1]!))).status).toBe(409)
    await own.verify('often.example', MAIL)
    const more = await own.verify('often.example', MAIL)
    expect([more.status, more.headers.get('retry-after')]).toEqual([429, '1800'])
    expect((await own.tries())[0]).toEqual([429, {method: 'mail', outcome: 'too_many_codes'}])
    minutes(60)
    expect((await own.verify('often.example', MAIL)).status).toBe(200)
    expect(received).toHaveLength(4)
    minutes(120)
    const ended = await own.verify('often.example', using(codes()[3]!))
    expect(ended).toMatchObject({status: 409, body: {data: {message: expect.stringContaining('The code ended at')}}})
  })

  test('is sent 20 times an hour for all domains of an organisation', async () => {
    const {received} = await mailing()
    const replies = []
    for (let n = 0; n < 7; n++) {
      await own.claim(`all${n}.example`)
      for (let time = 0; time < 3; time++) replies.push((await own.verify(`all${n}.example`, MAIL)).status)
    }
    expect(replies).toEqual([...Array(20).fill(200), 429])
    expect(received).toHaveLength(20)
  })

  test('of another organisation proves nothing here', async () => {
    const {codes} = await mailing()
    const other = await house.organisation()
    for (const each of [own, other]) {
      await each.claim('both.example')
      await each.verify('both.example', MAIL)
    }
    expect((await own.verify('both.example', using(codes()[1]!))).status).toBe(409)
    expect((await other.verify('both.example', using(codes()[1]!))).status).toBe(200)
    expect((await own.verify('both.example', using(codes()[0]!))).status).toBe(409)
    expect((await own.list())[0]).toMatchObject({status: 'pending'})
  })

  test.each([
    ['refuses the address', 'refused.example', /refuses mail to admin@refused\.example\. Name another/],
    ['is busy', 'busy.example', /The mail to admin@busy\.example could not be sent\. Try again shortly/],
  ])('is not sent where the mail server %s, and the reply says so', async (_, domain, sentence) => {
    await mailing()
    await own.claim(domain)
    const reply = await own.verify(domain, MAIL)
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '60'])
    expect(reply.body.data.message).toMatch(sentence)
    expect((await own.tries())[0]).toEqual([503, {method: 'mail', outcome: 'mail_failed'}])
  })

  test('is given up at the deadline where the mail server says nothing', async () => {
    mailAt((await silentServer()).port, (_, run) => after(50, run))
    await own.claim('silent.example')
    expect((await own.verify('silent.example', MAIL)).status).toBe(503)
  })
})
