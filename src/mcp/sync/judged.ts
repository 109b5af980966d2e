import {inTimeSlices, type SlicedWork} from '../../guardrails/time-slices.ts'
import type {Suspicion} from '../../schema/mcp-pin-changes.ts'
import {pinOf} from '../../store/mcp-capabilities.ts'
import type {CapabilityType, McpCapabilitiesTable} from '../../store/tables/registry.ts'
import {suspicionsOf} from '../content/suspicions.ts'
import type {Offered} from './offered.ts'

/** A capability with what its texts were found to be; null: its definition is known, and was looked at then. */
export interface JudgedCapability extends Offered {
  readonly suspicions: readonly Suspicion[] | null
}

/** Looks at the texts of definitions that no row has, in slices of time: other calls continue meanwhile. */
export async function judged(
  offered: readonly Offered[],
  rows: readonly McpCapabilitiesTable[],
): Promise<readonly JudgedCapability[]> {
  const known = new Map(rows.map(row => [keyOf(row), row]))
  const isKnown = ({type, name, hash}: Offered) => {
    const row = known.get(keyOf({type, name}))
    const pin = row && pinOf(row)
    return pin ? pin.approved_hashes.includes(hash) || pin.seen.some(each => each.hash === hash) : false
  }
  return inTimeSlices(judging(offered, isKnown))
}

function* judging(offered: readonly Offered[], isKnown: (each: Offered) => boolean): SlicedWork<JudgedCapability[]> {
  const all: JudgedCapability[] = []
  for (const each of offered) {
    all.push({...each, suspicions: isKnown(each) ? null : yield* suspicionsOf(each.definition)})
    yield
  }
  return all
}

export function keyOf({type, name}: {readonly type: CapabilityType; readonly name: string}): string {
  return `${type} ${name}`
}
