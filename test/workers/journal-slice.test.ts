import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {expect, onTestFinished, test} from 'vitest'
import {decodeRecord, encodeSettlement} from '../../src/store/flush/index.ts'
import {openJournal, readJournal} from '../../src/store/journal/index.ts'
import {JournalSlice} from '../../src/workers/journal-slice.ts'
import {JournalWalk} from '../../src/workers/journal-walk.ts'
import {intent, settlement} from '../support/records.ts'

const OWNER = {store_id: '0b6d4c6e-5f0a-4a53-9d5e-0f2f7a1c2b3d', epoch: 1}
const START = {segment: 0, position: 0}

/** A journal of settlements of these calls, and slices of it. `opened` counts how often it was opened anew. */
async function setUp(...calls: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-slice-'))
  onTestFinished(() => rmSync(folder, {recursive: true, force: true}))
  const journal = await openJournal({folder, ...OWNER, mark: START, open: [], segment_bytes: 64 * 1024})
  onTestFinished(() => journal.close())
  for (const call_id of calls) journal.append('log_row', encodeSettlement(settlement(intent({call_id}))), () => {})
  journal.flush()
  const up_to = journal.position()
  const opened: number[] = []
  const walk = new JournalWalk(from => {
    opened.push(from.position)
    return readJournal({folder, ...OWNER, from, up_to, lends: true, warn: () => {}})
  })
  onTestFinished(() => walk.close())
  const slice = (from = START, most_records = 1000, most_bytes = 1 << 20) =>
    new JournalSlice({walk, from, up_to, most_records, most_bytes, decode: ({payload}) => decodeRecord(payload)})
  return {slice, up_to, opened}
}

const idsOf = (slice: JournalSlice) => Array.from(slice, ({entry}) => entry.call_id)

test('slices follow each other on one reading, and the last ends where the journal does', async () => {
  const {slice, up_to, opened} = await setUp('a', 'b', 'c', 'd', 'e')
  const first = slice(START, 2)
  expect([idsOf(first), first.seen, first.readable, first.is_last]).toEqual([['a', 'b'], 2, 2, false])
  const second = slice(first.end, 1000, 1)
  expect([idsOf(second), second.is_last]).toEqual([['c'], false])
  const third = slice(second.end)
  expect([idsOf(third), third.is_last, third.end]).toEqual([['d', 'e'], true, up_to])
  expect(opened).toHaveLength(1)
})

test('a slice is the same each time it is gone through, wherever it was left before', async () => {
  const {slice, up_to} = await setUp('a', 'b', 'c')
  const all = slice()
  expect(idsOf(all)).toEqual(['a', 'b', 'c'])
  expect([all.is_last, all.end]).toEqual([true, up_to])
  for (const {entry} of all) if (entry.call_id === 'b') break
  expect([all.seen, all.is_last]).toEqual([2, false])
  expect(all.end.position).toBeLessThan(up_to.position)
  expect(idsOf(all)).toEqual(['a', 'b', 'c'])
})
