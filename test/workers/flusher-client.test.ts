import {EventEmitter} from 'node:events'
import {expect, test} from 'vitest'
import {createLog} from '../../src/base/log.ts'
import {readRows} from '../../src/store/bodies/index.ts'
import {BodyQueue} from '../../src/workers/bodies.ts'
import {FlusherLink, type FlusherThread} from '../../src/workers/flusher-client.ts'
import type {FlusherOrder} from '../../src/workers/flusher-messages.ts'
import {logBodies} from '../support/records.ts'

const at = (position: number) => ({segment: 1, position})

/** A thread that does what the test says. */
class Thread extends EventEmitter {
  readonly orders: FlusherOrder[] = []
  postMessage(order: FlusherOrder) {
    this.orders.push(order)
  }
  async terminate() {
    this.emit('exit', 1)
    return 1
  }
  flushes(up_to: number, committed = up_to) {
    this.emit('message', {news: 'flushed', up_to: at(up_to), committed: at(committed)})
  }
  wants() {
    return this.orders.map(order => (order.order === 'flush' ? order.up_to.position : order.order))
  }
}

function setUp() {
  const threads: Thread[] = []
  const timers: {ms: number; run: () => void}[] = []
  const lines: string[] = []
  const committed: number[] = []
  const bodies = new BodyQueue(10_000_000)
  let now_ms = 0
  const link = new FlusherLink({
    start() {
      threads.push(new Thread())
      return threads.at(-1) as unknown as FlusherThread
    },
    mark: at(0),
    bodies,
    log: createLog('info', 'gateway', line => void lines.push(JSON.parse(line).msg)),
    now: () => now_ms,
    after(ms, run) {
      const timer = {ms, run}
      timers.push(timer)
      return () => void timers.splice(timers.indexOf(timer) >>> 0, 1)
    },
    onCommitted: mark => committed.push(mark.position),
  })
  const tick = (ms: number) => {
    now_ms += ms
    for (const timer of timers.splice(0)) timer.run()
  }
  return {link, bodies, threads, timers, lines, committed, tick}
}

test('what is written is gathered for 50 ms, and one order is under way at a time', () => {
  const {link, threads, timers, committed, tick} = setUp()
  const [thread] = threads as [Thread]
  link.written(at(10))
  link.written(at(20))
  expect(timers.map(({ms}) => ms)).toEqual([50])
  expect(thread.wants()).toEqual([])
  tick(50)
  expect(thread.wants()).toEqual([20])
  link.written(at(30))
  tick(50)
  expect(thread.wants()).toEqual([20])
  expect(link.lag_ms).toBe(100)
  thread.flushes(20)
  tick(50)
  expect(thread.wants()).toEqual([20, 30])
  thread.flushes(30, 25)
  expect(link.lag_ms).toBe(0)
  expect(committed).toEqual([20, 25])
})

test('whoever waits for the database waits no longer than told, hears what hinders it, and the others wait on', async () => {
  const {link, threads, tick} = setUp()
  const [thread] = threads as [Thread]
  const short = link.flush(at(10), 200)
  let is_done = false
  const long = link.flush(at(10)).then(() => {
    is_done = true
  })
  const fault = {name: 'SqliteError', message: 'database is locked', code: 'SQLITE_BUSY'}
  thread.emit('message', {news: 'report', report: {level: 'error', text: 'It is tried again.', fault}})
  tick(200)
  await expect(short).rejects.toMatchObject({name: 'StoreSilentFault', reason: 'another process holds it'})
  expect(is_done).toBe(false)
  thread.flushes(10)
  await long
})

test('while much comes it is gathered for 250 ms, and for 50 again once nothing did', () => {
  const {link, threads, timers, tick} = setUp()
  const [thread] = threads as [Thread]
  const much = 300_000
  link.written(at(much))
  tick(50)
  link.written(at(2 * much))
  expect(timers.map(({ms}) => ms)).toEqual([250])
  thread.flushes(much)
  tick(250)
  expect(thread.wants()).toEqual([much, 2 * much])
  thread.flushes(2 * much)
  link.written(at(2 * much + 10))
  expect(timers.map(({ms}) => ms)).toEqual([50])
})

