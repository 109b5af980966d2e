import {type Span, topLevel} from '../../base/json.ts'
import {isObject, parsed} from '../../base/json-object.ts'
import {readFields, SseFramer} from '../../base/sse.ts'
import {hasValue, keyBytes} from './scan.ts'

const USAGE_REQUESTED = {include_usage: true}

/**
 * `stream_options` that request usage, from those that would leave (JSON; undefined: none); null: these do. Other
 * members stay.
 */
export function withUsage(stream_options: string | undefined): string | null {
  const given = stream_options === undefined ? undefined : parsed(stream_options)
  if (!isObject(given)) return JSON.stringify(USAGE_REQUESTED)
  return given.include_usage === true ? null : JSON.stringify({...given, ...USAGE_REQUESTED})
}

/** Takes a stream's bytes and returns them without the reported usage. */
export interface MeterFilter {
  /**
   * The bytes that may be sent. An event that has begun is kept back until it is whole, or longer than an event may be.
   */
  take(chunk: Buffer): Buffer
  /** Returns the held bytes when the stream ends or must not wait; the filter continues with later bytes. */
  end(): Buffer
}

const USAGE = keyBytes('usage')
const LF = 10
const CR = 13
const SPACE = 32
/**
 * How nearly every event says that it has no usage. The brace ends the event's object, so the member is the object's
 * own.
 */
const NO_USAGE_LAST = Buffer.from(',"usage":null}')
const DATA = Buffer.from('data:')
const NULL = 'null'
const NO_KEYS: ReadonlySet<string> = new Set()
const NOTHING = Buffer.alloc(0)
/** Chunks kept apart before they become one, so that a stream of single bytes costs bytes and not objects. */
const MAX_HELD = 256

/**
 * Bytes that are taken out, by their place in the stream. `by_cr`: their last line ends with a CR, so that an LF behind
 * it goes too.
 */
interface Cut {
  readonly start: number
  readonly end: number
  readonly by_cr: boolean
}

/**
 * For streams whose usage the gateway itself asked for (core rule 18): takes out the one event with usage and no
 * choices, which the client did not ask for, and the member `usage: null` of all others. All other bytes stay as they
 * are, in their order; an event with usage and choices too.
 */
export function meterFilter(): MeterFilter {
  /** Bytes of the stream that have gone on or were taken out. */
  let passed = 0
  let cuts: Cut[] = []
  let swallows_lf = false
  let is_done = false
  let held: Buffer[] = []
  const framer = new SseFramer((raw, start, end) => {
    // An event of which bytes have gone on cannot be taken back.
    if (raw === null || start < passed) return
    if (!is_done && tellsUsageOnly(raw)) {
      is_done = true
      cuts.push({start, end, by_cr: raw[raw.length - 1] === CR})
    } else {
      const span = nullUsage(raw)
      if (span) cuts.push({start: start + span.start, end: start + span.end, by_cr: false})
    }
  })

  /** Releases the held bytes up to `to` (stream offset), but for the event to be removed. */
  function release(to: number): Buffer {
    if (to <= passed) return NOTHING
    const all = held.length === 1 ? held[0]! : Buffer.concat(held)
    const from = passed
    const given = all.subarray(0, to - from)
    const rest = all.subarray(to - from)
    held = rest.length > 0 ? [rest] : []
    passed = to
    if (cuts.length === 0) return given
    const kept: Buffer[] = []
    let at = 0
    for (const {start, end, by_cr} of cuts) {
      if (start >= to) break
      kept.push(given.subarray(at, start - from))
      at = end - from
      if (!by_cr) continue
      swallows_lf = at === given.length
      if (given[at] === LF) at++
    }
    cuts = cuts.filter(({start}) => start >= to)
    return Buffer.concat([...kept, given.subarray(at)])
  }

  return {
    take(chunk) {
      if (chunk.length === 0) return NOTHING
      held.push(chunk)
      if (held.length > MAX_HELD) held = [Buffer.concat(held)]
      framer.push(chunk)
      const to = framer.open_start < 0 || framer.is_opaque ? framer.offset : framer.open_start
      const was_cut_after_cr = swallows_lf
      const given = release(to)
      if (!was_cut_after_cr || given.length === 0) return given
      swallows_lf = false
      return given[0] === LF ? given.subarray(1) : given
    },
    end() {
      const open = framer.open_start === passed ? Buffer.concat(held) : null
      if (open && !is_done && tellsUsageOnly(open)) {
        is_done = true
        held = []
        passed = framer.offset
        return NOTHING
      }
      const span = open && nullUsage(open)
      if (span) cuts.push({start: passed + span.start, end: passed + span.end, by_cr: false})
      return release(framer.offset)
    },
  }
}

function tellsUsageOnly(raw: Buffer): boolean {
  if (!hasValue(raw, USAGE)) return false
  const json = parsed(readFields(raw).data.join('\n'))
  return isObject(json) && isObject(json.usage) && Array.isArray(json.choices) && json.choices.length === 0
}

/** Finds `usage: null` at the top of an event, with the comma to be cut with it; null when there is none. */
function nullUsage(raw: Buffer): Pick<Cut, 'start' | 'end'> | null {
  const at = raw.lastIndexOf(NO_USAGE_LAST)
  if (at >= 0 && isRest(raw, at + NO_USAGE_LAST.length)) return {start: at, end: at + NO_USAGE_LAST.length - 1}
  const from = raw.indexOf(DATA) + DATA.length
  if (from < DATA.length || !raw.includes(USAGE)) return null
  try {
    const json = raw.subarray(from)
    const members = [...topLevel(json, NO_KEYS)].toSorted(([, one], [, other]) => one.key_at - other.key_at)
    const index = members.findIndex(([key]) => key === 'usage')
    const span = members[index]?.[1]
    if (!span || json.toString('latin1', span.start, span.end) !== NULL) return null
    const {start, end} = withComma(span, members[index - 1]?.[1], members[index + 1]?.[1])
    return {start: from + start, end: from + end}
  } catch {
    return null // it is no JSON of one line
  }
}

function withComma(span: Span, before: Span | undefined, next: Span | undefined): Pick<Cut, 'start' | 'end'> {
  if (next) return {start: span.key_at, end: next.key_at}
  return before ? {start: before.end, end: span.end} : {start: span.key_at, end: span.end}
}

/** True when only line ends follow. */
function isRest(raw: Buffer, from: number): boolean {
  for (let at = from; at < raw.length; at++) if (raw[at] !== LF && raw[at] !== CR && raw[at] !== SPACE) return false
  return true
}
