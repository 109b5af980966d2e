import type {JsonObject} from '../../base/json-member.ts'
import type {PinRules} from '../../schema/mcp-pins.ts'
import type {CapabilityType} from '../../store/tables/registry.ts'
import {judgePin, type PinVerdict, type RowPin} from '../content/pins.ts'

/** A capability's row with the key that requests name it by: the address of a resource, else its name. */
export interface PinnedRow extends RowPin {
  readonly type: CapabilityType
  readonly key: string
}

/** The pins of a server: what of it is as it was approved. */
export class Pins {
  readonly #rules: PinRules
  readonly #rows: ReadonlyMap<string, RowPin>

  constructor(rules: PinRules, rows: readonly PinnedRow[]) {
    this.#rules = rules
    this.#rows = new Map(rows.map(row => [`${row.type} ${row.key}`, row]))
  }

  /** The verdict of a capability, by its row and by the entry of a list; null: a call, where the row decides. */
  judge(type: CapabilityType, key: string, entry: JsonObject | null): PinVerdict {
    return judgePin(this.#rules, this.#rows.get(`${type} ${key}`), entry)
  }
}
