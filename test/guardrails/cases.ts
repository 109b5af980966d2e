import type {JsonValue} from '../../src/guardrails/json.ts'
import type {CheckSetup} from './support.ts'

/** One line of the tables: a check on one call. */
export interface Case extends CheckSetup {
  readonly check: string
  readonly kind: 'pass' | 'fail' | 'not' | 'edge' | 'error' | 'redaction'
  readonly name: string
  readonly parameters: Record<string, unknown>
  /** The check's own verdict. Absent where the parameters are refused. */
  readonly verdict?: boolean
  /** A part of the sentence with which the parameters are refused. */
  readonly refused?: string
  /** A part of the error's sentence. */
  readonly error?: string
  /** A part of the explanation. */
  readonly says?: string
  /** The body afterwards; absent: as it was. */
  readonly becomes?: JsonValue
}
