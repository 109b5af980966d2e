import {monthOf} from './months.ts'
import {isWordAt, PAUSE, type ScannedText} from './scanned-text.ts'

export interface FullDate {
  readonly start: number
  readonly end: number
}

const FIRST_YEAR = 1890
const LAST_YEAR = 2050

/**
 * Dates with day, month and year, in numbers or with the month's name; in order, none over another; undefined where it
 * may pause.
 */
export function* datesOf(page: ScannedText): Generator<FullDate | undefined> {
  const {groups} = page
  let seen = 0
  for (let group = 0; group < groups.length; group += 2) {
    if (group % PAUSE === 0) yield undefined
    page.work.spend(1)
    const size = groups[group + 1]! - groups[group]!
    const date =
      size === 8
        ? compact(page, group)
        : size <= 4
          ? (numeric(page, group) ?? dayFirst(page, group) ?? monthFirst(page, group))
          : undefined
    if (!date || date.start < seen) continue
    yield date
    seen = date.end
  }
}

/** `19870303` */
function compact({text, groups}: ScannedText, group: number): FullDate | undefined {
  const [start, end] = [groups[group]!, groups[group + 1]!]
  if (isWordAt(text, start - 1) || isWordAt(text, end) || isTied(text, start - 1, -1) || isTied(text, end, 1))
    return undefined
  const is_whole =
    isYear(Number(text.slice(start, start + 4)), 4) &&
    isMonth(Number(text.slice(start + 4, start + 6))) &&
    isDay(Number(text.slice(start + 6, end)))
  return is_whole ? {start, end} : undefined
}

/** `1987-03-03`, `3.3.1987`, `03/03/87`, `3. 3. 1987`, `1987年3月3日`, `1987. 3. 3.` */
function numeric({text, groups, work}: ScannedText, group: number): FullDate | undefined {
  if (group + 5 >= groups.length) return undefined
  const [start, one, two, three, four, end] = [
    groups[group]!,
    groups[group + 1]!,
    groups[group + 2]!,
    groups[group + 3]!,
    groups[group + 4]!,
    groups[group + 5]!,
  ]
  work.spend(6)
  if (two - one > 2 || four - three > 2 || three - two > 2 || end - four > 4 || isWordAt(text, start - 1))
    return undefined
  // A year comes first or last.
  if (one - start !== 4 && (one - start > 2 || (end - four !== 4 && end - four !== 2))) return undefined
  const [first, second] = [text.slice(one, two).trim(), text.slice(three, four).trim()]
  const numbers = [
    Number(text.slice(start, one)),
    Number(text.slice(two, three)),
    Number(text.slice(four, end)),
  ] as const
  const sizes = [one - start, three - two, end - four] as const
  if (first === '年' || first === '년') {
    const is_whole =
      isYear(numbers[0], sizes[0]) && isMonth(numbers[1]) && isDay(numbers[2]) && (second === '月' || second === '월')
    const closed = '日일'.includes(text[end] ?? ' ')
      ? end + 1
      : text[end] === ' ' && text[end + 1] === '일'
        ? end + 2
        : end
    return is_whole ? {start, end: closed} : undefined
  }
  if (first !== second || !'-./'.includes(first) || first.length > 1) {
    if (!(first === '' && second === '' && sizes[0] === 2 && sizes[1] === 2 && sizes[2] === 4 && text[one] === ' '))
      return undefined
  }
  if (
    isTied(text, start - 1, -1) ||
    (isTied(text, end, 1) && text[end] !== 'T') ||
    (isWordAt(text, end) && text[end] !== 'T')
  )
    return undefined
  if (sizes[1] > 2) return undefined
  if (sizes[0] === 4)
    return isYear(numbers[0], 4) && isMonth(numbers[1]) && sizes[2] <= 2 && isDay(numbers[2]) ? {start, end} : undefined
  if (sizes[0] > 2 || !isYear(numbers[2], sizes[2])) return undefined
  const fits = (isDay(numbers[0]) && isMonth(numbers[1])) || (isMonth(numbers[0]) && isDay(numbers[1]))
  return fits ? {start, end} : undefined
}

const NEAR = 32

/** `3 March 1987`, `9th of May, 1981`, `3. März 1987`, `3 de marzo de 1987`, `03-Mar-1987` */
function dayFirst({text, lower, groups, work}: ScannedText, group: number): FullDate | undefined {
  const [start, end] = [groups[group]!, groups[group + 1]!]
  const year = groups[group + 2]
  if (end - start > 2 || year === undefined || year - end > NEAR || groups[group + 3]! - year !== 4) return undefined
  if (isWordAt(text, start - 1) || isWordAt(text, groups[group + 3]!) || !isDay(Number(text.slice(start, end))))
    return undefined
  const between = lower.slice(end, year)
  work.spend(between.length)
  const match =
    /^(?:st|nd|rd|th|er|º|ª|\.|:e|-го|-е)?[ -]{1,2}(?:day )?(?:of |de |di |del |d'|den )?(\p{L}{3,14})\.?,?[ -]{1,2}(?:de |del |of )?$/u.exec(
      between,
    )
  const month = match && monthOf(match[1]!)
  return month && isYear(Number(text.slice(year, year + 4)), 4) ? {start, end: year + 4} : undefined
}

/** `July 19, 1956`, `Jul. 19th 1956` */
function monthFirst({text, lower, groups, work}: ScannedText, group: number): FullDate | undefined {
  const [start, end] = [groups[group]!, groups[group + 1]!]
  const year = groups[group + 2]
  if (end - start > 2 || year === undefined || year - end > 6 || groups[group + 3]! - year !== 4) return undefined
  if (!isDay(Number(text.slice(start, end))) || isWordAt(text, groups[group + 3]!)) return undefined
  const before = lower.slice(Math.max(0, start - 16), start)
  work.spend(before.length)
  const name = /(?<!\p{L})(\p{L}{3,14})\.? $/u.exec(before)
  if (!name || !monthOf(name[1]!) || !/^(?:st|nd|rd|th)?,? ?$/.test(lower.slice(end, year))) return undefined
  return isYear(Number(text.slice(year, year + 4)), 4) ? {start: start - name[0].length, end: year + 4} : undefined
}

/** A further part of something longer, joined by a sign and a digit. */
function isTied(text: string, at: number, step: 1 | -1): boolean {
  return '-./'.includes(text[at] ?? ' ') && /\d/.test(text[at + step] ?? '')
}

function isYear(year: number, size: number): boolean {
  return size === 2 || (size === 4 && year >= FIRST_YEAR && year <= LAST_YEAR)
}

function isMonth(month: number): boolean {
  return month >= 1 && month <= 12
}

function isDay(day: number): boolean {
  return day >= 1 && day <= 31
}
