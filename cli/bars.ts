import {pad} from './width.ts'

const FULL = '█'
const PARTS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

export interface Bar {
  readonly label: string
  readonly value: number
  /** The value in words. */
  readonly text: string
}

/** A line for each value, its bar as long as it is of the most; `room` are the columns there are. */
export function barLines(bars: readonly Bar[], room: number): string[] {
  const most = Math.max(0, ...bars.map(({value}) => value))
  const label = Math.max(0, ...bars.map(each => each.label.length))
  const text = Math.max(0, ...bars.map(each => each.text.length))
  const length = Math.max(8, room - label - text - 4)
  return bars.map(each =>
    `${pad(each.label, label)}  ${' '.repeat(text - each.text.length)}${each.text}  ${barOf(each.value, most, length)}`.trimEnd(),
  )
}

function barOf(value: number, most: number, length: number): string {
  if (most <= 0 || value <= 0) return ''
  const eighths = Math.max(1, Math.round((value / most) * length * 8))
  return FULL.repeat(Math.floor(eighths / 8)) + PARTS[eighths % 8]!
}
