import {parseRegex, type Ranges, RegexFault} from '../base/regex-syntax.ts'

/**
 * `source` written so that it means without flags what it means with the flag `i` (ECMA-262, Canonicalize without `u`),
 * and with `s` when `dot_all`: letters and classes become classes that hold both cases.
 */
export function folded(source: string, is_folded: boolean, dot_all: boolean): string {
  parseRegex(source)
  let made = ''
  for (let at = 0; at < source.length; ) {
    const end = atomEnd(source, at)
    const atom = source.slice(at, end)
    if (atom === '.' && dot_all) made += '[^]'
    else made += is_folded ? foldedAtom(atom) : atom
    at = end
  }
  return made
}

/** After the atom, sign or head of a group that begins at `at`. */
function atomEnd(source: string, at: number): number {
  if (source[at] === '[') {
    let end = at + 1
    while (source[end] !== ']') end += source[end] === '\\' ? 2 : 1
    return end + 1
  }
  if (source[at] === '(') return at + (/^\((?:\?(?::|<[^>]*>))?/.exec(source.slice(at, at + 300))?.[0].length ?? 1)
  if (source[at] !== '\\') return at + 1
  const long = {x: 4, u: 6, c: 3}[source[at + 1]!]
  return at + (long ?? 2)
}

function foldedAtom(atom: string): string {
  if (atom[0] === '[') {
    const is_inverted = atom[1] === '^'
    const ranges = rangesOf(is_inverted ? `[${atom.slice(2)}` : atom)
    return ranges ? `[${is_inverted ? '^' : ''}${written(bothCases(ranges))}]` : atom
  }
  const is_letter = atom.length === 1 && atom.toLowerCase() !== atom.toUpperCase()
  const is_code = /^\\[xu]/.test(atom)
  if (!is_letter && !is_code) return atom
  const ranges = rangesOf(atom)!
  const both = bothCases(ranges)
  return both.length === ranges.length ? atom : `[${written(both)}]`
}

function rangesOf(atom: string): Ranges | undefined {
  const syntax = parseRegex(atom)
  if (syntax.kind !== 'set') throw new RegexFault('a class was expected')
  return syntax.ranges.length ? syntax.ranges : undefined
}

let cased: ReadonlyMap<number, readonly number[]> | undefined

/** Code units that are one letter in several cases, by each of them. */
function sameLetters(): ReadonlyMap<number, readonly number[]> {
  if (cased) return cased
  const letters = new Map<number, number[]>()
  for (let unit = 0; unit < 0x10000; unit++) {
    const upper = String.fromCharCode(unit).toUpperCase()
    const canonical = upper.length === 1 && !(unit > 127 && upper.charCodeAt(0) < 128) ? upper.charCodeAt(0) : unit
    if (canonical !== unit) letters.set(canonical, [...(letters.get(canonical) ?? [canonical]), unit])
  }
  cased = new Map(
    [...letters.values()].flatMap(units => units.map((unit): [number, readonly number[]] => [unit, units])),
  )
  return cased
}

function bothCases(ranges: Ranges): readonly number[] {
  const added: number[] = []
  const has = (unit: number) =>
    ranges.some((low, index) => index % 2 === 0 && low <= unit && unit <= ranges[index + 1]!)
  const narrow = ranges.length === 2 && ranges[0] === ranges[1]
  if (narrow) for (const other of sameLetters().get(ranges[0]!) ?? []) added.push(other)
  else for (const [unit, others] of sameLetters()) if (has(unit)) added.push(...others)
  const units = [...new Set(added)].filter(unit => !has(unit)).sort((one, other) => one - other)
  const joined: number[] = []
  for (const unit of units) {
    if (joined.length && joined.at(-1) === unit - 1) joined[joined.length - 1] = unit
    else joined.push(unit, unit)
  }
  return [...ranges, ...joined]
}

function written(ranges: Ranges): string {
  let text = ''
  for (let at = 0; at < ranges.length; at += 2) {
    const [from, to] = [ranges[at]!, ranges[at + 1]!]
    text += from === to ? unit(from) : `${unit(from)}-${unit(to)}`
  }
  return text
}

function unit(code: number): string {
  const sign = String.fromCharCode(code)
  return /[A-Za-z0-9]/.test(sign) ? sign : `\\u${code.toString(16).padStart(4, '0')}`
}
