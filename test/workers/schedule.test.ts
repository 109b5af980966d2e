import {type ChildProcess, spawn} from 'node:child_process'
import {once} from 'node:events'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {sql} from 'kysely'
import {describe, expect, onTestFinished, test} from 'vitest'
import {createLog} from '../../src/base/log.ts'
import {listJobs} from '../../src/store/workers.ts'
import {type Job, type JobRun, startSchedule} from '../../src/workers/schedule.ts'
import {KINDS, testStore} from '../support/stores.ts'
import {Timers} from '../support/timers.ts'

const MINUTE_MS = 60_000
const NOON_MS = Date.parse('2026-03-04T12:00:00.000Z')

/** What the store's promises need to come to rest; SQLite answers at once. */
async function rest() {
  for (let turn = 0; turn < 20; turn++) await new Promise(resolve => setImmediate(resolve))
}

/** A database, a time of its own, and schedules of as many processes as wanted. */
async function setUp() {
  const database = await testStore('sqlite')
  onTestFinished(() => database.close())
  const {store} = database
  const timers = new Timers(NOON_MS + 1)
  const lines: {msg: string; fault?: unknown}[] = []
  const log = createLog('info', 'gateway', line => void lines.push(JSON.parse(line)))
  const process = (holder: string, ...jobs: Job[]) =>
    startSchedule({jobs, store, holder, log, now: timers.now, after: timers.after})
  const pass = (ms: number) => timers.pass(ms, rest)
  const rows = () => listJobs(store.db)
  return {store, timers, lines, process, pass, rows}
}

function noting(name: Job['name'], ran: string[], run: (turn: JobRun) => Promise<void> = async () => {}) {
  return (who: string): Job => ({
    name,
    every_ms: 5 * MINUTE_MS,
    async run(turn) {
      ran.push(`${who} ${new Date(turn.now_ms).toISOString().slice(11, 16)}`)
      await run(turn)
    },
  })
}

describe('jobs', () => {
  test('one of several processes does a job, once in each period', async () => {
    const {process, pass, rows} = await setUp()
    const ran: string[] = []
    const job = noting('alerts', ran)
    process('a', job('a'))
    process('b', job('b'))
    await pass(11 * MINUTE_MS)
    expect(ran.map(line => line.slice(2))).toEqual(['12:00', '12:05', '12:10'])
    expect(await rows()).toMatchObject([
      {
        name: 'alerts',
        process: '',
        runs: 3,
        failures: 0,
        error: null,
        lease_until_ms: null,
        due_at_ms: NOON_MS + 15 * MINUTE_MS,
      },
    ])
  })

  test('what each process does for itself is a row of each', async () => {
    const {process, pass, rows} = await setUp()
    const ran: string[] = []
    const job = noting('journal-flush', ran)
    process('a', {...job('a'), each_process: true})
    process('b', {...job('b'), each_process: true})
    await pass(MINUTE_MS)
    expect(ran.toSorted()).toEqual(['a 12:00', 'b 12:00'])
    expect((await rows()).map(row => [row.process, row.holder, row.runs])).toEqual([
      ['a', 'a', 1],
      ['b', 'b', 1],
    ])
  })

  test('a job that fails says why, and is done again in its next period', async () => {
    const {process, pass, rows, lines} = await setUp()
    const ran: string[] = []
    let fails = true
    const job = noting('mail', ran, async () => {
      if (fails) throw new Error('No route to the server; password=hunter2 at smtp://someone:hunter2@mail')
    })
    const schedule = process('a', job('a'))
    await pass(MINUTE_MS)
    expect(await rows()).toMatchObject([
      {runs: 1, failures: 1, error: expect.stringContaining('smtp://someone:***@mail')},
    ])
    expect(lines.map(({msg}) => msg)).toEqual(['a background job failed; it is tried again in its next period'])
    fails = false
    await pass(5 * MINUTE_MS)
    expect(await rows()).toMatchObject([{runs: 2, failures: 1, error: null}])
    expect(schedule.counts()).toEqual([
      {name: 'mail', runs: 2, failures: 1, succeeded_at_ms: expect.any(Number), duration_ms: 0},
    ])
  })

  test('a job that takes long keeps its lease; one whose process is silent goes to another', async () => {
    const {process, pass, timers, store} = await setUp()
    const ran: string[] = []
    const {promise, resolve: end} = Promise.withResolvers<void>()
    const slow = noting('budgets', ran, () => promise)
    process('a', slow('a'))
    await pass(3 * MINUTE_MS)
    process('b', noting('budgets', ran)('b'))
    await pass(3 * MINUTE_MS)
    expect(ran).toEqual(['a 12:00'])
    end()
    await pass(2 * MINUTE_MS)
    expect(ran[1]).toMatch(/^[ab] 12:0[67]$/)
    // as a process leaves it that was killed while it had the job
    await sql`update traffic.workers set holder = 'gone', lease_until_ms = ${timers.now() + MINUTE_MS}, due_at_ms = 0`.execute(
      store.db,
    )
    const before = ran.length
    await pass(MINUTE_MS - 100)
    expect(ran).toHaveLength(before)
    await pass(10 * MINUTE_MS)
    expect(ran.length).toBeGreaterThan(before)
  })

  test('a process that lost its lease is told, and does not write over the other', async () => {
    const {process, pass, store, lines, rows} = await setUp()
    const signals: AbortSignal[] = []
    process('a', {
      name: 'log-retention',
      every_ms: MINUTE_MS,
      run: ({lost}) => {
        signals.push(lost)
        return new Promise<void>(resolve => lost.addEventListener('abort', () => resolve()))
      },
    })
    await pass(1_000)
    await sql`update traffic.workers set holder = 'b'`.execute(store.db)
    await pass(30_000)
    expect(signals[0]!.aborted).toBe(true)
    expect(lines.map(({msg}) => msg)).toContain(
      'a background job took longer than its lease, and another process took it over',
    )
    expect(await rows()).toMatchObject([{holder: 'b', runs: 0}])
  })

  test('a close ends what runs, and starts nothing more', async () => {
    const {process, pass, rows} = await setUp()
    const ran: string[] = []
    const job = noting(
      'alerts',
      ran,
      ({lost}) => new Promise<void>(resolve => lost.addEventListener('abort', () => resolve())),
    )
    const schedule = process('a', job('a'))
    await pass(1_000)
    await schedule.close()
    await pass(60 * MINUTE_MS)
    expect(ran).toEqual(['a 12:00'])
    expect(await rows()).toMatchObject([{runs: 1, lease_until_ms: null}])
  })

  test('a process whose clock is a little behind does not do again what another has done', async () => {
    const {process, pass, timers, rows} = await setUp()
    const ran: string[] = []
    const ahead = process('a', noting('alerts', ran)('a'))
    await pass(1_000)
    await ahead.close()
    timers.now_ms = NOON_MS - 30_000
    process('b', noting('alerts', ran)('b'))
    await pass(MINUTE_MS)
    expect(ran).toEqual(['a 12:00'])
    expect(await rows()).toMatchObject([{holder: 'a', due_at_ms: NOON_MS + 5 * MINUTE_MS}])
  })

  test('what a wrong clock wrote holds nobody up', async () => {
    const {process, pass, timers} = await setUp()
    const ran: string[] = []
    const right_ms = timers.now_ms
    timers.now_ms = Date.parse('2036-01-01T00:00:00.000Z')
    const wrong = process('a', noting('alerts', ran)('a'))
    await pass(1_000)
    await wrong.close()
    timers.now_ms = right_ms
    process('b', noting('alerts', ran)('b'))
    await pass(MINUTE_MS)
    expect(ran).toEqual(['a 00:00', 'b 12:00'])
  })
})

