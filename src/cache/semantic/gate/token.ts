export interface GateToken {
  /** A `literal` is compared letter by letter; `break` is `.` after a sentence and `,` within one. */
  readonly kind: 'word' | 'number' | 'ordinal' | 'unit' | 'date' | 'symbol' | 'name' | 'quote' | 'code' | 'break'
  readonly text: string
  /** The first letter is a capital. */
  readonly capital?: boolean
}
