import {cut, pad, plain, width} from './width.ts'

export type Cell = string | number | boolean | null | undefined

/** A column of a table of `Row`s. */
export interface TableColumn<Row> {
  readonly title: string
  readonly value: (row: Row) => Cell
  /** Never cut, however narrow the terminal: ids and slugs are copied from it. */
  readonly whole?: true
  /** Left out where the terminal is too narrow for all; those of a higher number first. */
  readonly optional?: number
  /** The value that `--quiet` prints of a row, if not the first column. */
  readonly essential?: true
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

/**
 * The lines of an aligned table, titles first. Where it is too wide, the widest columns that may be cut are cut, then
 * optional ones are left out, then whole ones are cut too: no line is wider than the terminal.
 */
export function tableLines<Row>(
  rows: readonly Row[],
  all: readonly TableColumn<Row>[],
  {columns: room, style}: TableOptions,
): string[] {
  const columns = room === undefined ? all : fitting(rows, all, room)
  const cells = rows.map(row => columns.map(({value}) => cellText(value(row))))
  const titles = columns.map(({title}) => title.toUpperCase())
  const widths = widthsOf(rows, columns)
  if (room !== undefined) shrink(widths, columns, room)
  const line = (texts: readonly string[], kind: 'title' | 'cell') =>
    texts
      .map((text, at) => {
        const last = at === texts.length - 1 && columns[at]!.align !== 'right'
        const fitted = cut(text, widths[at]!)
        const space = last ? '' : ' '.repeat(Math.max(0, widths[at]! - width(fitted)))
        const styled = style(kind, fitted)
        return columns[at]!.align === 'right' ? space + styled : styled + space
      })
      .join(GAP)
      .trimEnd()
  return [line(titles, 'title'), ...cells.map(texts => line(texts, 'cell'))]
}

/** The lines of names and values, one pair a line, the values under one another. */
export function pairLines(
  pairs: readonly (readonly [name: string, value: string])[],
  style: TableOptions['style'],
): string[] {
  const widest = Math.max(0, ...pairs.map(([name]) => width(name)))
  return pairs.map(([name, value]) => `${style('title', pad(name, widest))}${GAP}${style('cell', value)}`.trimEnd())
}

/** A value as a cell shows it: nothing is `-`. */
export function cellText(value: Cell): string {
  if (value === null || value === undefined || value === '') return '-'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return plain(String(value))
}

/**
 * The columns that have room: those that are optional are left out while even the narrowest of the others have none.
 */
function fitting<Row>(
  rows: readonly Row[],
  all: readonly TableColumn<Row>[],
  room: number,
): readonly TableColumn<Row>[] {
  let columns = all
  for (;;) {
    const widths = widthsOf(rows, columns)
    const least = widths.map((each, at) => (isCuttable(columns[at]!) ? Math.min(each, LEAST) : each))
    const most = Math.max(0, ...columns.map(({optional = 0}) => optional))
    if (totalOf(least) <= room || most === 0) return columns
    const out = columns.findIndex(({optional}) => optional === most)
    columns = columns.filter((_, at) => at !== out)
  }
}

function widthsOf<Row>(rows: readonly Row[], columns: readonly TableColumn<Row>[]): number[] {
  return columns.map(({title, least = 0, value}) =>
    Math.max(width(title), least, ...rows.map(row => width(cellText(value(row))))),
  )
}

const totalOf = (widths: readonly number[]) =>
  widths.reduce((sum, each) => sum + each, 0) + GAP.length * (widths.length - 1)
// a number that is cut would say another
const isCuttable = ({whole, align}: Pick<TableColumn<never>, 'whole' | 'align'>) => !whole && align !== 'right'

function shrink<Row>(widths: number[], columns: readonly TableColumn<Row>[], room: number) {
  const narrow = (may: (column: TableColumn<Row>) => boolean, least: number) => {
    while (totalOf(widths) > room) {
      let widest = -1
      for (const [at, each] of widths.entries())
        if (may(columns[at]!) && each > least && (widest < 0 || each > widths[widest]!)) widest = at
      if (widest < 0) return
      widths[widest]! -= 1
    }
  }
  narrow(isCuttable, LEAST)
  narrow(({align}) => align !== 'right', LEAST)
  narrow(({align}) => align !== 'right', 1)
  narrow(() => true, 1)
}
