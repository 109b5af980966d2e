import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {expect, onTestFinished, test} from 'vitest'
import {readRows} from '../../src/store/bodies/index.ts'
import {type FlushRecord, type FlushTarget, MarkMovedFault, type Slice} from '../../src/store/flush/index.ts'
import {type Journal, openJournal} from '../../src/store/journal/index.ts'
import {Flusher, type FlusherReport} from '../../src/workers/flusher.ts'
import {packedBodies} from '../support/bodies.ts'
import {intent, settlement} from '../support/records.ts'

const OWNER = {store_id: '0b6d4c6e-5f0a-4a53-9d5e-0f2f7a1c2b3d', epoch: 1}
const START = {segment: 0, position: 0}

const rowFault = () => Object.assign(new Error('datatype mismatch'), {code: 'SQLITE_CONSTRAINT_DATATYPE'})
const lost = () => Object.assign(new Error('terminating connection'), {code: '57P01'})

/** A database in memory that can be told to fail. */
function memoryTarget() {
  const memory = {
    mark: START,
    calls: [] as string[],
    logs: [] as string[],
    bodies: [] as string[],
    slices: [] as number[],
    /** What the next transactions throw; `heard` false: after they took effect. */
    faults: [] as ({fault: Error; received: boolean} | undefined)[],
    refuses: (_: FlushRecord) => false,
    /** Whether a slice is refused at the record that is wrong, as SQLite does it, or when all of it was read. */
    refuses_at_once: false,
  }
  const next = () => memory.faults.shift()
  const target: FlushTarget = {
    get db(): never {
      throw new Error('not here')
    },
    readMark: async () => memory.mark,
    async apply({from, records: each, end}: Slice) {
      const records: FlushRecord[] = []
      for (const record of each) {
        if (memory.refuses_at_once && memory.refuses(record)) throw rowFault()
        records.push(record)
      }
      const failure = next()
      if (failure?.received) throw failure.fault
      if (from.segment !== memory.mark.segment || from.position !== memory.mark.position)
        throw new MarkMovedFault('w', from, memory.mark)
      if (records.some(record => memory.refuses(record))) throw rowFault()
      memory.slices.push(records.length)
      for (const {entry, row} of records) {
        memory.calls.push(entry.call_id)
        if (row) memory.logs.push(entry.call_id)
      }
      memory.mark = end()
      if (failure) throw failure.fault
    },
    async keepBodies({bytes, rows}, onRefused) {
      const failure = next()
      if (failure && !failure.received) onRefused(failure.fault)
      else if (failure) throw failure.fault
      else memory.bodies.push(...readRows(Buffer.from(bytes), rows).map(row => row.log_id))
      return failure ? rows : 0
    },
    dropBodies: async () => false,
    sealBodies: async () => [],
    async checkpoint() {},
    async close() {},
  }
  return {memory, target}
}

async function setUp() {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-flusher-'))
  onTestFinished(() => rmSync(folder, {recursive: true, force: true}))
  const journal = await openJournal({folder, ...OWNER, mark: START, open: [], segment_bytes: 64 * 1024})
  onTestFinished(() => journal.close())
  const {memory, target} = memoryTarget()
  const reports: FlusherReport[] = []
  const aside: string[] = []
  const slept: number[] = []
  const flusher = new Flusher({
    target,
    folder,
    owner: OWNER,
    mark: START,
    report: report => reports.push(report),
    setAside: (id, payload) => aside.push(`${id} ${payload}`) > 0,
    sleep(ms) {
      slept.push(ms)
      return new Promise(resolve => setImmediate(resolve))
    },
  })
  return {journal, memory, flusher, reports, aside, slept}
}

/** Writes a settlement of each call; gives where the journal then ends. */
function record(journal: Journal, ...calls: string[]) {
  for (const call_id of calls) journal.append('log_row', JSON.stringify(settlement(intent({call_id}))), () => {})
  journal.flush()
  return journal.position()
}

test('what the journal holds is applied in order, slice by slice, and once', async () => {
  const {journal, memory, flusher} = await setUp()
  const calls = Array.from({length: 2100}, (_, n) => `call-${n}`)
  const end = record(journal, ...calls)
  expect(await flusher.flush(end)).toBe(2100)
  expect(await flusher.flush(end)).toBe(0)
  expect(await flusher.flush(START)).toBe(0)
  expect(memory.calls).toEqual(calls)
  expect(memory.slices.every(length => length <= 800)).toBe(true)
  expect(flusher.committed).toEqual(end)
  expect(memory.mark).toEqual(end)
})

test('intents alone move no mark until the journal goes on in another segment', async () => {
  const {journal, memory, flusher} = await setUp()
  const begin = (id: string) => journal.appendIntent(`${id}:1`, 'x'.repeat(30_000), () => {})
  begin('a')
  journal.flush()
  const {segment} = journal.position()
  await flusher.flush(journal.position())
  // the first segment is itself another one than none
  expect(memory.mark).toEqual({segment, position: expect.any(Number)})
  const first = memory.mark
  begin('b')
  journal.flush()
  await flusher.flush(journal.position())
  expect(memory.mark).toEqual(first)
  begin('c')
  journal.flush()
  await flusher.flush(journal.position())
  expect(memory.mark).toEqual(journal.position())
  expect(memory.mark.segment).toBe(segment + 1)
})

test('a database that is away is waited for, with a report once it lasts and another when it is back', async () => {
  const {journal, memory, flusher, reports, slept} = await setUp()
  const end = record(journal, 'a', 'b')
  memory.faults = Array.from({length: 12}, () => ({fault: lost(), received: true}))
  expect(await flusher.flush(end)).toBe(2)
  expect(memory.calls).toEqual(['a', 'b'])
  expect(slept).toEqual([10, 20, 40, 80, 160, 320, 640, 1280, 2000, 2000, 2000, 2000])
  expect(reports.map(({level}) => level)).toEqual(['error', 'info'])
})

