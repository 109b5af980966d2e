import type {CountedWork} from './work.ts'

/** Tables in a text: lines of as many fields as the line that heads them. */
export interface Columns {
  /** The head of the column of a position, in lower case; '' outside a table. */
  headAt(position: number): string
}

const DELIMITERS = [',', ';', '\t', '|']
/** Code units; a longer line is no row, so that a look costs no more than this. */
const LONGEST = 512
const LONGEST_HEAD = 40

export function columnsOf(text: string, work: CountedWork): Columns {
  if (!text.includes('\n')) return {headAt: () => ''}
  let table: {readonly starts: readonly number[]; readonly heads: readonly number[]} | undefined
  return {
    headAt(position) {
      table ??= tableOf(text, work)
      const {starts, heads} = table
      const line = lineAt(starts, position)
      const head = heads[line]!
      if (head === line) return ''
      const row = lineText(text, starts, line)
      const first = lineText(text, starts, head)
      work.spend(row.length + first.length)
      const delimiter = delimiterOf(first)!
      const at = row.slice(0, position - starts[line]!).split(delimiter).length - 1
      const field = first.split(delimiter)[at]?.trim() ?? ''
      return field.length <= LONGEST_HEAD && !/\d{3}/.test(field) ? field.toLowerCase() : ''
    },
  }
}

/**
 * The starts of lines, and for each the line that heads it: itself, or the head of the line above when both have as
 * many fields.
 */
function tableOf(text: string, work: CountedWork) {
  work.spend(text.length)
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  const heads: number[] = []
  let above = {delimiter: undefined as string | undefined, fields: 0}
  for (let line = 0; line < starts.length; line++) {
    const row = lineText(text, starts, line)
    work.spend(row.length)
    const delimiter = above.delimiter && row.includes(above.delimiter) ? above.delimiter : delimiterOf(row)
    const fields = delimiter ? row.split(delimiter).length : 0
    const is_row = delimiter !== undefined && delimiter === above.delimiter && fields === above.fields
    heads.push(is_row ? heads[line - 1]! : line)
    above = {delimiter, fields}
  }
  return {starts, heads}
}

function lineAt(starts: readonly number[], position: number): number {
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (starts[middle]! <= position) low = middle
    else high = middle - 1
  }
  return low
}

/** A line without its end; '' for one that is too long to be a row. */
function lineText(text: string, starts: readonly number[], line: number): string {
  const start = starts[line]!
  const end = (starts[line + 1] ?? text.length + 1) - 1
  return end - start > LONGEST ? '' : text.slice(start, end)
}

function delimiterOf(row: string): string | undefined {
  return DELIMITERS.find(delimiter => row.includes(delimiter))
}
