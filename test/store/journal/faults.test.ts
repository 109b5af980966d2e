import {readdirSync, readFileSync, rmSync} from 'node:fs'
import {join} from 'node:path'
import {expect, test} from 'vitest'
import {recover} from '../../../src/store/journal/index.ts'
import {
  asking,
  faultyFiles,
  handTimers,
  OWNER,
  openIds,
  readAll,
  SETTLEMENT_BYTES,
  START,
  segmentFiles,
  testJournal,
  until,
} from './support.ts'

const failing = (code: string) => Object.assign(new Error(`${code}: injected`), {code})

test.each([
  ['a write cut short', 20],
  ['a write cut short at the end of a record', 2 * 11],
  ['a write of nothing', 0],
  ['a write that throws', failing('EIO')],
])('%s seals the segment; the whole turn is written to the next, each record once', async (_, fault) => {
  const {journal, folder, disk, events} = await testJournal()
  const ask = asking(journal)
  expect(await ask.log('0')).toBeUndefined()
  disk.faults.push(fault)
  const answers = await Promise.all([ask.log('1'), ask.log('2'), ask.intent('a:1'), ask.log('3')])
  expect(answers).toEqual([undefined, undefined, undefined, undefined])
  expect(await ask.log('4')).toBeUndefined()
  expect(segmentFiles(folder)).toHaveLength(2)
  const records = ['log_row  0', 'log_row  1', 'log_row  2', 'intent a:1 a:1', 'log_row  3', 'log_row  4']
  expect(readAll(folder)).toEqual({records, warnings: []})
  expect(events.map(({code, segment}) => `${code} ${segment}`)).toEqual(['write_failed 1'])
})

test('what a failed write left behind does not count even where it could not be wiped: the next segment says where the data ends', async () => {
  const {files, disk} = faultyFiles()
  const stubborn: typeof files = {
    ...files,
    writeSync(fd, from, offset, length, position) {
      if (length < 100 && from.length === 1024 * 1024) throw failing('EIO') // the wipe
      return files.writeSync(fd, from, offset, length, position)
    },
  }
  const {journal, folder} = await testJournal({files: stubborn})
  await asking(journal).log('0')
  disk.faults.push(2 * 11)
  await Promise.all(['1', '2', '3'].map(payload => asking(journal).log(payload)))
  expect(readFileSync(join(folder, segmentFiles(folder)[0]!)).includes('2')).toBe(true)
  expect(readAll(folder)).toEqual({records: ['0', '1', '2', '3'].map(payload => `log_row  ${payload}`), warnings: []})
})

test('when the second segment fails too, every caller of the turn is told, nothing of it is open or readable, and the next turn goes on', async () => {
  const {journal, folder, disk, events} = await testJournal()
  const ask = asking(journal)
  await Promise.all([ask.intent('old:1'), ask.intent('older:1')])
  disk.faults.push(30, failing('EIO'))
  const answers = await Promise.all([ask.settle('old:1'), ask.intent('new:1'), ask.settle('new:1'), ask.log('x')])
  expect(answers.map(error => error?.reason)).toEqual(['fault', 'fault', 'fault', 'fault'])
  expect(answers[0]?.cause).toMatchObject({code: 'EIO'})
  expect(journal.status().open_intents).toBe(2)
  expect(openIds(folder)).toEqual(['old:1', 'older:1'])
  expect(await ask.settle('old:1')).toBeUndefined()
  expect(openIds(folder)).toEqual(['older:1'])
  expect(readAll(folder).records).toEqual(['intent old:1 old:1', 'intent older:1 older:1', 'settlement old:1 old:1'])
  expect(events.map(({code}) => code)).toEqual(['write_failed', 'write_failed'])
})

