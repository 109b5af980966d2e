import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {NO_SLAPD} from '../identity/ldap/slapd.ts'
import {KINDS} from '../support/stores.ts'
import {addPerson, type LdapHouse, openLdap, PEOPLE, shownOf, unlock} from './ldap-house.ts'

const QUARTER_MS = 900_000
/** Failures are not counted for an address behind which everybody may be. */
const PROXIED = {'x-forwarded-for': '203.0.113.7'}

describe.skipIf(NO_SLAPD).each(KINDS)('LDAP: how often a password may be wrong, on %s', kind => {
  let house: LdapHouse
  beforeAll(async () => {
    house = await openLdap(kind)
    for (const uid of ['ada', 'ben', 'cy', 'dee', 'eve', 'fay', 'gus', 'hal', 'ida', 'jan']) addPerson(house.slapd, uid)
    for (let index = 0; index < 21; index++) addPerson(house.slapd, `crowd${index}`)
    await house.connect()
  })
  afterAll(() => house?.close())
  beforeEach(() => house.later())

  const statusOf = async (username: string, password?: string, headers: Record<string, string> = {}) =>
    (await house.signIn({username, headers, ...(password !== undefined && {password})})).reply.status
  const wrong = async (username: string, times: number, headers: Record<string, string> = {}) => {
    const statuses: number[] = []
    for (let time = 0; time < times; time++) statuses.push(await statusOf(username, `wrong-${time}`, headers))
    return statuses
  }
  const FIVE = [401, 401, 401, 401, 401]
  const entryOf = (uid: string) => `uid=${uid},${PEOPLE}`

  test('68: the sixth wrong password is 429, the right one too, and nobody else is locked', async () => {
    expect(await wrong('ada', 6)).toEqual([...FIVE, 429])
    const {browser, reply} = await house.signIn({username: 'ada'})
    expect([reply.status, browser.session]).toEqual([429, undefined])
    expect(reply.headers.get('retry-after')).toBe('900')
    expect(reply.body.data).toEqual({message: expect.stringContaining('a quarter of an hour'), errorCode: 'AB06'})
    expect(house.bindsOf(entryOf('ada'))).toHaveLength(5)
    expect(await statusOf('ben')).toBe(200)
    await expect.poll(() => house.refusal().then(body => body?.reason)).not.toBe('credentials_wrong')
    const reasons = (await house.gateway.rows('sign_in')).map(({status, body}) => [status, body.reason])
    expect(reasons).toContainEqual([429, 'too_many'])
    expect(reasons).toContainEqual([401, 'credentials_wrong'])
  })

  test('68: a quarter of an hour after the first failure it is open again, and not before', async () => {
    await wrong('cy', 4)
    house.clock.ms += QUARTER_MS - 1000
    await wrong('cy', 1)
    unlock(house.slapd, 'cy')
    expect(await statusOf('cy')).toBe(429)
    house.clock.ms += 1001
    expect(await statusOf('cy')).toBe(200)
  })

  test('68: failures of the time before are forgotten', async () => {
    await wrong('cy', 4)
    house.later()
    expect(await wrong('cy', 1)).toEqual([401])
    unlock(house.slapd, 'cy')
    expect(await statusOf('cy')).toBe(200)
  })

  test('68: a right password begins the count again, of an entry and of what was typed', async () => {
    for (let round = 0; round < 2; round++) {
      for (let time = 0; time < 2; time++) expect(await statusOf('dee', '')).toBe(401)
      expect(await wrong('dee', 3)).toEqual([401, 401, 401])
      expect(await statusOf('dee')).toBe(200)
    }
    for (let time = 0; time < 3; time++) expect(await statusOf('dee', '')).toBe(401)
    expect(await statusOf('dee')).toBe(200)
  })

  test('68: an unknown name is locked as a known one, with the same bytes, in any case and spacing', async () => {
    const typed = ['no body', 'NO BODY', ' no body', 'no   body  ', 'ｎo body']
    for (const username of typed) expect(await statusOf(username, 'wrong')).toBe(401)
    await wrong('eve', 5)
    house.binds.length = 0
    const {reply: unknown} = await house.signIn({username: 'no body', password: 'wrong'})
    const {reply: known} = await house.signIn({username: 'eve', password: 'wrong'})
    expect(unknown.status).toBe(429)
    expect(shownOf(unknown)).toEqual(shownOf(known))
    expect(house.binds.map(({dn}) => dn)).not.toContain(entryOf('eve'))
  })

  test('68: many wrong ones at once are no more tries than one after the other', async () => {
    const all = await Promise.all(Array.from({length: 19}, (_, index) => statusOf('fay', `wrong-${index}`)))
    expect(all.filter(status => status === 401).length).toBeLessThanOrEqual(5)
    expect(all.filter(status => status !== 401 && status !== 429)).toEqual([])
    expect(house.bindsOf(entryOf('fay')).length).toBeLessThanOrEqual(5)
    expect(await statusOf('gus')).toBe(200)
  })

  test('IC26: six spellings of one entry are one count', async () => {
    const spellings = ['hal', 'Hal', ' hal', 'hal ', 'HAL', 'hal@example.test', 'ｈal']
    const statuses: number[] = []
    for (const spelling of spellings) statuses.push(await statusOf(spelling, 'wrong'))
    expect(statuses).toEqual([...FIVE, 429, 429])
    for (const spelling of spellings) expect(await statusOf(spelling), spelling).toBe(429)
    expect(house.bindsOf(entryOf('hal'))).toHaveLength(5)
    expect(await statusOf('ida')).toBe(200)
  })

  test('IC26: the full width spelling comes first, and counts for the entry as well', async () => {
    expect(await statusOf('ｊan', 'wrong')).toBe(401)
    expect(await wrong('jan', 5)).toEqual([401, 401, 401, 401, 429])
  })

  describe('68: of one address', () => {
    const tried = async (headers: Record<string, string> = {}) => {
      const statuses: number[] = []
      for (let index = 0; index < 21; index++) statuses.push(await statusOf(`crowd${index}`, 'wrong', headers))
      return statuses
    }

    test('the 21st wrong password of any people is 429, for everybody there', async () => {
      expect(await tried()).toEqual([...Array.from({length: 20}, () => 401), 429])
      const binds = house.binds.length
      expect(await statusOf('ida')).toBe(429)
      expect(house.binds.length).toBe(binds)
      house.later()
      expect(await statusOf('ida')).toBe(200)
    })

    test('a right password of one does not open it for the others', async () => {
      for (let index = 0; index < 19; index++) await statusOf(`crowd${index}`, 'wrong')
      expect(await statusOf('ida')).toBe(200)
      expect(await statusOf('crowd19', 'wrong')).toBe(401)
      expect(await statusOf('ida')).toBe(429)
    })

    test('many at once are no more than one after the other', async () => {
      const all = await Promise.all(Array.from({length: 30}, (_, index) => statusOf(`none${index}`, 'wrong')))
      expect(all.filter(status => status === 401).length).toBeLessThanOrEqual(20)
      expect(all.filter(status => status === 429).length).toBeGreaterThanOrEqual(10)
    })

    test.each([PROXIED, {forwarded: 'for=203.0.113.7'}, {via: '1.1 proxy'}, {'x-real-ip': '203.0.113.7'}] as Record<
      string,
      string
    >[])('behind a proxy (%o) it is not counted, as all share it', async headers => {
      expect(new Set(await tried(headers))).toEqual(new Set([401]))
      expect(await statusOf('ida', undefined, headers)).toBe(200)
      expect(await statusOf('ida')).toBe(200)
    })

    test('behind a proxy an account is locked all the same', async () => {
      expect(await wrong('ada', 6, PROXIED)).toEqual([...FIVE, 429])
      expect(await statusOf('ada')).toBe(429)
    })
  })
})
