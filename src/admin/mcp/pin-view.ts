import type {z} from 'zod'
import {jsonDifference} from '../../base/json-difference.ts'
import type {Pin} from '../../schema/mcp-pin-changes.ts'
import type {CapabilityPin} from '../../schema/mcp-pins.ts'

export type PinView = z.output<typeof CapabilityPin>

/** A pin as people see it: the hash to approve, and what is different from what was approved. */
export function pinView(pin: Pin | null): PinView | null {
  if (!pin) return null
  const newest = pin.seen.at(-1)
  return {
    state: pin.gone_at === null ? pin.state : 'gone',
    hash: pin.approved_hashes.at(-1) ?? null,
    seen_hash: newest?.hash ?? null,
    seen_at: newest?.at ?? null,
    difference: newest ? [...jsonDifference(pin.approved_definition ?? {}, newest.definition)] : [],
    other_seen_hashes: pin.seen.slice(0, -1).map(({hash}) => hash),
    suspicions: pin.suspicions.map(({path, rules}) => ({path, rules: [...rules]})),
  }
}

/** The state of a pin; null of a capability that no sync has read. */
export function stateOf(pin: PinView | null): PinView['state'] | null {
  return pin?.state ?? null
}