test('on a full disk new intents are refused while every open one settles, at its full size', async () => {
  const {journal, folder, disk, events} = await testJournal()
  const ask = asking(journal)
  await disk.fill()
  const admitted: string[] = []
  let refused = 0
  for (let n = 0; refused < 5; n++) {
    const error = await ask.intent(`call-${n}:1`, 'x'.repeat(200))
    if (error) refused++
    else admitted.push(`call-${n}:1`)
    if (error) expect(error.reason).toBe('full')
  }
  expect(admitted.length).toBeGreaterThan(10)
  expect(journal.status().accepting).toBe(false)
  expect((await ask.log('x'.repeat(2 * SETTLEMENT_BYTES)))?.reason).toBe('full')
  const settled = await Promise.all(admitted.map(id => ask.settle(id, 'y'.repeat(SETTLEMENT_BYTES - id.length))))
  expect(settled.every(error => error === undefined)).toBe(true)
  expect(openIds(folder)).toEqual([])
  expect(readAll(folder).records).toHaveLength(2 * admitted.length)
  expect(events.map(({code}) => code)).toEqual(['no_room'])
})

test('a settlement larger than what was kept for it is refused rather than taking the room of others, and may come again smaller', async () => {
  const {journal, disk} = await testJournal()
  const ask = asking(journal)
  await disk.fill()
  const admitted: string[] = []
  for (let n = 0; !(await ask.intent(`${n}:1`)); n++) admitted.push(`${n}:1`)
  expect((await ask.settle('0:1', 'y'.repeat(4 * SETTLEMENT_BYTES)))?.reason).toBe('full')
  expect(await ask.settle('0:1', 'y'.repeat(100))).toBeUndefined()
  expect(journal.status().open_intents).toBe(admitted.length - 1)
})

test('when the disk has room again the journal finds it by itself', async () => {
  const {journal, disk, events, timers} = await testJournal({retry_ms: 1000})
  const ask = asking(journal)
  await disk.fill()
  for (let n = 0; !(await ask.intent(`${n}:1`, 'x'.repeat(300))); n++);
  timers.fire(1000)
  await until(() => timers.waits().includes(1000))
  expect(journal.status().accepting).toBe(false)
  disk.full = false
  timers.fire(1000)
  await until(() => journal.status().accepting)
  expect(await ask.intent('again:1')).toBeUndefined()
  expect(events.map(({code}) => code)).toEqual(['no_room', 'room'])
})

test('a disk with less than the headroom free counts as full: the databases need the rest', async () => {
  const {files, disk} = faultyFiles()
  let free_bytes = 1_000_000
  const {journal, events} = await testJournal({headroom_bytes: 500_000, files: {...files, freeBytes: () => free_bytes}})
  await until(() => disk.pending === 0) // what was asked for while there was room is had
  free_bytes = 510_000
  while (!(await asking(journal).log('x'.repeat(1000))));
  expect(events.map(({code}) => code)).toEqual(['no_room'])
  expect(String(events[0]?.cause)).toContain('the disk has 510000 bytes free')
})

test('a journal opened on a full disk refuses appends, and takes them once there is room', async () => {
  const {files, disk} = faultyFiles()
  const timers = handTimers()
  disk.full = true
  const {journal, folder} = await testJournal({files, after: timers.after, retry_ms: 1000})
  const ask = asking(journal)
  expect((await ask.intent('a:1'))?.reason).toBe('full')
  expect(journal.position()).toEqual({segment: 1, position: 0})
  disk.full = false
  timers.fire(1000)
  await until(() => journal.status().accepting)
  expect(await ask.intent('a:1')).toBeUndefined()
  expect(readAll(folder).records).toEqual(['intent a:1 a:1'])
})

test('a turn that finds no segment prepared reserves one at once', async () => {
  const {files} = faultyFiles()
  const gate = Promise.withResolvers<void>()
  let slices = 0
  const write: typeof files.write = async (...of) => {
    if (slices++ > 0) await gate.promise // the first segment is prepared, the next one takes its time
    return files.write(...of)
  }
  const {journal, folder, events} = await testJournal({files: {...files, write}})
  const payloads = Array.from({length: 60}, (_, n) => `${n} ${'x'.repeat(900)}`)
  for (const payload of payloads) expect(await asking(journal).log(payload)).toBeUndefined()
  gate.resolve()
  expect(journal.position().segment).toBeGreaterThan(3)
  expect(readAll(folder).records).toEqual(payloads.map(payload => `log_row  ${payload}`))
  expect(events).toEqual([])
})

