import type {TraceSampling} from '../../settings/index.ts'
import {traceIdOf} from './ids.ts'
import type {ExportedRecord} from './record.ts'

/** 63 bits, as other SDKs compare them: of one trace all parts decide the same. */
const ALL = 2n ** 63n
const SCALE = 2 ** 53

/** True for a record whose spans are sent. */
export function isSampled(record: Pick<ExportedRecord, 'entry' | 'w3c'>, sampling: TraceSampling | undefined): boolean {
  if (!sampling) return true
  const {name, ratio} = sampling
  if (name.startsWith('parentbased_') && record.w3c) return record.w3c.is_sampled
  if (name.endsWith('always_on')) return true
  if (name.endsWith('always_off') || ratio === 0) return false
  return ratio === 1 || placeOf(record.entry.trace_id) < (BigInt(Math.round(ratio * SCALE)) * ALL) / BigInt(SCALE)
}

/** The place of a trace among all: the last 63 bits but one of its id. */
function placeOf(trace_id: string): bigint {
  return BigInt(`0x${traceIdOf(trace_id).slice(16)}`) >> 1n
}
