import {expect, test} from 'vitest'
import {openJournal} from '../../../src/store/journal/index.ts'
import {
  asking,
  OWNER,
  openIds,
  readAll,
  SEGMENT_BYTES,
  START,
  segmentFiles,
  temporaryFolder,
  testJournal,
  until,
} from './support.ts'

test('the records of one turn go out in one write, and their callers are told in order, never inside the append', async () => {
  const {journal, folder, disk} = await testJournal()
  const told: string[] = []
  journal.appendIntent('call:1', '{"a":1}', () => told.push('intent'))
  journal.append('log_row', '{"b":2}', () => told.push('log'))
  journal.appendSettlement('call:1', Buffer.from('{"c":3}'), () => told.push('settlement'))
  expect(told).toEqual([])
  expect(disk.writes).toEqual([])
  await new Promise(resolve => setImmediate(resolve))
  expect(told).toEqual(['intent', 'log', 'settlement'])
  expect(disk.writes).toHaveLength(1)
  expect(readAll(folder)).toEqual({
    records: ['intent call:1 {"a":1}', 'log_row  {"b":2}', 'settlement call:1 {"c":3}'],
    warnings: [],
  })
})

test('a megabyte is written at once, and its callers are still told at the end of the turn, in order', async () => {
  const {journal, disk} = await testJournal({segment_bytes: 4 * 1024 * 1024})
  const told: number[] = []
  const appends = Array.from({length: 12}, (_, n) =>
    asking(journal)
      .log('x'.repeat(100_000))
      .then(() => told.push(n)),
  )
  expect(disk.writes).toEqual([11 * 100_010])
  expect(told).toEqual([])
  await Promise.all(appends)
  expect(disk.writes).toEqual([11 * 100_010, 100_010])
  expect(told).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
})

test('payloads of any text and size come back as they were', async () => {
  const {journal, folder} = await testJournal({segment_bytes: 12 * 1024 * 1024})
  const payloads = ['', 'é漢🙂'.repeat(1000), 'x'.repeat(300_000), '🙂'.repeat(400_000), 'y'.repeat(8 * 1024 * 1024)]
  expect(await Promise.all(payloads.map(payload => asking(journal).log(payload)))).toEqual(
    payloads.map(() => undefined),
  )
  expect(readAll(folder)).toEqual({records: payloads.map(payload => `log_row  ${payload}`), warnings: []})
})

test('a record that is too large, an intent that is open already and an append after the end are refused; the others are written', async () => {
  const {journal, folder} = await testJournal()
  const ask = asking(journal)
  const answers = await Promise.all([
    ask.intent('a'),
    ask.log(Buffer.alloc(8 * 1024 * 1024 + 1)),
    ask.intent('x'.repeat(256)),
    ask.intent('é'.repeat(128)),
    ask.intent('a'),
    ask.log('last'),
  ])
  expect(answers.map(error => error?.reason)).toEqual([
    undefined,
    'too_large',
    'too_large',
    'too_large',
    'duplicate',
    undefined,
  ])
  await journal.close()
  expect((await ask.log('late'))?.reason).toBe('closed')
  expect(readAll(folder).records).toEqual(['intent a a', 'log_row  last'])
})

test('a caller that throws does not keep the others from being told, and its fault is heard', async () => {
  const {journal} = await testJournal()
  const listeners = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException')
  const received = new Promise<Error>(resolve => process.once('uncaughtException', resolve))
  journal.append('other', '1', () => {
    throw new Error('a fault of the caller')
  })
  expect(await asking(journal).log('2')).toBeUndefined()
  expect((await received).message).toBe('a fault of the caller')
  for (const listener of listeners) process.on('uncaughtException', listener)
})

test('a full segment is sealed and the next, prepared before, goes on; the order of all records holds', async () => {
  const {journal, folder, events} = await testJournal()
  const payloads = Array.from({length: 200}, (_, n) => `${n} ${'x'.repeat(700)}`)
  for (const payload of payloads) expect(await asking(journal).log(payload)).toBeUndefined()
  expect(segmentFiles(folder).length).toBeGreaterThan(8)
  expect(readAll(folder)).toEqual({records: payloads.map(payload => `log_row  ${payload}`), warnings: []})
  expect(events).toEqual([])
})

test('a turn with more than a segment holds is written over several, each record once', async () => {
  const {journal, folder} = await testJournal()
  const payloads = Array.from({length: 100}, (_, n) => `${n} ${'x'.repeat(900)}`)
  const answers = await Promise.all(payloads.map(payload => asking(journal).log(payload)))
  expect(answers.every(answer => answer === undefined)).toBe(true)
  expect(readAll(folder)).toEqual({records: payloads.map(payload => `log_row  ${payload}`), warnings: []})
})

test('each start begins a segment behind the last, whatever was removed by hand, and clears prepared room of the one before', async () => {
  const folder = temporaryFolder()
  const first = await testJournal({folder})
  await asking(first.journal).log('one')
  await first.journal.close()
  const second = await testJournal({folder})
  await asking(second.journal).log('two')
  expect(segmentFiles(folder)).toEqual(['0000000000000001.seg', '0000000000000002.seg'])
  const third = await testJournal({folder, mark: {segment: 40, position: 64}})
  expect(third.journal.position()).toEqual({segment: 41, position: 64})
})

test('written records are synced in groups: one round after the wait, none when nothing was written', async () => {
  const {journal, disk, timers} = await testJournal({sync_ms: 100})
  await journal.sync()
  await until(() => timers.waits().length === 0)
  const before = disk.syncs
  await asking(journal).log('one')
  await asking(journal).log('two')
  expect(disk.syncs).toBe(before)
  expect(timers.waits()).toEqual([100])
  timers.fire(100)
  await until(() => disk.syncs === before + 1)
  await journal.sync()
  expect(timers.waits()).toEqual([])
  expect(disk.syncs).toBe(before + 1)
})

test('the flusher is told once a turn how far it may read', async () => {
  const marks: unknown[] = []
  const {journal} = await testJournal({onWritten: mark => marks.push(mark)})
  await Promise.all([asking(journal).log('12345'), asking(journal).log('67890')])
  await asking(journal).log('1')
  expect(marks).toEqual([
    {segment: 1, position: 64 + 2 * 15},
    {segment: 1, position: 64 + 2 * 15 + 11},
  ])
  expect(journal.position()).toEqual(marks[1])
})

test('an open intent is what the status counts, and it is found open by the next start', async () => {
  const {journal, folder} = await testJournal()
  const ask = asking(journal)
  await Promise.all([ask.intent('a:1'), ask.intent('b:1'), ask.settle('a:1')])
  expect(journal.status()).toMatchObject({accepting: true, open_intents: 1, segments: 1})
  expect(journal.status().free_bytes).toBeGreaterThan(SEGMENT_BYTES / 2)
  expect(openIds(folder)).toEqual(['b:1'])
})

test('a store id that is no UUID is refused before anything is made', async () => {
  const folder = temporaryFolder()
  const opening = openJournal({...OWNER, store_id: 'ABC', folder: `${folder}/journal`, mark: START, open: []})
  await expect(opening).rejects.toThrow('store_id: expected a lower-case UUID, got "ABC"')
})
