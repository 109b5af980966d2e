import {afterAll, afterEach, beforeAll, describe, expect, test} from 'vitest'
import {faultOf} from '../../cli/fault.ts'
import {DataDirFault} from '../../src/store/data-dir.ts'
import {generated} from '../support/ring.ts'
import {DISK_STATES, type Disk, type DiskState, openDisk} from './outages/disk.ts'
import {changes, lists, READS} from './outages/probes.ts'
import {IN_TIME_MS, type OutageWorld, overFolder, type Reply} from './outages/world.ts'

/** Both kinds of data directory, with a disk that fails in each way, while everything is asked of the gateway. */

const {TEST_DATABASE_URL: database_url} = process.env
let cases = 0
afterAll(() => generated('disks', cases))

/** `served`: 200. `refused`: 503 with a time to come again. `either`: one of the two, in time. */
type Outcome = 'served' | 'refused' | 'either'

interface Expected {
  readonly call: Outcome
  readonly read: Outcome
  readonly change: Outcome
  readonly list: Outcome
  readonly readyz: readonly [status: number, says: string]
  /** What a start says that does not come up; null for one that does. */
  readonly start: RegExp | null
}

const WELL: Expected = {
  call: 'served',
  read: 'served',
  change: 'served',
  list: 'served',
  readyz: [200, '"status":"ok"'],
  start: null,
}

const EXPECTED: Readonly<Record<'sqlite' | 'postgres', Readonly<Record<DiskState, Expected>>>> = {
  sqlite: {
    full: {...WELL, change: 'refused', readyz: [200, 'its disk is full'], start: /disk is full/},
    'read-only': {
      ...WELL,
      call: 'refused',
      change: 'refused',
      readyz: [503, 'the journal cannot be written'],
      start: /read-only|only be read|may not write/,
    },
    slow: {...WELL, change: 'either', list: 'either', start: /kept the database busy|cannot be taken/},
    locked: {
      ...WELL,
      change: 'refused',
      list: 'refused',
      readyz: [200, 'another process holds it'],
      start: /kept the database busy/,
    },
  },
  postgres: {
    full: {...WELL, start: /disk is full/},
    'read-only': {
      ...WELL,
      call: 'refused',
      readyz: [503, 'the journal cannot be written'],
      start: /read-only|only be read|may not write/,
    },
    slow: WELL,
    locked: {...WELL, start: /another gateway serves from it/},
  },
}

/** What is served is so by the third request at the latest: on a machine that does much else, one may be late. */
async function isIn(ask: () => Promise<Reply>, outcome: Outcome, asked: string) {
  let reply = await ask()
  for (let tries = 1; outcome === 'served' && reply.status === 503 && tries < 3; tries++) reply = await ask()
  const {status, retry_after, text, took_ms} = reply
  cases++
  const served = [200, null]
  const refused = [503, '2']
  const allowed = {served: [served], refused: [refused], either: [served, refused]}[outcome]
  expect(allowed, `${asked}: ${text}`).toContainEqual([status, retry_after])
  expect(took_ms, asked).toBeLessThan(IN_TIME_MS)
  expect(text).not.toContain('inside the gateway')
}

/** What the operator reads of a start that failed. */
function sentenceOf(fault: unknown): string {
  if (fault instanceof DataDirFault) return fault.message
  const {code, message} = faultOf(fault)
  expect([code, message]).not.toContain('internal')
  return message
}

const comes = (status: number, ask: () => Promise<Reply>) => expect.poll(async () => (await ask()).status).toBe(status)

/** What came of `work`, which is over in time. */
async function inTime(work: Promise<unknown>): Promise<unknown> {
  const started = performance.now()
  const fault = await work.then(
    () => null,
    (error: unknown) => error,
  )
  cases++
  expect(performance.now() - started).toBeLessThan(2 * IN_TIME_MS)
  return fault
}

const KINDS = database_url ? (['sqlite', 'postgres'] as const) : (['sqlite'] as const)

describe.each(KINDS)('a data directory, on %s', kind => {
  let world: Omit<OutageWorld, 'line'>
  let disk: Disk
  beforeAll(async () => {
    world = await overFolder(kind === 'postgres' ? database_url : undefined)
    disk = openDisk(world.folder, {has_databases: kind === 'sqlite'})
  })
  afterEach(() => disk.become('well'))
  afterAll(async () => {
    await disk.restore()
    await world.close()
  })

  async function isAsExpected(expected: Expected, keys: readonly string[]) {
    for (const key of keys) await isIn(() => world.call(key), expected.call, 'a call')
    const {workspace_id} = world
    for (const path of READS) await isIn(() => world.get(path), expected.read, path)
    for (const path of lists(workspace_id)) await isIn(() => world.get(path), expected.list, path)
    for (const [path, body] of changes(workspace_id)) await isIn(() => world.post(path, body), expected.change, path)
    const [status, says] = expected.readyz
    await expect.poll(async () => (await world.get('/readyz')).text).toContain(says)
    const ready = await world.get('/readyz')
    expect([ready.status, ready.text]).toEqual([status, expect.stringContaining(says)])
    cases++
  }

  async function isWell(key: string) {
    await comes(200, () => world.call(key))
    await comes(200, () => world.post(...changes(world.workspace_id)[0]!))
    await expect.poll(async () => (await world.get('/readyz')).text).toBe('{"status":"ok"}')
    expect(await world.logged()).toBe(world.answered)
  }

  test.each(DISK_STATES)('%s: all answers come in time, and nothing is lost', {timeout: 60_000}, async state => {
    const expected = EXPECTED[kind][state]
    const keys = [await world.key(), await world.key(), await world.key()].map(({key}) => key)
    await world.know(keys[0]!)
    await disk.become(state)
    await isAsExpected(expected, keys)
    if (kind === 'sqlite') {
      if (expected.change === 'refused') expect(await world.metric('gateway_database_writable')).toBe(0)
      if (state === 'locked') expect(await world.metric('gateway_ledger_up_to_date')).toBe(0)
    }
    await disk.become('well')
    await isWell(keys[0]!)

    await disk.become(state)
    await isIn(() => world.call(keys[0]!), expected.call, 'a call')
    expect(await inTime(world.gateway.close())).toBeNull()
    if (kind === 'postgres' && state === 'locked') disk.lockFolder()
    const fault = await inTime(world.start().then(again => world.replace(again)))
    if (fault !== null) expect(sentenceOf(fault)).toMatch(expected.start ?? /^no start fails here$/)
    else if (kind === 'postgres') expect(state).not.toBe('locked')
    await disk.become('well')
    if (fault !== null) world.replace(await world.start())
    await isWell(keys[0]!)
  })
})
