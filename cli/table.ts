import {cut, pad, plain, width, wrapped} from './width.ts'

export type Cell = string | number | boolean | null | undefined

/** A column of a table of `Row`s. */
export interface TableColumn<Row> {
  readonly title: string
  readonly value: (row: Row) => Cell
  /** Never cut, however narrow the terminal: ids and slugs are copied from it. */
  readonly whole?: true
  /** In its place where the terminal is too narrow for all: still what the next command takes. */
  readonly short?: (row: Row) => Cell
  /** Left out where the terminal is too narrow for all; those of a higher number first. */
  readonly optional?: number
  /** On a terminal it has lines of its own below its row, where it has a value: a sentence does not fit in a column. */
  readonly below?: true
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
/** A text says something in so many columns. */
const READABLE = 8
const LEAST = 6
const BELOW = '    '
const MOST_LINES_BELOW = 4
/** A day, a time, or an id: cut, they would be others. */
const EXACT = /^(?:-|never|(?:\d{4}-)?\d\d-\d\d(?:[ T][\d:.]+Z?)?|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/

/** A column with its texts, as far as a table has come. */
interface Shown<Row> {
  readonly column: TableColumn<Row>
  readonly texts: readonly string[]
  readonly width: number
  /** False for what would say something else when it is cut. */
  readonly may_cut: boolean
}

/**
 * The lines of an aligned table, titles first. Where it is too wide, short forms come in the place of long ones, then
 * optional columns are left out, then texts are cut. Where not even that is enough, other texts are left out, and whole
 * ones are cut last: no line is wider than the terminal.
 */
export function tableLines<Row>(
  rows: readonly Row[],
  all: readonly TableColumn<Row>[],
  {columns: room, style}: TableOptions,
): string[] {
  const below = room === undefined ? [] : all.filter(({below}) => below)
  const beside = all.filter(each => !below.includes(each))
  const shown = room === undefined ? beside.map(column => shownOf(rows, column)) : fitting(rows, beside, room)
  const widths = shown.map(each => each.width)
  if (room !== undefined) shrink(widths, shown, room)
  const line = (texts: readonly string[], kind: 'title' | 'cell') =>
    texts
      .map((text, at) => {
        const {align} = shown[at]!.column
        const last = at === texts.length - 1 && align !== 'right'
        const fitted = cut(text, widths[at]!)
        const space = last ? '' : ' '.repeat(Math.max(0, widths[at]! - width(fitted)))
        const styled = style(kind, fitted)
        return align === 'right' ? space + styled : styled + space
      })
      .join(GAP)
      .trimEnd()
  const sentences = (row: Row) =>
    below
      .map(({value}) => value(row))
      .filter(value => value !== null && value !== undefined && value !== '')
      .flatMap(value => wrapped(cellText(value), Math.max(1, room! - BELOW.length), MOST_LINES_BELOW))
      .map(text => cut(BELOW, room! - 1) + style('cell', text))
  const titles = shown.map(({column}) => column.title.toUpperCase())
  return [
    line(titles, 'title'),
    ...rows.flatMap((row, at) => [
      line(
        shown.map(({texts}) => texts[at]!),
        'cell',
      ),
      ...sentences(row),
    ]),
  ]
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

/** The columns that have room. */
function fitting<Row>(rows: readonly Row[], all: readonly TableColumn<Row>[], room: number): readonly Shown<Row>[] {
  let shown = all.map(column => shownOf(rows, column))
  const isWider = (most_text: number) =>
    totalOf(shown.map(({width, may_cut}) => (may_cut ? Math.min(width, most_text) : width))) > room
  if (isWider(Number.POSITIVE_INFINITY))
    shown = all.map(({short, ...column}) => shownOf(rows, short ? {...column, value: short} : column))
  for (;;) {
    const most = Math.max(0, ...shown.map(({column: {optional = 0}}) => optional))
    if (most === 0 || !isWider(READABLE)) break
    const out = shown.findIndex(({column: {optional}}) => optional === most)
    shown = shown.filter((_, at) => at !== out)
  }
  for (;;) {
    const out = shown.findLastIndex(({may_cut}, at) => may_cut && at > 0)
    if (out < 0 || !isWider(LEAST)) return shown
    shown = shown.filter((_, at) => at !== out)
  }
}

function shownOf<Row>(rows: readonly Row[], column: TableColumn<Row>): Shown<Row> {
  const texts = rows.map(row => cellText(column.value(row)))
  const {title, least = 0, whole, align} = column
  return {
    ...{column, texts},
    width: Math.max(width(title), least, ...texts.map(width)),
    // a number that is cut would say another
    may_cut:
      !whole && align !== 'right' && !(texts.some(text => text !== '-') && texts.every(text => EXACT.test(text))),
  }
}

const totalOf = (widths: readonly number[]) =>
  widths.reduce((sum, each) => sum + each, 0) + GAP.length * (widths.length - 1)

function shrink<Row>(widths: number[], shown: readonly Shown<Row>[], room: number) {
  const narrow = (may: (each: Shown<Row>) => boolean, least: number) => {
    while (totalOf(widths) > room) {
      let widest = -1
      for (const [at, each] of widths.entries())
        if (may(shown[at]!) && each > least && (widest < 0 || each > widths[widest]!)) widest = at
      if (widest < 0) return
      widths[widest]! -= 1
    }
  }
  narrow(({may_cut}) => may_cut, LEAST)
  narrow(({column: {align}}) => align !== 'right', LEAST)
  narrow(({column: {align}}) => align !== 'right', 1)
  narrow(() => true, 1)
}
