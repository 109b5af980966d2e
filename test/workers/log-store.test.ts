import {EventEmitter} from 'node:events'
import {Registry} from 'prom-client'
import {expect, test} from 'vitest'
import {type LogStoreParts, logStoreJobs} from '../../src/workers/log-store.ts'
import {logStoreMetrics} from '../../src/workers/log-store-metrics.ts'
import type {JobName} from '../../src/workers/schedule.ts'
import type {UploadReport} from '../../src/workers/upload-bodies.ts'
import {Uploader, type UploaderThread} from '../../src/workers/uploader.ts'

const DONE: UploadReport = {put: 2, put_bytes: 50, refused: [], fault: null, is_done: true}
const AWAY: UploadReport = {put: 0, put_bytes: 0, refused: [], fault: 'It is away.', is_done: false}
const DAY_MS = 86_400_000

function setUp(given: Partial<LogStoreParts> = {}) {
  const deeds: string[] = []
  const lines: string[] = []
  const made = {now_ms: 100 * DAY_MS, spool_bytes: 0, reports: [DONE] as UploadReport[]}
  const write = (level: string) => (facts: unknown, text?: string) =>
    void lines.push(`${level} ${text} ${JSON.stringify(facts)}`)
  const {jobs, counts} = logStoreJobs({
    uploader: {
      async upload(packs) {
        deeds.push(`upload ${packs}`)
        return made.reports.length > 1 ? made.reports.shift()! : made.reports[0]!
      },
      async remove(before_ms) {
        deeds.push(`remove ${before_ms / DAY_MS}`)
        return {removed: 3, kept: 1, fault: null, is_done: true}
      },
    },
    records: {
      flushed: async () => void deeds.push('flush'),
      async sealBodies() {
        deeds.push('seal')
        return [`pack-${deeds.length}`]
      },
      shutBodies: is_shut => void deeds.push(is_shut ? 'shut' : 'open'),
    },
    spool: {bytes: async () => made.spool_bytes},
    log: {info: write('info'), warn: write('warn'), error: write('error')} as LogStoreParts['log'],
    now: () => made.now_ms,
    body_days: 30,
    spool_max_mb: undefined,
    ...given,
  })
  const turn = (name: JobName, lost = new AbortController().signal) =>
    jobs.find(job => job.name === name)!.run({now_ms: made.now_ms, lost})
  return Object.assign(made, {deeds, lines, counts, turn})
}

test('what was recorded before is flushed and sealed, and then put, until nothing is left', async () => {
  const made = setUp()
  made.reports = [{...DONE, is_done: false}, DONE]
  await made.turn('log-upload')
  expect(made.deeds).toEqual(['flush', 'seal', 'upload pack-2', 'flush', 'seal', 'upload pack-5'])
  expect([made.counts.put, made.counts.put_bytes, made.lines]).toEqual([4, 100, []])
})

test('while the store is away no further files are begun, and it is told once in ten minutes', async () => {
  const made = setUp()
  made.reports = [AWAY]
  made.spool_bytes = 77
  for (let turn = 0; turn < 3; turn++) await made.turn('log-upload')
  expect(made.deeds).toEqual(['flush', 'seal', 'upload pack-2', 'upload pack-2', 'upload pack-2'])
  const line =
    'error the log store takes no bodies now; they wait here and nothing is lost {"reason":"It is away.","spool_bytes":77}'
  expect(made.lines).toEqual([line])
  expect([made.counts.is_available, made.counts.failures]).toEqual([false, 3])
  made.now_ms += 600_000
  await made.turn('log-upload')
  expect(made.lines).toEqual([line, line])
  made.reports = [DONE]
  await made.turn('log-upload')
  await made.turn('log-upload')
  expect(made.lines.slice(2)).toEqual(['info the log store takes bodies again {"put":2}'])
  expect(made.deeds.slice(-4)).toEqual(['upload pack-2', 'flush', 'seal', 'upload pack-9'])
})

