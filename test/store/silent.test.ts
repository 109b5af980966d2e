import {expect, onTestFinished, test} from 'vitest'
import {StoreSilentFault, storeRefusal} from '../../src/base/store-fault.ts'
import {openPostgres, type Patience, type PostgresOptions} from '../../src/store/dialect/postgres.ts'
import {silentPostgres} from '../support/silent-postgres.ts'

const DEADLINE_MS = 80

async function opened(given: Partial<PostgresOptions> = {}, patience?: Patience) {
  const server = await silentPostgres()
  onTestFinished(() => server.close())
  const options = {connection: {connectionString: server.url}, pool_size: 2, query_timeout_ms: DEADLINE_MS, ...given}
  return {server, store: await openPostgres(options, patience)}
}

/** What came of `work`, and how long it took. */
async function timed(work: Promise<unknown>) {
  const started = performance.now()
  const fault = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  return {fault, took_ms: performance.now() - started}
}

const read = (store: Awaited<ReturnType<typeof openPostgres>>) => store.db.selectFrom('meta').selectAll().execute()

test('a statement that nobody answers is given up at its deadline, and its connection with it', async () => {
  const {server, store} = await opened()
  const {fault, took_ms} = await timed(read(store))
  expect(fault).toBeInstanceOf(StoreSilentFault)
  expect((fault as StoreSilentFault).reason).toBe(`no answer came within ${DEADLINE_MS} ms`)
  expect(took_ms).toBeLessThan(10 * DEADLINE_MS)
  await expect.poll(() => server.sockets.size).toBe(0)
  expect(store.givenUp()).toBe(1)
})

test('the next statement has another connection, and nothing is sent again', async () => {
  const {server, store} = await opened()
  await timed(read(store))
  expect(server.connections).toBe(1)
  await timed(read(store))
  expect(server.connections).toBe(2)
})

test('whoever waits for a connection that is busy waits no longer either', async () => {
  const {store} = await opened({pool_size: 1})
  const all = await Promise.all(Array.from({length: 4}, () => timed(read(store))))
  for (const {fault, took_ms} of all) {
    expect(fault).toBeInstanceOf(StoreSilentFault)
    expect(took_ms).toBeLessThan(10 * DEADLINE_MS)
  }
})

test('a transaction and what empties caches wait no longer', async () => {
  const {store} = await opened()
  const none = async () => undefined
  for (const work of [() => store.write(none), () => store.migrate(none), () => store.dataVersion()]) {
    const {fault, took_ms} = await timed(work())
    expect(fault).toBeInstanceOf(StoreSilentFault)
    expect(took_ms).toBeLessThan(10 * DEADLINE_MS)
  }
})

test('lists wait longer, but for the begin of a transaction', async () => {
  const {store} = await opened({list_timeout_ms: 4 * DEADLINE_MS}, 'lists')
  expect((await timed(read(store))).took_ms).toBeGreaterThan(3 * DEADLINE_MS)
  const begun = await timed(store.write(async () => undefined))
  expect((begun.fault as StoreSilentFault).reason).toBe(`no answer came within ${DEADLINE_MS} ms`)
})

test('a pool whose connections are dead is closed in time', async () => {
  const {server, store} = await opened()
  const asked = timed(read(store))
  await expect.poll(() => server.connections).toBe(1)
  const {took_ms} = await timed(store.close())
  expect(took_ms).toBeLessThan(10 * DEADLINE_MS)
  await asked
})

test('no server at all is told in words, without its address', async () => {
  const store = await openPostgres({
    connection: {connectionString: 'postgres://someone@127.0.0.1:1/test'},
    pool_size: 1,
  })
  const {fault} = await timed(read(store))
  expect(fault).toBeInstanceOf(StoreSilentFault)
  expect((fault as Error).message).toBe('PostgreSQL does not answer: nothing listens at its address.')
})

test('a store that is silent, and one that cannot be written, are 503 and say when to come again; any other error is none of both', () => {
  const silent = storeRefusal(new StoreSilentFault('PostgreSQL', 'no answer came within 5 ms'))!
  expect([silent.status, silent.code, silent.retry_after_s]).toEqual([503, 'store.silent', 2])
  const full = storeRefusal(Object.assign(new Error('database or disk is full'), {code: 'SQLITE_FULL'}))!
  expect([full.status, full.message]).toEqual([
    503,
    'The database cannot be written now: its disk is full. Nothing was changed.',
  ])
  expect(storeRefusal(Object.assign(new Error('write failed'), {code: 'SQLITE_IOERR_WRITE'}))?.code).toBe(
    'store.unwritable',
  )
  expect(storeRefusal(Object.assign(new Error('no such table'), {code: '42P01'}))).toBeUndefined()
  expect(storeRefusal(Object.assign(new Error('NUL'), {code: '22021'}))).toBeUndefined()
})
