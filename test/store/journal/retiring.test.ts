import {cpSync} from 'node:fs'
import {join} from 'node:path'
import fc from 'fast-check'
import {expect, test} from 'vitest'
import {type Mark, recover} from '../../../src/store/journal/index.ts'
import {
  asking,
  faultyFiles,
  OWNER,
  openIds,
  readAll,
  START,
  segmentFiles,
  temporaryFolder,
  testJournal,
} from './support.ts'

const payload = 'x'.repeat(900)

test('segments before the mark are removed; the one it stands in and those behind stay', async () => {
  const {journal, folder} = await testJournal({segment_bytes: 4096})
  for (let n = 0; n < 14; n++) await asking(journal).log(payload)
  expect(segmentFiles(folder)).toHaveLength(4)
  expect(await journal.retire(START)).toEqual([])
  expect(await journal.retire({segment: 3, position: 64})).toEqual([1, 2])
  expect(segmentFiles(folder)).toEqual(['0000000000000003.seg', '0000000000000004.seg'])
  expect(await journal.retire({segment: 9, position: 64})).toEqual([3])
  expect(segmentFiles(folder)).toEqual(['0000000000000004.seg'])
})

test('an intent still open is copied forward and synced before its segment goes, again and again until it is settled', async () => {
  const {journal, folder, disk} = await testJournal({segment_bytes: 4096})
  const ask = asking(journal)
  await Promise.all([ask.intent('long:1', 'what it said'), ask.intent('short:1'), ask.settle('short:1')])
  for (let round = 0; round < 3; round++) {
    const first = segmentFiles(folder)[0]
    while (segmentFiles(folder).length < 3) await ask.log(payload)
    const syncs = disk.syncs
    await journal.retire(journal.position())
    expect(disk.syncs).toBeGreaterThan(syncs)
    expect(segmentFiles(folder)).not.toContain(first)
    const {open} = recover({folder, ...OWNER, mark: START})
    expect(open.map(({id, payload: said}) => `${id} ${said}`)).toEqual(['long:1 what it said'])
  }
  await ask.settle('long:1')
  expect(openIds(folder)).toEqual([])
})

test('a segment whose open intent cannot be copied, for the disk is full, stays until the call has settled', async () => {
  const {journal, folder, disk} = await testJournal({segment_bytes: 4096})
  const ask = asking(journal)
  await ask.intent('long:1', 'y'.repeat(600))
  for (let n = 0; n < 6; n++) await ask.log(payload)
  await disk.fill()
  while (!(await ask.log('z'.repeat(60))));
  expect(await journal.retire(journal.position())).toEqual([])
  expect(openIds(folder)).toEqual(['long:1'])
  expect(await ask.settle('long:1')).toBeUndefined()
  expect((await journal.retire(journal.position())).length).toBeGreaterThan(0)
  expect(openIds(folder)).toEqual([])
})

test('a segment is kept when its copies could not be synced', async () => {
  const {journal, folder, disk} = await testJournal({segment_bytes: 4096})
  const ask = asking(journal)
  await ask.intent('long:1')
  for (let n = 0; n < 6; n++) await ask.log(payload)
  await journal.sync()
  disk.syncFaults.push(new Error('EIO'), new Error('EIO'))
  await expect(journal.retire(journal.position())).rejects.toThrow('EIO')
  expect(segmentFiles(folder)).toContain('0000000000000001.seg')
  expect(openIds(folder)).toEqual(['long:1'])
})

test('segments are removed oldest first, and none behind one that could not be', async () => {
  const {files} = faultyFiles()
  const remove = async (path: string) => {
    if (path.endsWith('2.seg')) throw new Error('EACCES')
    return files.remove(path)
  }
  const {journal, folder} = await testJournal({segment_bytes: 4096, files: {...files, remove}})
  for (let n = 0; n < 18; n++) await asking(journal).log(payload)
  await expect(journal.retire(journal.position())).rejects.toThrow('EACCES')
  expect(segmentFiles(folder)[0]).toBe('0000000000000002.seg')
  expect(segmentFiles(folder)).toContain('0000000000000003.seg')
})