test('what came during a flush that took longer than a tick goes out at its end', () => {
  const {link, threads, timers, tick} = setUp()
  const [thread] = threads as [Thread]
  link.written(at(10))
  tick(50)
  link.written(at(20))
  tick(100)
  link.written(at(30))
  expect(timers.map(({ms}) => ms)).toEqual([50])
  thread.flushes(10)
  expect(timers.map(({ms}) => ms)).toEqual([0])
  tick(0)
  expect(thread.wants()).toEqual([10, 30])
})

test('calls that outrun the writer are to be refused until it has caught up, and the log says so once each', () => {
  const {link, threads, lines, tick} = setUp()
  const [thread] = threads as [Thread]
  const MB = 1024 * 1024
  let [flushed, written] = [0, MB]
  const turn = (bytes: number) => {
    link.written(at(written))
    tick(1000)
    flushed = written
    written += bytes
    link.written(at(written))
    thread.flushes(flushed)
    return link.is_outrun
  }
  expect([20, 40, 80, 90, 1].map(mb => turn(mb * MB))).toEqual([false, false, true, true, false])
  expect(link.waiting_bytes).toBe(MB)
  expect(lines).toEqual([
    'calls come faster than the ledger takes them; new ones are refused',
    'the ledger keeps up with calls again; all are taken',
  ])
  for (const mb of [40, 80]) turn(mb * MB)
  expect(link.is_outrun).toBe(true)
  const fault = {name: 'SqliteError', message: 'database is locked', code: 'SQLITE_BUSY'}
  thread.emit('message', {news: 'report', report: {level: 'error', text: 'It is tried again.', fault}})
  expect(link.is_outrun).toBe(false)
})

test('a flush that is waited for goes out at once, and waits for the bodies too', async () => {
  const {link, bodies, threads} = setUp()
  const [thread] = threads as [Thread]
  bodies.add(logBodies('a'), '2026-03-04T05:06:07.008Z')
  let done = false
  const flushed = link.flush(at(10)).then(() => {
    done = true
  })
  expect(thread.wants()).toEqual([10, 'bodies'])
  thread.flushes(10)
  await Promise.resolve()
  expect(done).toBe(false)
  const {bytes, weight_bytes, rows} = thread.orders[1] as Extract<FlusherOrder, {order: 'bodies'}>
  thread.emit('message', {news: 'bodies', bytes, weight_bytes, rows, refused: 0})
  await flushed
  expect(bodies.weight_bytes).toBe(0)
})

test('a thread that dies is started again and asked for the rest; bodies it held are counted as dropped', async () => {
  const {link, bodies, threads, lines, tick} = setUp()
  bodies.add(logBodies('a'), '2026-03-04T05:06:07.008Z')
  const flushed = link.flush(at(10))
  threads[0]!.emit('error', new Error('out of memory'))
  threads[0]!.emit('exit', 1)
  expect(bodies).toMatchObject({dropped: 1, weight_bytes: 0})
  tick(1000)
  expect(threads).toHaveLength(2)
  expect(threads[1]!.wants()).toEqual([10])
  threads[1]!.flushes(10)
  await flushed
  expect(lines).toEqual([
    'the flusher failed',
    'the flusher ended and is started again; the journal keeps what it had not written',
  ])
})

test('bodies come out of the packing as they went in', () => {
  const queue = new BodyQueue(1_000_000)
  const both = [
    logBodies('a', {request_body: null, response_body: Buffer.alloc(0), response_encoding: 'gzip'}),
    logBodies('b', {request_body: Buffer.from([1, 2]), response_body: Buffer.from([3]), cut: true}),
  ]
  for (const bodies of both) queue.add(bodies, '2026-03-04T05:06:07.008Z')
  const {bytes, rows: count} = queue.pack(0)!
  const rows = readRows(Buffer.from(bytes), count)
  expect(rows).toEqual(
    both.map(bodies => ({
      ...bodies,
      created_at: '2026-03-04T05:06:07.008Z',
      request_headers: JSON.stringify(bodies.request_headers),
      response_headers: JSON.stringify(bodies.response_headers),
      cut: bodies.cut ? 1 : 0,
    })),
  )
  expect(queue.isEmpty).toBe(true)
  queue.blocks.giveBack(bytes)
  queue.add(logBodies('c'), '2026-03-04T05:06:07.008Z')
  const again = queue.pack(0)!
  expect(again.bytes).toBe(bytes)
  expect(readRows(Buffer.from(again.bytes), again.rows)).toMatchObject([{log_id: logBodies('c').log_id}])
})

