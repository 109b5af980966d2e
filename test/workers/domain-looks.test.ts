import {Registry} from 'prom-client'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {after} from '../../src/base/delay.ts'
import {createLog} from '../../src/base/log.ts'
import {txtLooks} from '../../src/ports/dns/txt.ts'
import {domainLooks, domainMetrics} from '../../src/workers/domain-looks.ts'
import {SERVER_FAILED} from '../support/dns-server.ts'
import {type DomainHouse, domainHouse} from '../support/domain-house.ts'

const DAY_MS = 86_400_000
const NAME = '_gateway-challenge.looked.example'

let house: DomainHouse
beforeAll(async () => {
  house = await domainHouse()
})
afterAll(() => house.close())

test('C20: a domain that a record proved is looked at each week; a loss is reported, and removes nothing', async () => {
  const own = await house.organisation()
  const claimed = await own.claim('looked.example')
  house.publish(claimed)
  await own.verify('looked.example')
  await own.claim('pending.example')
  await own.send('POST', '/v1/operator/domains', {domain: 'vouched.example'})
  const begin_ms = house.admin.services.now().getTime()
  let now_ms = begin_ms
  const lines: string[] = []
  const log = createLog('info', 'gateway', line => void lines.push(JSON.parse(line).msg))
  const look = txtLooks({servers: [house.env.DOMAIN_DNS_SERVERS], after})
  const {job, lost} = domainLooks({store: house.admin.store, look, log, now: () => now_ms})
  const registry = new Registry()
  domainMetrics(registry, {lost})
  /** The job so many days after the proof: what it asked for, what it wrote, and what is known then. */
  const day = async (days: number, signal = new AbortController().signal) => {
    now_ms = begin_ms + days * DAY_MS
    house.asked.length = 0
    lines.length = 0
    await job.run({now_ms, lost: signal})
    const {status, looked_at, lost_at} = (await own.list()).find(({domain}) => domain === 'looked.example')!
    const dayOf = (at: string | null) => (at === null ? null : (Date.parse(at) - begin_ms) / DAY_MS)
    expect(status).toBe('verified')
    return {asked: [...new Set(house.asked)], lines: [...lines], looked: dayOf(looked_at), lost: dayOf(lost_at)}
  }
  const gone = 'the record that proved a domain is gone; the domain stays verified'

  expect(await day(6.9)).toEqual({asked: [], lines: [], looked: 0, lost: null})
  expect(await day(7)).toEqual({asked: [NAME], lines: [], looked: 7, lost: null})
  expect(await registry.metrics()).toContain('gateway_domains_lost 0\n')
  const ended = AbortSignal.abort()
  expect(await day(14, ended)).toMatchObject({asked: [], looked: 7})

  house.records.set(NAME, SERVER_FAILED)
  expect(await day(14)).toEqual({asked: [NAME], lines: [], looked: 7, lost: null})
  house.records.delete(NAME)
  expect(await day(14.1)).toMatchObject({asked: []})
  expect(await day(14.25)).toEqual({asked: [NAME], lines: [gone], looked: 14.25, lost: 14.25})
  expect(await registry.metrics()).toContain('gateway_domains_lost 1\n')
  house.records.set(NAME, [['another value']])
  expect(await day(15.25)).toEqual({asked: [NAME], lines: [], looked: 15.25, lost: 14.25})

  house.publish(claimed)
  const back = 'the record that proved a domain is back'
  expect(await day(16.25)).toEqual({asked: [NAME], lines: [back], looked: 16.25, lost: null})
  expect(await day(23)).toMatchObject({asked: []})
  expect(await registry.metrics()).toContain('gateway_domains_lost 0\n')
  now_ms += 2 * 3_600_000
  expect(await registry.metrics()).not.toContain('gateway_domains_lost 0\n')
})

test('a domain that is lost is found again by who verifies it', async () => {
  const own = await house.organisation()
  const claimed = await own.claim('again.example')
  house.publish(claimed)
  await own.verify('again.example')
  await house.admin.store.db
    .updateTable('domains')
    .set({lost_at: '2026-03-01T00:00:00.000Z'})
    .where('id', '=', claimed.id)
    .execute()
  const {verification} = claimed
  house.records.delete(verification!.dns_name)
  expect((await own.verify('again.example')).status).toBe(409)
  expect(await own.list()).toMatchObject([{status: 'verified', lost_at: '2026-03-01T00:00:00.000Z'}])
  house.publish(claimed)
  expect((await own.verify('again.example')).body).toMatchObject({status: 'verified', proof: 'dns', lost_at: null})
})