test('what an earlier process left open is carried and settled like any other', async () => {
  const folder = temporaryFolder()
  const first = await testJournal({folder})
  await Promise.all([asking(first.journal).intent('a:1', 'A'), asking(first.journal).intent('b:1', 'B')])
  await first.journal.close()
  const {open} = recover({folder, ...OWNER, mark: START})
  const second = await testJournal({folder, open})
  expect(second.journal.status().open_intents).toBe(2)
  expect(await asking(second.journal).settle('a:1', 'recovered')).toBeUndefined()
  expect(await second.journal.retire(second.journal.position())).toEqual([1])
  expect(readAll(folder, {from: {segment: 1, position: 0}}).records).toEqual([
    'settlement a:1 recovered',
    'carried b:1 B',
  ])
  expect(openIds(folder)).toEqual(['b:1'])
})

test('segments of another store or epoch are never removed', async () => {
  const folder = temporaryFolder()
  const old = await testJournal({folder, epoch: 2})
  await asking(old.journal).log('of before the restore')
  await old.journal.close()
  const {journal} = await testJournal({folder})
  expect(await journal.retire(journal.position())).toEqual([])
  expect(segmentFiles(folder)).toHaveLength(2)
})

/** The segments as kill -9 would leave them now. */
function killedCopy(folder: string): string {
  const copy = temporaryFolder()
  for (const name of segmentFiles(folder)) cpSync(join(folder, name), join(copy, name))
  return copy
}

type Step = {
  do: 'intent' | 'settle' | 'log' | 'turn' | 'retire' | 'reboot' | 'cut' | 'fill' | 'clear'
  size: number
  pick: number
}
const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom(
    'intent',
    'intent',
    'intent',
    'settle',
    'settle',
    'log',
    'log',
    'turn',
    'turn',
    'retire',
    'reboot',
    'cut',
    'fill',
    'clear',
  ),
  size: fc.integer({min: 0, max: 480}),
  pick: fc.nat(1000),
})

test('whatever is appended, retired, cut short, filled and restarted: what was acknowledged is found once, what was refused is not', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, {minLength: 10, maxLength: 120}), async steps => {
      let run = await testJournal({segment_bytes: 4096})
      let mark: Mark = START
      const applied: string[] = []
      const written: string[] = []
      const open = new Map<string, string>()
      const answers: Promise<void>[] = []
      const expecting = (record: string, answer: Promise<Error | undefined>, undo: () => void = () => {}) =>
        answers.push(answer.then(error => (error ? undo() : void written.push(record))))
      const flusher = () => {
        const reading = recover({folder: run.folder, ...OWNER, mark})
        expect(reading.warnings).toEqual([])
        for (const {kind, id, payload: said, segment, end_position} of reading.records()) {
          if (kind !== 'carried') applied.push(`${kind} ${id} ${said}`)
          mark = {segment, position: end_position}
        }
      }
      for (const [n, {do: act, size, pick}] of steps.entries()) {
        const ask = asking(run.journal)
        if (act === 'intent') {
          const [id, said] = [`${n}:1`, `${n}${'i'.repeat(size)}`]
          open.set(id, said)
          expecting(`intent ${id} ${said}`, ask.intent(id, said), () => open.delete(id))
        } else if (act === 'settle' && open.size > 0) {
          await Promise.all(answers.splice(0))
          const [id, said] = [...open][pick % Math.max(1, open.size)] ?? []
          if (id === undefined || said === undefined) continue
          open.delete(id)
          expecting(`settlement ${id} ${n}`, ask.settle(id, `${n}`), () => open.set(id, said))
        } else if (act === 'log') {
          expecting(`log_row  ${n}${'l'.repeat(size)}`, ask.log(`${n}${'l'.repeat(size)}`))
        } else if (act === 'cut') run.disk.faults.push(pick)
        else if (act === 'fill') run.disk.full = true
        else if (act === 'clear') run.disk.full = false
        else if (act === 'turn') await Promise.all(answers.splice(0))
        else if (act === 'retire') {
          await Promise.all(answers.splice(0))
          flusher()
          await run.journal.retire(mark)
        } else if (act === 'reboot') {
          await Promise.all(answers.splice(0))
          const folder = killedCopy(run.folder)
          const {open: left} = recover({folder, ...OWNER, mark})
          run = await testJournal({folder, segment_bytes: 4096, mark, open: left})
        }
      }
      await Promise.all(answers)
      flusher()
      expect(applied).toEqual(written)
      const left = recover({folder: run.folder, ...OWNER, mark}).open.map(({id, payload: said}) => [id, String(said)])
      expect(new Map(left as [string, string][])).toEqual(open)
    }),
    {numRuns: 60},
  )
})
