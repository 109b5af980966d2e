import {describe, expect, onTestFinished, test} from 'vitest'
import {after} from '../../../src/base/delay.ts'
import {createLog} from '../../../src/base/log.ts'
import {moveAuditMarks, rowsBehindSink} from '../../../src/store/audit-marks.ts'
import {startSchedule} from '../../../src/workers/schedule.ts'
import {KINDS} from '../../support/stores.ts'
import {readSyslog, type SyslogManners, startSyslog} from '../../support/syslog-server.ts'
import {Timers} from '../../support/timers.ts'
import {AT, recorded, senderFor, storeFor} from './support.ts'

const idsOf = (messages: readonly string[]) => messages.map(message => readSyslog(message).parameters.id)
const numbered = (count: number) => Array.from({length: count}, (_, at) => `row ${String(at).padStart(4, '0')}`)

describe.each(KINDS)('delivery of the audit log on %s', kind => {
  test('TL30 while a receiver is stopped writes continue, and all rows arrive after it in their order', async () => {
    const {store} = await storeFor(kind)
    const server = await startSyslog()
    const place = `syslog+tls://localhost:${server.port}`
    const {turn, counts, lines} = senderFor(store, place)
    await recorded(store, 'row before')
    await turn()
    await server.stop()
    for (const id of numbered(30)) await recorded(store, id)
    await turn()
    await turn()
    expect(counts).toMatchObject({rows: 1, failures: 2})
    // one warning a minute
    expect(lines.map(({msg}) => msg)).toEqual([
      'a place for the audit log does not take it; the rows wait and are sent again',
    ])
    expect(await rowsBehindSink(store.db, place)).toBe(30)
    await server.start()
    await turn()
    expect(idsOf(server.messages)).toEqual(['row before', ...numbered(30)])
    expect(await rowsBehindSink(store.db, place)).toBe(0)
  })

  test('TL30 of several processes one sends, and another continues where it was stopped', async () => {
    const {store, again} = await storeFor(kind)
    const server = await startSyslog()
    const place = `syslog+tls://localhost:${server.port}`
    for (const id of numbered(450)) await recorded(store, id)
    const log = createLog('silent', 'gateway', () => {})
    const timers = new Timers(Date.parse(AT))
    const wait = (ms: number, run: () => void) => (ms === 100 ? after(ms, run) : timers.after(ms, run))
    const open = async (holder: string) => {
      const own = await again()
      const {job, counts} = senderFor(own, place, {wait, now: timers.now})
      const schedule = startSchedule({jobs: [job], store: own, holder, log, now: timers.now, after: timers.after})
      onTestFinished(() => schedule.close())
      return {counts, schedule}
    }
    const [one, two] = [await open('one'), await open('two')]
    const rest = async () => {
      for (let at = 0; at < 4; at++) await new Promise(resolve => setTimeout(resolve, 5))
    }
    const sent = async (count: number) => {
      for (let at = 0; at < 100 && server.messages.length < count; at++) await timers.pass(1000, rest)
    }
    await sent(450)
    expect(idsOf(server.messages)).toEqual(numbered(450))
    const [holder, other] = one.counts.rows > 0 ? [one, two] : [two, one]
    // the receiver has the last rows before the mark is written
    await expect.poll(() => [holder.counts.rows, other.counts.rows], {timeout: 20_000}).toEqual([450, 0])
    const closed = holder.schedule.close()
    await timers.pass(6000, rest)
    await closed
    await recorded(store, 'row after')
    await sent(451)
    expect(idsOf(server.messages).slice(450)).toEqual(['row after'])
    await expect.poll(() => other.counts.rows, {timeout: 20_000}).toBe(1)
  })
})

test.each<SyslogManners>(['resets', 'closes'])(
  'TL30 a receiver that %s loses no row: the mark has not moved, and all are sent again',
  async manners => {
    for (const secure of [true, false]) {
      const {store} = await storeFor('sqlite')
      const server = await startSyslog({secure})
      const place = `syslog+${secure ? 'tls' : 'tcp'}://localhost:${server.port}`
      const {turn, counts, lines} = senderFor(store, place)
      for (const id of numbered(20)) await recorded(store, id)
      server.manners = manners
      await turn()
      expect(counts).toMatchObject({rows: 0, failures: 1})
      expect(lines[0]!.reason).toMatch(/closed|connection failed/)
      server.manners = 'takes'
      await turn()
      expect(idsOf(server.messages)).toEqual(numbered(20))
    }
  },
)

