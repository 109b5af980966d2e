import type {Printer} from './print.ts'
import type {TableColumn} from './table.ts'

/** US cents for one. */
interface Price {
  readonly price?: number
}
interface Side {
  readonly pay_as_you_go: Readonly<Record<string, Price | Readonly<Record<string, Price>> | undefined>>
}

export interface PriceDifference {
  readonly provider: string
  readonly model: string
  readonly change: 'added' | 'changed' | 'removed'
  readonly before: Side | null
  readonly after: Side | null
}

export interface Diff {
  readonly total: number
  readonly added: number
  readonly changed: number
  readonly removed: number
  readonly changes: readonly PriceDifference[]
}

const MAX_ROWS = 50

export const PRICE_DIFF_COLUMNS: readonly TableColumn<PriceDifference>[] = [
  {title: 'provider', value: row => row.provider},
  {title: 'model', value: row => row.model, whole: true},
  {title: 'change', value: row => row.change},
  {title: 'input $/M', value: row => turned(row, 'request_token'), align: 'right'},
  {title: 'output $/M', value: row => turned(row, 'response_token'), align: 'right'},
  {title: 'other rates', value: row => others(row), align: 'right', optional: 1},
]

/** The changes, as a table and a sentence; the first rows of a long one, unless `whole`. */
export function printDiff(print: Printer, diff: Diff, {whole = false} = {}): void {
  const {changes} = diff
  const rows = whole ? changes : changes.slice(0, MAX_ROWS)
  if (rows.length) print.list(diff, rows, PRICE_DIFF_COLUMNS)
  if (rows.length < changes.length)
    print.note(`${rows.length} of ${changes.length} changes are shown; --all shows the others.`)
}

/** `3000 prices: 12 added, 5 changed, 1 removed` */
export function countsOf({total, added, changed, removed}: Omit<Diff, 'changes'>): string {
  return `${total} ${total === 1 ? 'price' : 'prices'}: ${added} added, ${changed} changed, ${removed} removed`
}

function turned({change, before, after}: PriceDifference, rate: string): string {
  const one = dollars(before, rate)
  const other = dollars(after, rate)
  if (change === 'added') return other
  if (change === 'removed') return one
  return one === other ? one : `${one} → ${other}`
}

function dollars(side: Side | null, rate: string): string {
  const price = (side?.pay_as_you_go[rate] as Price | undefined)?.price
  return price === undefined ? '-' : inDollars(price * 1e4)
}

/** How many other rates and units differ. */
function others({before, after}: PriceDifference): number {
  const flat = (side: Side | null) => {
    const {request_token: _in, response_token: _out, ...rest} = side?.pay_as_you_go ?? {}
    return new Map(Object.entries(rest).map(([name, price]) => [name, JSON.stringify(price)]))
  }
  const [one, other] = [flat(before), flat(after)]
  return [...new Set([...one.keys(), ...other.keys()])].filter(name => one.get(name) !== other.get(name)).length
}

/** Binary fractions leave dust in the sixteenth digit. */
export function inDollars(value: number): string {
  return String(Number(value.toPrecision(12)))
}
