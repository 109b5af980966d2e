import {cellText, type TableColumn, tableLines} from '../../../cli/table.ts'
import {cut, width} from '../../../cli/width.ts'

export interface Table {
  readonly rows: readonly unknown[]
  readonly columns: readonly TableColumn<unknown>[]
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/
const TIME = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d/
const MINUTE = /\d\d:\d\d/
/** Titles of columns that hold sentences. */
const SENTENCES = /^(?:reason|last error|what became of it)$/
/** A text that is cut says something in so many columns. */
const READABLE = 8

const style = (_: string, text: string) => text
const isNumber = ({align}: TableColumn<unknown>) => align === 'right'
/** The title as it is in its line, as much of it as no layout cuts. */
const titleOf = (column: TableColumn<unknown>) => {
  const title = column.title.toUpperCase()
  return isNumber(column) || column.whole ? title : title.slice(0, 5)
}

/**
 * The losses of a table on a terminal of `room` columns. `takes_prefix`: the command that shows one row takes the first
 * characters of its id. Where there are some, the beginning of its frame follows.
 */
export function faultsOf({rows, columns}: Table, room: number, takes_prefix: boolean): string[] {
  const lines = tableLines(rows, columns, {columns: room, style})
  const titles = `  ${lines[0]}`
  const beside = columns.filter(({below, title}) => !below && title !== '')
  const shown = beside.filter(column => titles.includes(`  ${titleOf(column)}`))
  const faults = lines.filter(line => width(line) > room).map(line => `wider than the terminal: ${line}`)
  for (const column of beside)
    if (!shown.includes(column) && column.optional === undefined) faults.push(`${column.title} is left out`)
  for (const {title, below} of columns) if (SENTENCES.test(title) && !below) faults.push(`${title} is in a column`)
  const named = columns.find(({essential}) => essential) ?? columns[0]!
  if (named.optional !== undefined) faults.push(`${named.title} names a row, and is left out first`)
  let at = 1
  for (const row of rows) {
    const line = lines[at]!
    const more = tableLines([row], columns, {columns: room, style}).length - 2
    const below = lines.slice(at + 1, at + 1 + more).map(text => text.trim())
    at += 1 + more
    faults.push(...shown.flatMap(column => faultOf(column, row, line, takes_prefix)))
    for (const column of columns.filter(each => each.below)) {
      const text = column.value(row)
      if (typeof text === 'string' && !below.join(' ').includes(cellText(text).slice(0, 60)))
        faults.push(`${column.title} is not below its row: ${text}`)
    }
  }
  return faults.length ? [...new Set(faults), ...lines.slice(0, 2)] : []
}

function faultOf(column: TableColumn<unknown>, row: unknown, line: string, takes_prefix: boolean): string[] {
  const value = column.value(row)
  const text = cellText(value)
  const short = column.short ? cellText(column.short(row)) : text
  const is_time = TIME.test(text)
  const is_id = UUID.test(text)
  if (/^\d{4}-\d\d-\d\dT/.test(text)) return [`${column.title} is a time for machines: ${text}`]
  if (is_time && !MINUTE.test(short)) return [`${column.title} has no minutes: ${short}`]
  if (is_id && !line.includes(text) && !(takes_prefix && text.startsWith(short)))
    return [`${column.title} is an id that no command takes: ${line}`]
  const is_exact = is_time || is_id || column.whole || isNumber(column) || typeof value === 'number'
  const forms = [text, short].map(form => (is_exact ? form : cut(form, READABLE).replace(/…$/, '')))
  return forms.some(form => line.includes(form)) ? [] : [`${column.title} is cut: ${text} in ${line}`]
}