test('a whole block goes out at once; a row larger than a block has one of its own', () => {
  const {link, bodies, threads} = setUp()
  const row = (log_id: string, bytes: number) => {
    bodies.add(logBodies(log_id, {request_body: Buffer.alloc(bytes)}), '2026-03-04T05:06:07.008Z')
    link.bodiesWait()
  }
  const [thread] = threads as [Thread]
  row('a', 300_000)
  expect(thread.wants()).toEqual([])
  row('b', 300_000)
  row('c', 5_000_000)
  row('d', 10)
  const blocks = thread.orders.filter(order => order.order === 'bodies')
  expect(blocks.map(({bytes, rows}) => readRows(Buffer.from(bytes), rows).map(({log_id}) => log_id))).toEqual([
    ['a'],
    ['b'],
    ['c'],
    ['d'],
  ])
  expect(blocks.every(({used_bytes, bytes}) => used_bytes <= bytes.byteLength)).toBe(true)
})

test('a close waits for the order under way and orders what is behind it, before the thread is told to end', async () => {
  const {link, threads, lines, tick} = setUp()
  const [thread] = threads as [Thread]
  link.written(at(10))
  tick(50)
  link.written(at(20))
  const closed = link.close(at(20), 10_000)
  expect(thread.wants()).toEqual([10])
  thread.flushes(10)
  expect(thread.wants()).toEqual([10, 20])
  thread.flushes(20)
  await expect.poll(() => thread.wants()).toEqual([10, 20, 'close'])
  thread.emit('exit', 0)
  await closed
  expect(lines).toEqual([])
})

test('retention is one turn at a time, and fails when its thread ends', async () => {
  const {link, threads} = setUp()
  const turns = [link.retain(), link.retain()]
  expect(threads[0]!.wants()).toEqual(['retain'])
  threads[0]!.emit('message', {news: 'retained', done: false})
  expect(await Promise.all(turns)).toEqual([false, false])
  const refused = link.retain()
  threads[0]!.emit('message', {news: 'retained', done: false, fault: new Error('the disk is full')})
  await expect(refused).rejects.toThrow('the disk is full')
  const cut_off = link.retain()
  threads[0]!.emit('exit', 1)
  await expect(cut_off).rejects.toThrow('has ended')
  await expect(link.retain()).rejects.toThrow('not there')
})

test('under load no block is let go; after it, those that were not needed for a while', () => {
  const {link, bodies, threads, timers, tick} = setUp()
  const [thread] = threads as [Thread]
  const blocks = () => thread.orders.flatMap(order => (order.order === 'bodies' ? [order] : []))
  const burst = (rows: number) => {
    thread.orders.length = 0
    for (let row = 0; row < rows; row++) {
      bodies.add(logBodies(`row-${row}`, {request_body: Buffer.alloc(300_000)}), '2026-03-04T05:06:07.008Z')
      link.bodiesWait()
    }
    tick(50)
    const sent = blocks()
    for (const {bytes, weight_bytes, rows} of sent)
      thread.emit('message', {news: 'bodies', bytes, weight_bytes, rows, refused: 0})
    return new Set(sent.map(({bytes}) => bytes))
  }
  const first = burst(20)
  expect(first.size).toBe(20)
  const kept = () => [...burst(20)].filter(bytes => first.has(bytes)).length
  for (let n = 0; n < 5; n++) expect(kept()).toBe(20)
  expect(timers.map(({ms}) => ms)).toEqual([25_000])
  tick(25_000)
  expect(kept()).toBe(20)
  tick(25_000)
  tick(25_000)
  expect(timers).toEqual([])
  expect(kept()).toBe(4)
})