test('a lock that is soon gone is not worth a line', async () => {
  const {journal, memory, flusher, reports} = await setUp()
  memory.faults = Array.from({length: 3}, () => ({
    fault: Object.assign(new Error('locked'), {code: 'SQLITE_BUSY'}),
    received: true,
  }))
  await flusher.flush(record(journal, 'a'))
  expect(memory.calls).toEqual(['a'])
  expect(reports).toEqual([])
})

test('a commit whose answer was lost is not applied again', async () => {
  const {journal, memory, flusher} = await setUp()
  memory.faults = [{fault: lost(), received: false}]
  await flusher.flush(record(journal, 'a'))
  await flusher.flush(record(journal, 'b'))
  expect(memory.calls).toEqual(['a', 'b'])
})

test('a mark that another hand moved stops the flush with a report, until it is put right', async () => {
  const {journal, memory, flusher, reports} = await setUp()
  await flusher.flush(record(journal, 'a'))
  const right = memory.mark
  memory.mark = {segment: 9, position: 9}
  const flush = flusher.flush(record(journal, 'b'))
  while (reports.length === 0) await new Promise(resolve => setImmediate(resolve))
  expect(reports[0]).toMatchObject({level: 'error', fault: expect.any(MarkMovedFault)})
  expect(memory.calls).toEqual(['a'])
  memory.mark = right
  await flush
  expect(memory.calls).toEqual(['a', 'b'])
})

test('a record that is no settlement is set aside once, and those around it are applied', async () => {
  const {journal, memory, flusher, reports, aside} = await setUp()
  record(journal, 'a')
  journal.append('log_row', '{"secret', () => {})
  journal.append('log_row', '[7]', () => {})
  journal.append('other', 'not ours', () => {})
  memory.faults = [{fault: lost(), received: true}]
  await flusher.flush(record(journal, 'b'))
  expect(memory.calls).toEqual(['a', 'b'])
  expect(aside).toEqual([' {"secret', ' [7]'])
  expect(reports.map(({level, text}) => `${level} ${text}`)).toEqual([
    'error A record of the journal cannot be entered as it is and was set aside: it is not JSON.',
    'error A record of the journal cannot be entered as it is and was set aside: call_id is not a text.',
  ])
})

test.each([true, false])(
  'a record that the database refuses is found; its money counts when only its row is wrong (at once: %s)',
  async at_once => {
    const {journal, memory, flusher, reports, aside} = await setUp()
    memory.refuses_at_once = at_once
    const calls = Array.from({length: 20}, (_, n) => `call-${n}`)
    memory.refuses = ({entry, row}) => entry.call_id === 'call-7' || (entry.call_id === 'call-13' && row !== null)
    const end = record(journal, ...calls)
    await flusher.flush(end)
    expect(flusher.committed).toEqual(end)
    expect(memory.calls).toEqual(calls.filter(call => call !== 'call-7'))
    expect(memory.logs).toEqual(calls.filter(call => call !== 'call-7' && call !== 'call-13'))
    expect(aside.map(line => line.split(':')[0])).toEqual(['call-7', 'call-13'])
    expect(reports.map(({facts}) => facts?.record)).toEqual(['call-7:1', 'call-13:1'])
  },
)

test.each([true, false])(
  'a lost answer among the halves of a slice that is refused, beside what cannot be read, counts once (at once: %s)',
  async at_once => {
    const {journal, memory, flusher, aside} = await setUp()
    memory.refuses_at_once = at_once
    memory.refuses = ({entry}) => entry.call_id === 'call-3'
    const calls = Array.from({length: 8}, (_, n) => `call-${n}`)
    record(journal, ...calls.slice(0, 4))
    journal.append('log_row', '{"secret', () => {})
    const end = record(journal, ...calls.slice(4))
    // the first slice is refused; the answer to its first half is lost
    memory.faults = [undefined, {fault: lost(), received: false}]
    await flusher.flush(end)
    expect(memory.calls).toEqual(calls.filter(call => call !== 'call-3'))
    expect(aside.map(line => line.split(' ')[0])).toEqual(at_once ? ['call-3:1', ''] : ['', 'call-3:1'])
    expect(flusher.committed).toEqual(end)
  },
)

test('a slice that ends with the journal, or at a record too many, leaves nothing behind', async () => {
  for (const count of [800, 801, 1600]) {
    const {journal, memory, flusher} = await setUp()
    const calls = Array.from({length: count}, (_, n) => `call-${n}`)
    const end = record(journal, ...calls)
    expect(await flusher.flush(end)).toBe(count)
    expect(memory.calls).toEqual(calls)
    expect(flusher.committed).toEqual(end)
  }
})

test('bodies are waited for like records; those that the database refuses are dropped and counted', async () => {
  const {memory, flusher, reports} = await setUp()
  const keep = (...ids: string[]) =>
    flusher.keepBodies(
      packedBodies(
        ids.map(log_id => ({log_id})),
        0,
      ),
    )
  memory.faults = [{fault: lost(), received: true}]
  expect(await keep('a')).toBe(0)
  memory.faults = [{fault: rowFault(), received: false}]
  expect(await keep('b', 'c')).toBe(2)
  expect(await keep('d')).toBe(0)
  expect(memory.bodies).toEqual(['a', 'd'])
  expect(reports.map(({text}) => text)).toEqual(['The bodies of some log rows could not be written and are dropped.'])
})