describe.runIf(KINDS.includes('postgres'))('two processes on PostgreSQL', () => {
  async function processes() {
    const database = await testStore('postgres')
    const children: ChildProcess[] = []
    onTestFinished(async () => {
      for (const child of children) await kill(child)
      await database.close()
    })
    const {db} = database.store
    await sql`create table ran (name text not null, period bigint not null, holder text not null)`.execute(db)
    const {kind: _, ...options} = database.options
    const start = (holder: string, ...more: string[]) => {
      const argv = [join(import.meta.dirname, 'schedule-child.ts'), JSON.stringify(options), holder, ...more]
      const child = spawn(process.execPath, argv, {stdio: ['ignore', 'pipe', 'inherit']})
      children.push(child)
      return {child, lines: createInterface(child.stdout!)}
    }
    const ran = async () =>
      (await sql<{name: string; period: number; holder: string}>`select * from ran`.execute(db)).rows
    return {start, ran}
  }

  test('each job ran once in a period', async () => {
    const {start, ran} = await processes()
    const [one, other] = [start('one'), start('other')]
    await Promise.all([counted(one.lines, 20), counted(other.lines, 20)])
    await Promise.all([kill(one.child), kill(other.child)])
    const rows = await ran()
    const keys = rows.map(({name, period}) => `${name} ${period}`)
    expect(new Set(rows.map(({holder}) => holder))).toEqual(new Set(['one', 'other']))
    expect(new Set(keys).size).toBe(keys.length)
  })

  test('what one had when it was killed the other takes over', async () => {
    const {start, ran} = await processes()
    const one = start('one', 'hangs')
    await counted(one.lines, 2)
    await kill(one.child)
    const other = start('other')
    await counted(other.lines, 4)
    const holders = (await ran()).map(({name, holder}) => `${name} ${holder}`)
    expect(holders).toEqual(expect.arrayContaining(['alerts one', 'budgets one', 'alerts other', 'budgets other']))
  })
})

async function counted(lines: ReturnType<typeof createInterface>, most: number) {
  let seen = 0
  for await (const _ of lines) if (++seen >= most) return
  throw new Error(`The process ended after ${seen} lines.`)
}

async function kill(child: ChildProcess) {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}