test('bodies that the store does not take are told by their row', async () => {
  const made = setUp()
  made.reports = [{...DONE, refused: [{log_id: 'log-1', reason: 'Too long.'}]}]
  await made.turn('log-upload')
  expect(made.lines).toEqual([
    'error the log store does not take the bodies of a call; they stay here {"log_id":"log-1","reason":"Too long."}',
  ])
  expect(made.counts.refused).toBe(1)
})

test('objects go when bodies are past their time; those that stay are told of', async () => {
  const made = setUp()
  await made.turn('log-objects')
  expect([made.deeds, made.counts.removed]).toEqual([['remove 70'], 3])
  expect(made.lines[0]).toMatch(/^warn the log store did not remove objects that are past their time/)
})

test('nothing is dropped for want of room, but where the operator named a bound', async () => {
  const unbounded = setUp()
  unbounded.spool_bytes = 2 ** 50
  await unbounded.turn('log-spool')
  expect([unbounded.deeds, unbounded.lines, unbounded.counts.spool_bytes]).toEqual([['open'], [], 2 ** 50])
  const made = setUp({spool_max_mb: 2})
  for (const mb of [1, 2, 3, 1]) {
    made.spool_bytes = mb * 2 ** 20
    await made.turn('log-spool')
  }
  expect(made.deeds).toEqual(['open', 'shut', 'shut', 'open'])
  expect(made.lines.map(line => line.split(' {')[0])).toEqual([
    'error bodies that wait for the log store fill LOG_STORE_SPOOL_MAX_MB: bodies of new calls are dropped',
    'info there is room again for bodies that wait for the log store',
  ])
})

test('the end of the process is no failure of the job, all else is', async () => {
  let ended = new AbortController()
  const cutOff = async () => {
    ended.abort()
    throw new Error('closed')
  }
  const closing = setUp({uploader: {upload: cutOff, remove: cutOff}})
  for (const name of ['log-upload', 'log-objects'] as const) {
    ended = new AbortController()
    await closing.turn(name, ended.signal)
    await expect(closing.turn(name)).rejects.toThrow('closed')
  }
})

test('metrics say how it is', async () => {
  const registry = new Registry()
  const made = setUp()
  logStoreMetrics(registry, made.counts, () => 5)
  await made.turn('log-upload')
  const text = await registry.metrics()
  for (const line of [
    'put_total 2',
    'put_bytes_total 50',
    'failures_total 0',
    'dropped_total 5',
    'spool_bytes 0',
    'available 1',
  ])
    expect(text).toContain(`\ngateway_log_store_${line}\n`)
})

test('a thread that dies fails what was asked of it, and the next order starts another', async () => {
  const threads: (EventEmitter & {orders: unknown[]})[] = []
  const lines: unknown[] = []
  const start = () => {
    const thread = Object.assign(new EventEmitter(), {
      orders: [] as unknown[],
      postMessage(order: unknown) {
        thread.orders.push(order)
        if (threads.length === 2) thread.emit('message', {news: 'uploaded', report: DONE})
      },
      terminate: async () => 0,
    })
    threads.push(thread)
    return thread as unknown as UploaderThread
  }
  const uploader = new Uploader({start, log: {error: (...said: unknown[]) => void lines.push(said)} as never})
  const first = uploader.upload(['one'])
  const second = uploader.upload(['two'])
  await expect.poll(() => threads.length).toBe(1)
  threads[0]!.emit('message', {news: 'unreadable', path: 'a.pack'})
  threads[0]!.emit('error', new Error('out of memory'))
  threads[0]!.emit('exit')
  await expect(first).rejects.toThrow('The uploader ended before it had answered.')
  expect(await second).toEqual(DONE)
  expect(threads.map(({orders}) => orders)).toEqual([
    [{order: 'upload', packs: ['one']}],
    [{order: 'upload', packs: ['two']}],
  ])
  expect(lines.length).toBe(2)
  await uploader.close()
  await expect(uploader.remove(0)).rejects.toThrow('The uploader is closed.')
})
