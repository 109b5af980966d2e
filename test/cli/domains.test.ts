import {afterAll, beforeAll, expect, test} from 'vitest'
import {dnsServer, NO_NAME} from '../support/dns-server.ts'
import {ADMIN_KEY, startGateway, type TestGateway} from '../support/gateway.ts'
import {run} from './support.ts'

const records = new Map<string, string>()
let names: Awaited<ReturnType<typeof dnsServer>>
let gateway: TestGateway
beforeAll(async () => {
  names = await dnsServer(name => (records.has(name) ? [[records.get(name)!]] : NO_NAME))
  gateway = await startGateway({DOMAIN_DNS_SERVERS: names.address})
})
afterAll(async () => {
  await gateway.close()
  names.close()
})

const there = (...words: string[]) =>
  run(['domains', ...words], {env: {GATEWAY_URL: gateway.url, GATEWAY_API_KEY: ADMIN_KEY}})
const here = (...words: string[]) => run(['domains', ...words, '--data-dir', gateway.folder])

test('at a URL a domain is claimed, its record is printed, and verify looks for it', async () => {
  const made = await there('create', 'example.com')
  expect(made.code).toBe(0)
  const printed = made.stdout + made.stderr
  const [, name, value] = /^ {2}(\S+)\. TXT "(gateway-verification=[\da-f]{32})"$/m.exec(printed)!
  expect(name).toBe('_gateway-challenge.example.com')
  expect(printed).toContain('Then: gateway domains verify example.com')
  const early = await there('verify', 'example.com')
  expect(early.code).not.toBe(0)
  expect(early.stderr).toContain('is not in the DNS. Add a TXT record')
  records.set(name!, value!)
  expect(await there('verify', 'example.com')).toMatchObject({code: 0})
  const listed = await there('list')
  expect(listed.stdout).toMatch(/example\.com\s+verified\s+dns\s+20\d\d-\d\d-\d\d \d\d:\d\d/)
})

test('on the data directory the operator vouches, also for what was claimed; no name server hears of it', async () => {
  const looks = names.asked.length
  await there('create', 'claimed.example')
  expect(await here('verify', 'claimed.example')).toMatchObject({code: 0})
  expect(await here('create', 'own.example', '--verified')).toMatchObject({code: 0})
  expect((await here('list')).stdout).toMatch(/claimed\.example\s+verified\s+operator[\s\S]*own\.example\s+verified/)
  expect(names.asked).toHaveLength(looks)
  const {stdout} = await here('list', '--json')
  expect(JSON.parse(stdout).data.map(({verification}: {verification: unknown}) => verification)).toEqual([
    ...[null, null, null],
  ])
})

test('what does not go together, or not here, is refused with the way out', async () => {
  const cases: readonly (readonly [string[], RegExp])[] = [
    [['create', 'example.net', '--verified'], /This is done on the data directory/],
    [['verify', 'example.com', '--method', 'dns', '--code', 'BCDFG'], /are for --method mail/],
    [['verify', 'example.com', '--mail-to', 'admin@example.com', '--code', 'BCDFG'], /give one of them/],
    [['verify', 'nowhere.example'], /gateway domains list/],
  ]
  for (const [words, sentence] of cases) {
    const {code, stderr} = await there(...words)
    expect([code === 0, stderr]).toEqual([false, expect.stringMatching(sentence)])
  }
  await there('create', 'mail.example')
  const {code, stderr} = await there('verify', 'mail.example', '--method', 'mail')
  expect(code).not.toBe(0)
  expect(stderr).toContain('gateway domains verify mail.example on the data directory')
})