test.each<SyslogManners>(['deaf', 'stays'])(
  'TL30 a receiver that is %s is given up after 30 s, and has less to take the next time',
  async manners => {
    const {store} = await storeFor('sqlite')
    const server = await startSyslog({secure: false})
    const timers = new Timers(Date.parse(AT))
    const wait = (ms: number, run: () => void) => (ms === 100 ? after(ms, run) : timers.after(ms, run))
    const {turn, counts, lines} = senderFor(store, `syslog+tcp://127.0.0.1:${server.port}`, {wait, now: timers.now})
    for (const id of numbered(150)) await recorded(store, id)
    server.manners = manners
    const given_up = turn()
    await expect.poll(() => server.connections).toBe(1)
    await timers.pass(29_000, async () => undefined)
    expect(counts.failures).toBe(0)
    await timers.pass(1_000, async () => undefined)
    await given_up
    expect(counts).toMatchObject({rows: 0, failures: 1})
    expect(lines[0]!.reason).toBe('it did not take the lines within 30 s')
    server.manners = 'takes'
    await turn()
    expect(idsOf(server.messages)).toEqual(numbered(150))
    expect(server.connections).toBeGreaterThan(2)
  },
)

test('TL30 an end of the process between a delivery and its mark repeats rows and loses none', async () => {
  const {store} = await storeFor('sqlite')
  const server = await startSyslog()
  const {turn} = senderFor(store, `syslog+tls://localhost:${server.port}`)
  for (const id of numbered(3)) await recorded(store, id)
  const {write} = store
  store.write = async () => {
    throw new Error('the process ends here')
  }
  await expect(turn()).rejects.toThrow('the process ends here')
  store.write = write
  await recorded(store, 'row after')
  await turn()
  expect(idsOf(server.messages)).toEqual([...numbered(3), ...numbered(3), 'row after'])
  // a line that is sent again is the same line
  expect(server.messages.slice(3, 6)).toEqual(server.messages.slice(0, 3))
})

test('a mark never moves back: a process that lost its lease may come late', async () => {
  const {store} = await storeFor('sqlite')
  const mark = (sequence: number) => moveAuditMarks(store.db, 's', [{organisation_id: 'red', sequence, chain: 'c'}])
  await mark(7)
  await mark(5)
  expect(await store.db.selectFrom('audit_marks').selectAll().execute()).toMatchObject([{sequence: 7}])
})

test('a stop waits for no receiver', async () => {
  const {store} = await storeFor('sqlite')
  const server = await startSyslog()
  const {turn, stop, counts, lines} = senderFor(store, `syslog+tls://localhost:${server.port}`)
  await recorded(store, 'one')
  server.manners = 'stays'
  const running = turn()
  await expect.poll(() => server.seen.length).toBe(1)
  stop()
  await running
  expect(counts).toMatchObject({rows: 0, failures: 0})
  expect(lines).toEqual([])
})

test('a receiver whose certificate is of another authority gets nothing', async () => {
  const {store} = await storeFor('sqlite')
  const server = await startSyslog()
  const {rawConnector} = await import('../../../src/base/egress/raw.ts')
  const {syslogTarget} = await import('../../../src/workers/audit-sinks/index.ts')
  await recorded(store, 'one')
  const target = syslogTarget(rawConnector({hostname: 'localhost', port: server.port, secure: true}), after)
  await expect(target.deliver(['line'], new AbortController().signal)).rejects.toThrow(/not signed by an authority/)
  expect(server.seen).toEqual([])
})

test('no sink leads to a metadata service of a cloud', async () => {
  const {rawConnector} = await import('../../../src/base/egress/raw.ts')
  await expect(rawConnector({hostname: '169.254.169.254', port: 6514, secure: false})()).rejects.toThrow(/metadata/)
})
