import {cut, pad, plain, width} from './width.ts'

export type Cell = string | number | boolean | null | undefined

/** A column of a table of `Row`s. */
export interface Column<Row> {
  readonly title: string
  readonly value: (row: Row) => Cell
  /** Never cut, however narrow the terminal: ids and slugs are copied from it. */
  readonly whole?: true
  readonly align?: 'left' | 'right'
  /** At least so wide. */
  readonly least?: number
}

export interface TableOptions {
  /** Columns of the terminal; undefined cuts nothing (a pipe). */
  readonly columns: number | undefined
  readonly style: (kind: 'title' | 'cell', text: string) => string
}

const GAP = '  '
const LEAST = 6

/** The lines of an aligned table, titles first. Where it is too wide, the widest columns that may be cut are cut. */
export function tableLines<Row>(rows: readonly Row[], columns: readonly Column<Row>[], {columns: room, style}: TableOptions): string[] {
  const cells = rows.map(row => columns.map(({value}) => cellText(value(row))))
  const titles = columns.map(({title}) => title.toUpperCase())
  const widths = columns.map(({least = 0}, at) => [titles, ...cells].reduce((most, line) => Math.max(most, width(line[at]!)), least))
  if (room !== undefined) shrink(widths, columns, room)
  const line = (texts: readonly string[], kind: 'title' | 'cell') =>
    texts
      .map((text, at) => {
        const last = at === texts.length - 1 && columns[at]!.align !== 'right'
        const fitted = cut(text, widths[at]!)
        const space = last ? '' : ' '.repeat(widths[at]! - width(fitted))
        const styled = style(kind, fitted)
        return columns[at]!.align === 'right' ? space + styled : styled + space
      })
      .join(GAP)
      .trimEnd()
  return [line(titles, 'title'), ...cells.map(texts => line(texts, 'cell'))]
}

/** The lines of names and values, one pair a line, the values under one another. */
export function pairLines(pairs: readonly (readonly [name: string, value: string])[], style: TableOptions['style']): string[] {
  const widest = Math.max(0, ...pairs.map(([name]) => width(name)))
  return pairs.map(([name, value]) => `${style('title', pad(name, widest))}${GAP}${style('cell', value)}`.trimEnd())
}

/** A value as a cell shows it: nothing is `-`. */
export function cellText(value: Cell): string {
  if (value === null || value === undefined || value === '') return '-'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return plain(String(value))
}

function shrink<Row>(widths: number[], columns: readonly Column<Row>[], room: number) {
  const total = () => widths.reduce((sum, each) => sum + each, 0) + GAP.length * (widths.length - 1)
  while (total() > room) {
    let widest = -1
    for (const [at, each] of widths.entries())
      if (!columns[at]!.whole && each > LEAST && (widest < 0 || each > widths[widest]!)) widest = at
    if (widest < 0) return
    widths[widest]! -= 1
  }
}
