import {isObject, parsed} from '../../base/json-object.ts'
import {readFields, SseFramer} from '../../base/sse.ts'
import {hasValue, keyBytes} from './scan.ts'

/** Takes a stream's bytes and gives them back without the event that only tells usage. */
export interface MeterFilter {
  /** The bytes that may go on. An event that has begun is kept back until it is whole, or longer than an event may be. */
  take(chunk: Buffer): Buffer
  /** What is kept back, when the stream ends or must not wait; the filter goes on with what comes after. */
  end(): Buffer
}

const USAGE = keyBytes('usage')
const LF = 10
const CR = 13
const NOTHING = Buffer.alloc(0)
/** Chunks kept apart before they become one, so that a stream of single bytes costs bytes and not objects. */
const MAX_HELD = 256

/**
 * For streams whose usage the gateway itself asked for (core rule 18): takes out the one event with usage and no choices, which the client
 * did not ask for. All other bytes stay as they are, in their order; an event with usage and choices too.
 */
export function meterFilter(): MeterFilter {
  /** Bytes of the stream that have gone on or were taken out. */
  let passed = 0
  let removed: {readonly start: number; readonly end: number; readonly by_cr: boolean} | null = null
  let swallows_lf = false
  let is_done = false
  let held: Buffer[] = []
  const framer = new SseFramer((raw, start, end) => {
    // An event of which bytes have gone on cannot be taken back.
    if (is_done || raw === null || start < passed || !tellsUsageOnly(raw)) return
    is_done = true
    removed = {start, end, by_cr: raw[raw.length - 1] === CR}
  })

  /** The held bytes up to `to` (stream offset) go on, but for the event to be removed. */
  function release(to: number): Buffer {
    if (to <= passed) return NOTHING
    const all = held.length === 1 ? held[0]! : Buffer.concat(held)
    const from = passed
    const given = all.subarray(0, to - from)
    const rest = all.subarray(to - from)
    held = rest.length > 0 ? [rest] : []
    passed = to
    if (!removed || removed.start >= to) return given
    const {start, end, by_cr} = removed
    removed = null
    let next = end - from
    if (by_cr) {
      swallows_lf = next === given.length
      if (given[next] === LF) next++
    }
    return Buffer.concat([given.subarray(0, start - from), given.subarray(next)])
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
      const is_whole_event = !is_done && framer.open_start === passed && tellsUsageOnly(Buffer.concat(held))
      if (!is_whole_event) return release(framer.offset)
      is_done = true
      held = []
      passed = framer.offset
      return NOTHING
    },
  }
}

function tellsUsageOnly(raw: Buffer): boolean {
  if (!hasValue(raw, USAGE)) return false
  const json = parsed(readFields(raw).data.join('\n'))
  return isObject(json) && isObject(json.usage) && Array.isArray(json.choices) && json.choices.length === 0
}
