import {readFileSync, rmSync, truncateSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {expect, test} from 'vitest'
import {type Mark, nodeFiles, type ReadableFiles, readJournal, recover} from '../../../src/store/journal/index.ts'
import {type Gap, readSegment} from '../../../src/store/journal/read-segment.ts'
import {asking, OWNER, readAll, START, said, segmentFiles, temporaryFolder, testJournal} from './support.ts'

const OTHER_STORE = 'ffffffff-5f0a-4a53-9d5e-0f2f7a1c2b3d'

/** A reader's file system in which every file has these bytes. */
function filesOf(bytes: Buffer): ReadableFiles {
  return {
    ...nodeFiles,
    openSync: () => 0,
    closeSync: () => {},
    size: () => bytes.length,
    readSync: (_, into, offset, length, position) => bytes.copy(into, offset, position, position + length),
  }
}

/** The bytes of a segment that kill -9 left, with three records, and where each begins and the last ends. */
async function killedSegment() {
  const {journal, folder} = await testJournal({segment_bytes: 2048})
  const ask = asking(journal)
  await Promise.all([
    ask.intent('a:1', '{"cost":12}'),
    ask.settle('a:1', '{"usage":"é"}'),
    ask.intent('b:1', `{"last":"${'z'.repeat(300)}"}`),
  ])
  const bytes = readFileSync(join(folder, '0000000000000001.seg'))
  const places = [...readSegment({files: filesOf(bytes), path: '', from: 0})].map(
    ({position, end_position}) => [position, end_position] as const,
  )
  return {folder, bytes, places, records: readAll(folder).records}
}

function readBytes(bytes: Buffer, up_to?: number) {
  const records: string[] = []
  const gaps: Gap[] = []
  const reading = readSegment({files: filesOf(bytes), path: '', from: 0, up_to, onGap: gap => gaps.push(gap)})
  let step = reading.next()
  for (; !step.done; step = reading.next()) records.push(said({...step.value, segment: 1}))
  return {records, ...step.value, ...(gaps.length > 0 ? {gaps} : {})}
}

test('a write cut off at any byte of its last record loses that record and no other', async () => {
  const {bytes, places, records} = await killedSegment()
  const [begin, end] = places[2]!
  for (let cut = begin; cut < end; cut++) {
    const torn = Buffer.from(bytes).fill(0, cut)
    expect(readBytes(torn)).toEqual({
      records: records.slice(0, 2),
      reason: cut === begin ? 'end' : 'torn',
      position: begin,
    })
    expect(readBytes(bytes.subarray(0, cut))).toEqual({
      records: records.slice(0, 2),
      reason: cut === begin ? 'end' : 'damaged',
      position: begin,
    })
  }
  expect(readBytes(bytes)).toEqual({records, reason: 'end', position: end})
})

test('any byte that changed costs the record that holds it and no other, and is told', async () => {
  const {bytes, places, records} = await killedSegment()
  const end = places[2]![1]
  for (let at = 64; at < end; at++) {
    for (const change of [0xff, 0x01, 0x80, bytes[at]!]) {
      if (change === 0) continue
      const changed = Buffer.from(bytes)
      changed[at] = changed[at]! ^ change
      const hit = places.findIndex(([, behind]) => at < behind)
      const [position, end_position] = places[hit]!
      const is_last = hit === places.length - 1
      const whole = records.filter((_, n) => n !== hit)
      const found = readBytes(changed)
      expect(found.records).toEqual(whole)
      if (is_last) {
        expect(found.position).toBe(position)
        expect(['damaged', 'torn']).toContain(found.reason)
        expect(readBytes(changed, end)).toMatchObject({records: whole, reason: 'damaged', position})
      } else {
        expect(found).toMatchObject({reason: 'end', position: end, gaps: [{position, end_position}]})
        expect(readBytes(changed, end)).toEqual(found)
      }
    }
  }
})

test('a segment with any byte of its header changed is read all the same, with a warning that names it', async () => {
  const {folder, bytes, records} = await killedSegment()
  const path = join(folder, '0000000000000001.seg')
  for (let at = 0; at < 64; at++) {
    const changed = Buffer.from(bytes)
    changed[at] = changed[at]! ^ 0x41
    writeFileSync(path, changed)
    expect(readAll(folder)).toEqual({records, warnings: ['header 1']})
    changed.fill(0x41, 8, 24)
    writeFileSync(path, changed)
    expect(readAll(folder)).toEqual({records: [], warnings: ['no_header 1']})
  }
  truncateSync(path, 10)
  expect(recover({folder, ...OWNER, mark: START}).warnings.map(({text}) => text)).toEqual([
    'Journal segment 1 is skipped: the file has 10 bytes, a header has 64. What it held is lost.',
  ])
})

test('damage in the middle loses the record there and no other, and says where', async () => {
  const {journal, folder} = await testJournal({segment_bytes: 4096, settlement_bytes: 64})
  for (let n = 0; n < 9; n++) await asking(journal).log(`${n} ${'x'.repeat(990)}`)
  await journal.close()
  const path = join(folder, '0000000000000002.seg')
  const bytes = readFileSync(path)
  bytes[64 + 1002 + 500] = 0
  writeFileSync(path, bytes)
  const {records, warnings} = readAll(folder)
  expect(records.map(record => record.split(' ')[2])).toEqual(['0', '1', '2', '3', '4', '6', '7', '8'])
  expect(warnings).toEqual(['damaged 2'])
  expect(recover({folder, ...OWNER, mark: START}).warnings[0]).toEqual({
    code: 'damaged',
    segment: 2,
    position: 64 + 1002,
    text: 'Journal segment 2 (0000000000000002.seg) is damaged at 1066: 1002 bytes are skipped, what follows is read.',
  })
})

test('zeros over a page of the data, as a power cut leaves them, are damage and not the end', async () => {
  const {bytes, places} = await killedSegment()
  const [begin, end] = places[1]!
  const [last, behind] = places[2]!
  expect(readBytes(Buffer.from(bytes).fill(0, begin, end))).toMatchObject({
    reason: 'end',
    gaps: [{position: begin, end_position: last}],
  })
  expect(readBytes(Buffer.from(bytes).fill(0, begin), behind)).toMatchObject({reason: 'damaged', position: begin})
})

test('segments of another epoch or store are passed with a warning, and their numbers are not used again', async () => {
  const folder = temporaryFolder()
  for (const owner of [OWNER, {...OWNER, epoch: 2}, {...OWNER, store_id: OTHER_STORE}, OWNER]) {
    const {journal} = await testJournal({folder, ...owner})
    await asking(journal).intent(`${owner.store_id[0]}${owner.epoch}:1`)
    await journal.close()
  }
  expect(segmentFiles(folder)).toHaveLength(4)
  expect(readAll(folder)).toEqual({
    records: ['intent 03:1 03:1', 'intent 03:1 03:1'],
    warnings: ['foreign 2', 'foreign 3'],
  })
  const {warnings, open} = recover({folder, ...OWNER, mark: START})
  expect(open.map(({segment}) => segment)).toEqual([4])
  expect(warnings.map(({text}) => text)).toEqual([
    'Journal segment 2 is of epoch 2 and is not replayed.',
    `Journal segment 3 is of store ${OTHER_STORE} and is not replayed.`,
  ])
})

test('a segment that is not there is missed, a file that is none is not looked at', async () => {
  const folder = temporaryFolder()
  for (let n = 0; n < 4; n++) {
    const {journal} = await testJournal({folder})
    await asking(journal).log(`${n}`)
    await journal.close()
  }
  await nodeFiles.remove(join(folder, '0000000000000001.seg'))
  await nodeFiles.remove(join(folder, '0000000000000003.seg'))
  writeFileSync(join(folder, '5.seg'), 'not ours')
  expect(readAll(folder)).toEqual({records: ['log_row  1', 'log_row  3'], warnings: ['missing 2', 'missing 4']})
  expect(readAll(folder, {from: {segment: 1, position: 500}}).warnings).toEqual(['missing 4'])
})

test('who waits for the writer goes past no segment that is missing or is not one, and stops at it', async () => {
  const {journal, folder} = await testJournal({segment_bytes: 4096, settlement_bytes: 64})
  for (let n = 0; n < 9; n++) await asking(journal).log(`${n} ${'x'.repeat(990)}`)
  const up_to = journal.position()
  const read = (from: Mark, waits: boolean) =>
    [...readJournal({folder, ...OWNER, from, up_to, waits, warn: () => {}})].length
  expect([read(START, true), up_to.segment]).toEqual([9, 3])
  for (const segment of [1, 2, 3]) {
    const path = join(folder, segmentFiles(folder)[segment - 1]!)
    const bytes = readFileSync(path)
    for (const damage of [() => rmSync(path), () => writeFileSync(path, 'not a segment')]) {
      damage()
      expect(() => read(START, true)).toThrow(`Journal segment ${segment} is not there`)
      if (segment === up_to.segment) expect(() => read(START, false)).toThrow(`Journal segment ${segment} is not there`)
      else expect(read(START, false)).toBeLessThan(9)
      writeFileSync(path, bytes)
    }
  }
  rmSync(join(folder, segmentFiles(folder)[0]!))
  expect(read({segment: 1, position: 500}, true)).toBe(5) // what is left in its own segment may be nothing
})

test('reading goes on from any mark, and stops at the place it was told', async () => {
  const {journal, folder} = await testJournal({segment_bytes: 4096, settlement_bytes: 64})
  for (let n = 0; n < 12; n++) await asking(journal).log(`${n} ${'x'.repeat(700)}`)
  const all = [...readJournal({folder, ...OWNER, from: START, warn: () => {}})]
  expect(all).toHaveLength(12)
  for (const [n, {segment, end_position}] of all.entries()) {
    const mark = {segment, position: end_position}
    expect(readAll(folder, {from: mark}).records).toEqual(all.slice(n + 1).map(said))
    const before = [...readJournal({folder, ...OWNER, from: START, up_to: mark, warn: () => expect.fail()})]
    expect(before).toEqual(all.slice(0, n + 1))
    expect([...readJournal({folder, ...OWNER, from: mark, up_to: mark, warn: () => expect.fail()})]).toEqual([])
    expect(recover({folder, ...OWNER, mark}).pending).toBe(11 - n)
  }
})

test('a kind of record is gone past on demand, and damage in what gives its length hides no other', async () => {
  const {folder, bytes, places, records} = await killedSegment()
  const end = places[2]![1]
  const others = (of: Buffer) => {
    const reading = readSegment({files: filesOf(of), path: '', from: 0, up_to: end, without: 'intent'})
    const read: string[] = []
    let step = reading.next()
    for (; !step.done; step = reading.next()) read.push(said({...step.value, segment: 1}))
    return {read, reason: step.value.reason}
  }
  expect(others(bytes)).toEqual({read: [records[1]], reason: 'end'})
  const longer = Buffer.from(bytes)
  longer.writeUInt32LE(longer.readUInt32LE(places[0]![0]) + 1, places[0]![0])
  expect(others(longer)).toEqual({read: [records[1]], reason: 'end'})
  const [, second, third] = places
  // ends where another record begins
  longer.writeUInt32LE(longer.readUInt32LE(places[0]![0]) - 1 + (third![0] - second![0]), places[0]![0])
  expect(others(longer)).toEqual({read: [records[1]], reason: 'end'})
  const mark = {segment: 1, position: end}
  const warn = () => expect.fail()
  expect([...readJournal({folder, ...OWNER, from: START, up_to: mark, without: 'intent', warn})].map(said)).toEqual([
    records[1],
  ])
})

test('records across and larger than the slices are read whole, with a few reads', async () => {
  const {journal, folder} = await testJournal({segment_bytes: 4 * 1024 * 1024})
  const payloads = [100_000, 200_000, 5, 1_000_000, 300_000, 262_134, 7].map((size, n) => String(n).repeat(size))
  await Promise.all(payloads.map(payload => asking(journal).log(payload)))
  let reads = 0
  const counting: ReadableFiles = {
    ...nodeFiles,
    readSync(...of) {
      reads++
      return nodeFiles.readSync(of[0], of[1], of[2], Math.min(of[3], 60_000), of[4])
    },
  }
  expect(readAll(folder, {files: counting})).toEqual({
    records: payloads.map(payload => `log_row  ${payload}`),
    warnings: [],
  })
  expect(reads).toBeLessThan(200)
})

test('an empty folder holds nothing, and was closed', () => {
  expect(recover({folder: temporaryFolder(), ...OWNER, mark: START})).toMatchObject({
    open: [],
    warnings: [],
    pending: 0,
    closed: true,
  })
})

test('who reads no further leaves no file open', async () => {
  const {folder} = await killedSegment()
  const open = new Set<number>()
  const files: ReadableFiles = {
    ...nodeFiles,
    openSync(path, flags) {
      const fd = nodeFiles.openSync(path, flags)
      open.add(fd)
      return fd
    },
    closeSync(fd) {
      open.delete(fd)
      nodeFiles.closeSync(fd)
    },
  }
  const seen: number[] = []
  for (const _ of readJournal({folder, ...OWNER, from: START, warn: () => {}, files})) {
    seen.push(open.size)
    break
  }
  expect([...seen, open.size]).toEqual([1, 0])
})

test('a payload that is lent is good until the next record is asked for, a copy for good', async () => {
  const {folder, records} = await killedSegment()
  const read = (lends: boolean) => readJournal({folder, ...OWNER, from: START, warn: () => {}, lends})
  expect([...read(false)].map(said)).toEqual(records)
  const lent = []
  for (const record of read(true)) lent.push(said(record))
  expect(lent).toEqual(records)
})
