import {join} from 'node:path'
import {nodeFiles, type ReadableFiles} from './files.ts'
import {
  decodeHeader,
  HEADER_BYTES,
  type JournalOwner,
  type Mark,
  mendedHeader,
  type RecordKind,
  type SegmentHeader,
  segmentName,
  segmentNumber,
} from './format.ts'
import {type Gap, readSegment, type SegmentEnd, type SegmentRecord} from './read-segment.ts'

export interface JournalRecord extends SegmentRecord {
  readonly segment: number
}

/**
 * The faults that a reader met and skipped. `foreign`: a segment of another store or epoch, as a restore leaves it;
 * skipped. `no_header`: a segment whose header is not readable; skipped. `header`: one whose header is damaged but
 * still identifies it; read. `torn`: a record cut off by the end of its process. `damaged`: records that are not what
 * was written; skipped. `missing`: a segment is not there.
 */
export interface JournalWarning {
  readonly code: 'foreign' | 'no_header' | 'header' | 'torn' | 'damaged' | 'missing'
  readonly segment: number
  readonly position: number
  /** A sentence for the log. */
  readonly text: string
}

export interface ReadJournal extends JournalOwner {
  readonly folder: string
  /** Read what is behind this mark. */
  readonly from: Mark
  /** The writer's position; without it, all there is (when no writer runs). */
  readonly up_to?: Mark
  /**
   * A segment up to there that is not there, or has no header, is a SegmentMissingFault, and not gone past with a
   * warning. Not true: only the one being written is waited for, for as long as it takes, as its writer has what it
   * holds.
   */
  readonly waits?: boolean
  /** A kind of record to go past, whatever it holds. */
  readonly without?: RecordKind
  /** Payloads are lent: good until the next record is read. */
  readonly lends?: boolean
  readonly warn: (warning: JournalWarning) => void
  readonly files?: ReadableFiles
}

/** A segment that the writer filled is not there: removed from outside, or being restored. */
export class SegmentMissingFault extends Error {
  constructor(segment: number) {
    super(`Journal segment ${segment} is not there: it was removed while the gateway runs.`)
    this.name = 'SegmentMissingFault'
  }
}

/** An intent that no settlement followed. */
export interface RecoveredIntent {
  readonly id: string
  readonly payload: Buffer
  /** The newest segment that holds it. */
  readonly segment: number
}

export interface Recovery {
  /** Attempts cut off by the end of the process, oldest first: settle each as `recovered`. */
  readonly open: readonly RecoveredIntent[]
  readonly warnings: readonly JournalWarning[]
  /** How many records are behind the mark. */
  readonly pending: number
  /** True when the last writer closed the journal, or when there never was one. */
  readonly closed: boolean
  /** Reads the records behind the mark, in order, each time from the store. */
  records(): Generator<JournalRecord>
}

interface ListedSegment {
  readonly number: number
  /** Undefined when it cannot be read; `fault` says why. */
  readonly header: SegmentHeader | undefined
  readonly fault: string
}

/**
 * The segments in `folder` from number `from` on, in order; of `owner`'s also those whose headers are damaged and tell
 * whose they are.
 */
export function listSegments(folder: string, files: ReadableFiles, owner: JournalOwner, from = 0): ListedSegment[] {
  const numbers = files.list(folder).flatMap(name => segmentNumber(name) ?? [])
  return numbers
    .filter(number => number >= from)
    .sort((a, b) => a - b)
    .map(number => {
      const bytes = readHeader(files, join(folder, segmentName(number)))
      const header = decodeHeader(bytes)
      if (typeof header === 'string') return {number, header: mendedHeader(bytes, owner, number), fault: header}
      const misnamed = header.segment !== number
      return misnamed
        ? {number, header: undefined, fault: `it is segment ${header.segment} by its header`}
        : {number, header, fault: ''}
    })
}

/**
 * The records behind `from` in order, over all segments of this store and epoch; whatever cannot be read is warned of
 * and passed. For any thread: it never writes. Returns whether the last segment read was closed in order.
 */