test('more intents are open than a segment has room for: the room grows with them', async () => {
  const {journal, folder} = await testJournal()
  const ask = asking(journal)
  const ids = Array.from({length: 300}, (_, n) => `${n}:1`)
  for (const id of ids) expect(await ask.intent(id)).toBeUndefined()
  expect(journal.status().free_bytes).toBeGreaterThanOrEqual(300 * SETTLEMENT_BYTES)
  expect((await Promise.all(ids.map(id => ask.settle(id, 'y'.repeat(400))))).every(error => error === undefined)).toBe(
    true,
  )
  await journal.close()
  expect(openIds(folder)).toEqual([])
  expect(readdirSync(folder)).toEqual(segmentFiles(folder))
})

test('a spare that cannot become a segment is given back and another is taken', async () => {
  const {files} = faultyFiles()
  let renames = 0
  const renameSync = (from: string, to: string) => {
    if (++renames === 2) throw failing('EIO')
    files.renameSync(from, to)
  }
  const {journal, folder, events} = await testJournal({files: {...files, renameSync}})
  const payloads = Array.from({length: 40}, (_, n) => `${n} ${'x'.repeat(900)}`)
  for (const payload of payloads) expect(await asking(journal).log(payload)).toBeUndefined()
  expect(readAll(folder)).toEqual({records: payloads.map(payload => `log_row  ${payload}`), warnings: []})
  expect(events.map(({code}) => code)).toEqual(['segment_failed'])
})

test('after a sync that failed the journal goes on in another segment, and says so', async () => {
  const {journal, folder, disk, events} = await testJournal()
  await journal.sync()
  await until(() => journal.status().free_bytes > 16 * 1024)
  await asking(journal).log('before')
  disk.syncFaults.push(failing('EIO'))
  await expect(journal.sync()).rejects.toThrow('EIO')
  expect(events.map(({code, segment}) => `${code} ${segment}`)).toEqual(['sync_failed 1'])
  await asking(journal).log('after')
  expect(journal.position().segment).toBe(2)
  expect(readAll(folder)).toEqual({records: ['log_row  before', 'log_row  after'], warnings: []})
})

test('a journal that was closed says so to the next start; one that was not does not', async () => {
  const {journal, folder} = await testJournal()
  await asking(journal).log('x')
  expect(recover({folder, ...OWNER, mark: START}).closed).toBe(false)
  await journal.close()
  expect(recover({folder, ...OWNER, mark: START})).toMatchObject({closed: true, pending: 1, warnings: [], open: []})
})

test('a segment that is removed while the disk is full takes settlements, refuses intents, and is whole once there is room', async () => {
  const {journal, folder, disk, timers, events} = await testJournal()
  const ask = asking(journal)
  for (const id of ['a:1', 'b:1']) await ask.intent(id)
  await disk.fill()
  for (const name of readdirSync(folder)) rmSync(join(folder, name), {force: true})
  journal.check()
  expect(journal.status()).toMatchObject({accepting: false, files_removed: 1})
  expect(await ask.settle('a:1')).toBeUndefined()
  expect((await ask.intent('c:1'))?.reason).toBe('fault')
  journal.check()
  expect(readAll(folder).records).toEqual([])
  disk.full = false
  timers.fire(1000)
  journal.check()
  expect(await ask.settle('b:1')).toBeUndefined()
  expect(await ask.intent('d:1')).toBeUndefined()
  expect(readAll(folder)).toEqual({
    records: ['intent a:1 a:1', 'intent b:1 b:1', 'settlement a:1 a:1', 'settlement b:1 b:1', 'intent d:1 d:1'],
    warnings: [],
  })
  expect(journal.status()).toMatchObject({accepting: true, files_removed: 1})
  expect(events.map(({code}) => code).filter(code => code === 'removed' || code === 'restored')).toEqual([
    'removed',
    'restored',
  ])
})

test('a segment that is removed and filled before anybody looks is written anew when the next begins', async () => {
  const {journal, folder} = await testJournal({segment_bytes: 4096, settlement_bytes: 64})
  await asking(journal).log(`0 ${'x'.repeat(990)}`)
  rmSync(join(folder, segmentFiles(folder).at(-1)!))
  for (let n = 1; n < 9; n++) await asking(journal).log(`${n} ${'x'.repeat(990)}`)
  journal.check()
  const {records, warnings} = readAll(folder)
  expect(records.map(record => record.split(' ')[2])).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8'])
  expect(warnings).toEqual([])
})
