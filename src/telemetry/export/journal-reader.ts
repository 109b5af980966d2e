import {statSync} from 'node:fs'
import {join} from 'node:path'
import {type JournalOwner, type JournalWarning, type Mark, readJournal, segmentName} from '../../store/journal/index.ts'
import {type ExportedRecord, exportedRecord} from '../spans/record.ts'

export interface JournalSliceRead {
  readonly records: readonly ExportedRecord[]
  /** Behind what was read. */
  readonly end: Mark
}

export interface JournalReader {
  /** The next records behind `from`, at most so many, and none behind `up_to`. */
  read(from: Mark, up_to: Mark, most: number): JournalSliceRead
  /** About how many bytes are between two marks. */
  bytes(from: Mark, to: Mark): number
}

const MOST_BYTES = 2 << 20

/**
 * Reads the journal of this process a second time, beside the flusher, and never behind what that has committed.
 * `onMissing` hears of segments that are gone unread.
 */
export function journalReader(
  folder: string,
  owner: JournalOwner,
  onMissing: (text: string) => void = () => undefined,
): JournalReader {
  return {
    read(from, up_to, most) {
      if (!isBefore(from, up_to)) return {records: [], end: from}
      const records: ExportedRecord[] = []
      let end = up_to
      let bytes = 0
      const warn = ({code, text}: JournalWarning) => code === 'missing' && onMissing(text)
      const through = {from, up_to, waits: false, without: 'intent', lends: true, warn} as const
      for (const record of readJournal({folder, ...owner, ...through})) {
        const {kind, payload, segment, end_position} = record
        if ((kind !== 'settlement' && kind !== 'log_row') || payload.length === 0) continue
        const found = exportedRecord(payload)
        if (!found) continue
        records.push(found)
        bytes += payload.length
        if (records.length < most && bytes < MOST_BYTES) continue
        end = {segment, position: end_position}
        break
      }
      return {records, end}
    },
    bytes(from, to) {
      if (from.segment === to.segment) return Math.max(0, to.position - from.position)
      let bytes = to.position - from.position
      for (let segment = from.segment; segment < to.segment; segment++)
        bytes += sizeOf(join(folder, segmentName(segment)))
      return Math.max(0, bytes)
    },
  }
}

export const isBefore = (one: Mark, other: Mark): boolean =>
  one.segment < other.segment || (one.segment === other.segment && one.position < other.position)

/** A segment that is gone has nothing to read. */
function sizeOf(path: string): number {
  return statSync(path, {throwIfNoEntry: false})?.size ?? 0
}