export function* readJournal({
  folder,
  store_id,
  epoch,
  from,
  up_to,
  waits,
  without,
  lends,
  warn,
  files = nodeFiles,
}: ReadJournal): Generator<JournalRecord, boolean> {
  const segments = listSegments(folder, files, {store_id, epoch}, from.segment).filter(
    ({number}) => number <= (up_to?.segment ?? number),
  )
  if (up_to && waits !== undefined) checkAllThere(segments, waits ? from : {segment: up_to.segment, position: 0}, up_to)
  let expected = from.segment + 1
  let sealed = true
  for (const [index, {number, header, fault}] of segments.entries()) {
    const say = (code: JournalWarning['code'], position: number, text: string) =>
      warn({code, segment: number, position, text})
    if (number > expected)
      say('missing', 0, `Journal segments ${expected} to ${number - 1} are not there; what only they held is lost.`)
    expected = number + 1
    if (!header) {
      say('no_header', 0, `Journal segment ${number} is skipped: ${fault}. What it held is lost.`)
      continue
    }
    if (header.store_id !== store_id || header.epoch !== epoch) {
      const of = header.store_id === store_id ? `epoch ${header.epoch}` : `store ${header.store_id}`
      say('foreign', 0, `Journal segment ${number} is of ${of} and is not replayed.`)
      continue
    }
    if (fault)
      say(
        'header',
        0,
        `The header of journal segment ${number} is damaged (${fault}); what names it is whole, and it is read.`,
      )
    const start = number === from.segment ? from.position : HEADER_BYTES
    const end = number === up_to?.segment ? up_to.position : endBy(segments[index + 1]?.header, header)
    if (end !== undefined && start >= end) continue
    const name = segmentName(number)
    const onGap = ({position, end_position}: Gap) => {
      const bytes = end_position - position
      say(
        'damaged',
        position,
        `Journal segment ${number} (${name}) is damaged at ${position}: ${bytes} bytes are skipped, what follows is read.`,
      )
    }
    const segment = {files, path: join(folder, name), from: start, up_to: end, without, lends, onGap}
    const {reason, position} = yield* inSegment(number, readSegment(segment))
    sealed = reason === 'sealed'
    if (reason === 'torn')
      say(
        'torn',
        position,
        `Journal segment ${number} ends in a record cut off at ${position}, as a kill or a power cut in a write leaves it.`,
      )
    if (reason === 'damaged')
      say(
        'damaged',
        position,
        `Journal segment ${number} (${name}) is damaged at ${position}; what follows in it is lost.`,
      )
  }
  return sealed
}

/** The rest of `from`'s own segment may be read to its end; only the one being written is sure to be wanted. */
function checkAllThere(segments: readonly ListedSegment[], from: Mark, up_to: Mark): void {
  const there = new Set(segments.flatMap(({number, header}) => (header ? number : [])))
  const first = from.segment === up_to.segment ? from.segment : from.segment + 1
  for (let number = Math.max(1, first); number <= up_to.segment; number++)
    if (!there.has(number)) throw new SegmentMissingFault(number)
}

function* inSegment(segment: number, reading: ReturnType<typeof readSegment>): Generator<JournalRecord, SegmentEnd> {
  try {
    for (;;) {
      const step = reading.next()
      if (step.done) return step.value
      yield {...step.value, segment}
    }
  } finally {
    reading.return({reason: 'end', position: 0}) // who reads no further leaves no file open
  }
}

/**
 * The state that a start needs: the records that the database has not applied (behind `mark`) and the attempts left
 * open. Reads every segment there is, also those before the mark, for an intent may be older than its settlement by
 * days.
 */
export function recover({
  folder,
  mark,
  files = nodeFiles,
  ...owner
}: JournalOwner & {folder: string; mark: Mark; files?: ReadableFiles}): Recovery {
  const open = new Map<string, RecoveredIntent>()
  const warnings: JournalWarning[] = []
  const oldest = Math.min(mark.segment + 1, ...listSegments(folder, files, owner).map(({number}) => number))
  const reading = readJournal({
    folder,
    ...owner,
    from: {segment: oldest - 1, position: 0},
    warn: warning => warnings.push(warning),
    files,
  })
  let pending = 0
  let step = reading.next()
  for (; !step.done; step = reading.next()) {
    const {kind, id, payload, segment, end_position} = step.value
    if (kind === 'settlement') open.delete(id)
    if (kind === 'intent' || kind === 'carried') open.set(id, {id, payload, segment})
    if (segment > mark.segment || (segment === mark.segment && end_position > mark.position)) pending++
  }
  const records = () => readJournal({folder, ...owner, from: mark, warn: () => {}, files})
  return {open: [...open.values()], warnings, pending, closed: step.value, records}
}

function endBy(next: SegmentHeader | undefined, {segment, store_id, epoch}: SegmentHeader): number | undefined {
  const follows = next?.segment === segment + 1 && next.store_id === store_id && next.epoch === epoch
  return follows && next.previous_end > 0 ? next.previous_end : undefined
}

function readHeader(files: ReadableFiles, path: string): Buffer {
  const fd = files.openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(HEADER_BYTES)
    return bytes.subarray(0, files.readSync(fd, bytes, 0, HEADER_BYTES, 0))
  } finally {
    files.closeSync(fd)
  }
}
