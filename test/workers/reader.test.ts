import {EventEmitter} from 'node:events'
import {sql} from 'kysely'
import {describe, expect, test} from 'vitest'
import {StatementTimeoutFault} from '../../src/store/statement-timeout.ts'
import {openReads, ReaderClient} from '../../src/workers/reader.ts'
import type {ReaderOrder, ReaderTold} from '../../src/workers/reader-messages.ts'
import {insertLog} from '../support/logs.ts'
import {KINDS, testStore} from '../support/stores.ts'

const log = {error: () => undefined}

describe.each(KINDS)('reads on %s', kind => {
  test('see what is committed, refuse to write, and say what was wrong', async () => {
    const database = await testStore(kind)
    const reads = await openReads(database.options, log)
    try {
      await insertLog(database.store.db, {id: 'a'})
      expect(await reads.db.selectFrom('traffic.logs').select('id').execute()).toEqual([{id: 'a'}])
      if (kind === 'sqlite') await expect(reads.db.deleteFrom('traffic.logs').execute()).rejects.toThrow()
      await expect(sql`select no_such_column`.execute(reads.db)).rejects.toThrow()
      expect(await reads.db.selectFrom('traffic.logs').select('id').execute()).toEqual([{id: 'a'}])
    } finally {
      await reads.close()
      await database.close()
    }
  })
})

/** A thread that answers when it is told to. */
function fakeThreads() {
  const threads: (EventEmitter & {orders: ReaderOrder[]; ended: boolean; closing: boolean})[] = []
  const start = () => {
    const thread = Object.assign(new EventEmitter(), {
      orders: [] as ReaderOrder[],
      ended: false,
      closing: false,
      postMessage(told: ReaderTold) {
        if (told === 'close') thread.closing = true
        else thread.orders.push(told)
      },
      terminate: async () => {
        thread.ended = true
        thread.emit('exit')
        return 0
      },
    })
    threads.push(thread)
    return thread as never
  }
  const timers: (() => void)[] = []
  const after = (_: number, run: () => void) => {
    timers.push(run)
    return () => undefined
  }
  return {threads, timers, reader: new ReaderClient({start, after, log, most_ms: 30_000})}
}

const order = (sql: string): ReaderOrder => ({sql, parameters: []})

test('one statement is under way at a time; one that takes too long is given up with its thread, which the next waits for', async () => {
  const {threads, timers, reader} = fakeThreads()
  const [slow, next] = [reader.ask(order('slow')), reader.ask(order('next'))]
  expect(threads[0]!.orders.map(each => each.sql)).toEqual(['slow'])
  timers[0]!()
  await expect(slow).rejects.toBeInstanceOf(StatementTimeoutFault)
  expect([threads[0]!.ended, threads.length]).toEqual([true, 2])
  expect(threads[1]!.orders.map(each => each.sql)).toEqual(['next'])
  threads[1]!.emit('message', {rows: [1]})
  expect(await next).toEqual([1])
})

test('a statement that waits too long is given up alone; a thread that dies fails its own', async () => {
  const {threads, timers, reader} = fakeThreads()
  const [first, waiting, third] = [reader.ask(order('first')), reader.ask(order('waiting')), reader.ask(order('third'))]
  timers[1]!()
  await expect(waiting).rejects.toBeInstanceOf(StatementTimeoutFault)
  threads[0]!.emit('exit')
  await expect(first).rejects.toThrow('ended')
  threads[1]!.emit('message', {fault: {message: 'no such table', code: 'SQLITE_ERROR'}})
  await expect(third).rejects.toMatchObject({message: 'no such table', code: 'SQLITE_ERROR'})
  const closed = reader.close()
  await expect(reader.ask(order('late'))).rejects.toThrow('closed')
  expect([threads[1]!.closing, threads[1]!.ended]).toEqual([true, false])
  threads[1]!.emit('exit')
  await closed
})

test('a thread that does not end by itself is stopped', async () => {
  const {threads, timers, reader} = fakeThreads()
  const asked = reader.ask(order('endless'))
  const closed = reader.close()
  await expect(asked).rejects.toThrow('closed')
  timers.at(-1)!()
  await closed
  expect(threads[0]!.ended).toBe(true)
})
