import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {expect, onTestFinished, test} from 'vitest'
import {findInPacks, openPacks} from '../../../src/store/bodies/index.ts'
import {listPacks} from '../../../src/store/bodies/packs.ts'
import {packedBodies, type Row} from '../../support/bodies.ts'

const AT_MS = Date.parse('2026-03-04T23:59:00.000Z')
const CREATED_AT = new Date(AT_MS).toISOString()

function setUp(options: {most_bytes?: number; most_ms?: number} = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-packs-'))
  onTestFinished(() => rmSync(folder, {recursive: true, force: true}))
  const packs = openPacks(folder, options)
  onTestFinished(() => packs.close())
  const faults: unknown[] = []
  const append = (rows: readonly Row[], packed_ms = AT_MS) =>
    packs.append(packedBodies(rows, packed_ms), fault => faults.push(fault))
  const find = (id: string, last_byte_ms = 0) => findInPacks(folder, {id, created_at: CREATED_AT, last_byte_ms})
  return {folder, packs, faults, append, find}
}

const row = (log_id: string, bytes = 10): Row => ({log_id, request_body: Buffer.alloc(bytes, log_id), cut: bytes % 2})

test('every row is found again, in small batches and in compressed ones, and nothing else is', async () => {
  const {append, find} = setUp()
  expect(append([row('a'), row('b')])).toBe(0)
  append(
    Array.from({length: 300}, (_, n) => row(`c${n}`, 1000 + n)),
    AT_MS + 50,
  )
  append(
    [{log_id: 'z', response_body: Buffer.from([0, 255]), response_encoding: 'gzip', request_headers: '{"a":"ü"}'}],
    AT_MS + 100,
  )
  for (const [id, bytes] of [
    ['a', 10],
    ['b', 10],
    ['c0', 1000],
    ['c299', 1299],
  ] as const) {
    const found = await find(id)
    expect([found?.log_id, Buffer.from(found!.request_body!).equals(Buffer.alloc(bytes, id)), found?.cut]).toEqual([
      id,
      true,
      bytes % 2,
    ])
  }
  expect(await find('z')).toMatchObject({request_body: null, response_encoding: 'gzip', request_headers: '{"a":"ü"}'})
  expect(await find('c300')).toBeUndefined()
  expect(await find('')).toBeUndefined()
})

test('a call is looked for where it ended, not where it began, also past midnight and in a pack begun before', async () => {
  const {append, find, folder} = setUp({most_ms: 600_000})
  append([row('short')])
  append([row('long')], AT_MS + 300_000)
  append([row('longest')], AT_MS + 1_500_000)
  expect(readdirSync(folder).sort()).toEqual(['2026-03-04', '2026-03-05'])
  expect(await find('short')).toBeDefined()
  expect(await find('long')).toBeUndefined()
  expect(await find('long', 299_990)).toBeDefined()
  expect(await find('longest', 1_499_000)).toBeDefined()
})

test('a pack ends with its size or its age, and when the clock went back', () => {
  const {append, folder} = setUp({most_bytes: 500, most_ms: 1000})
  append([row('a', 600)])
  append([row('b')])
  append([row('c')], AT_MS + 999)
  append([row('d')], AT_MS + 1000)
  append([row('e')], AT_MS - 1)
  expect(listPacks(folder).map(({begun_ms}) => begun_ms - AT_MS)).toEqual([-1, 0, 0, 1000])
})

test('what a kill leaves behind is passed over, whatever it is; the next process begins a pack of its own', async () => {
  const {append, packs, find, folder} = setUp()
  append([row('a'), row('b')])
  append([row('c'), row('d')])
  packs.close()
  const [{path}] = listPacks(folder) as unknown as [{path: string}]
  const whole = readFileSync(path)
  for (let bytes = whole.length - 1; bytes >= 0; bytes--) {
    truncateSync(path, bytes)
    const found = await Promise.all(['a', 'b', 'c', 'd'].map(async id => (await find(id)) !== undefined))
    expect(found).toEqual(bytes >= whole.length / 2 ? [true, true, false, false] : [false, false, false, false])
  }
  writeFileSync(path, whole)
  appendFileSync(path, Buffer.alloc(100, 7))
  expect(await find('d')).toBeDefined()
  const next = openPacks(folder)
  next.append(packedBodies([row('e')], AT_MS), () => {})
  next.close()
  expect(listPacks(folder)).toHaveLength(2)
  expect(await find('e')).toBeDefined()
})

test('what is old goes by the pack and by the day; what was written to later stays', () => {
  const {append, packs, folder} = setUp({most_ms: 1000})
  append([row('a')])
  append([row('b')], AT_MS + 120_000)
  append([row('c')], AT_MS + 240_000)
  const days = 86_400_000
  const aged = (index: number, ms: number) => utimesSync(listPacks(folder)[index]!.path, ms / 1000, ms / 1000)
  aged(0, AT_MS)
  aged(1, AT_MS + 180_000)
  packs.deleteOlder(AT_MS + 150_000)
  expect(listPacks(folder).map(({begun_ms}) => begun_ms - AT_MS)).toEqual([120_000, 240_000])
  expect(readdirSync(folder)).toEqual(['2026-03-05'])
  packs.deleteOlder(AT_MS + days)
  expect(listPacks(folder)).toHaveLength(1) // the newest file was written just now
})

test('bodies that cannot be written are refused, said so, and the next ones go to a new pack', async () => {
  const {append, faults, find, folder} = setUp()
  append([row('a')])
  rmSync(folder, {recursive: true})
  writeFileSync(folder, 'not a folder')
  const batch = [row('b'), row('c')]
  expect(append(batch, AT_MS + 700_000)).toBe(2)
  expect(faults).toHaveLength(1)
  rmSync(folder)
  expect(append(batch, AT_MS + 1)).toBe(0)
  expect(await find('c')).toBeDefined()
  expect(statSync(listPacks(folder)[0]!.path).mode & 0o777).toBe(0o600)
})

test('a folder that is not there holds nothing', async () => {
  const {folder, find} = setUp()
  rmSync(folder, {recursive: true})
  expect(await find('a')).toBeUndefined()
  expect(listPacks(folder)).toEqual([])
})
