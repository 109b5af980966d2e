import type {PiiSpan} from './classes.ts'

/** Shorter values are part of too many other words. */
const SHORTEST = 5
const LONGEST = 256
/** Of values that begin alike, so many lengths are tried at a place. */
const MAX_LENGTHS = 16
const PREFIX = 4
/** First code units are distinguished by their last bits: most places of a text begin no known value. */
const UNITS = 256

/** Values that were found somewhere in a body, to be found everywhere else in it. */
export interface KnownValues {
  /** The spans of a text with those of known values among them, in order. */
  among(text: string, spans: readonly PiiSpan[]): readonly PiiSpan[]
}

interface Alike {
  readonly lengths: number[]
  /** How each value was found. */
  readonly values: Map<string, PiiSpan>
}

/**
 * The words beside a value may be what identifies it, such as the name of a member of data. Where the same value comes
 * without them, a client would send a value that was removed a moment ago. Work grows with the length of the texts,
 * however many values there are. `from`: the index in a text from which a value is searched; this is checked for every
 * value once at least, when that is found.
 */
export function knownValues(
  texts: readonly {readonly text: string}[],
  found: readonly (readonly PiiSpan[])[],
  from?: (value: string, text: string) => number,
): KnownValues | undefined {
  const by_prefix = new Map<string, Alike>()
  for (const [index, spans] of found.entries()) {
    for (const span of spans) {
      // An address is found by its form everywhere.
      if (span.class === 'email') continue
      const value = texts[index]!.text.slice(span.start, span.end)
      if (value.length < SHORTEST || value.length > LONGEST) continue
      const prefix = value.slice(0, PREFIX)
      const alike: Alike = by_prefix.get(prefix) ?? {lengths: [], values: new Map()}
      if (!alike.lengths.includes(value.length)) {
        if (alike.lengths.length === MAX_LENGTHS) continue
        alike.lengths.push(value.length)
        alike.lengths.sort((one, other) => other - one)
      }
      if (!alike.values.has(value)) {
        alike.values.set(value, span)
        from?.(value, texts[index]!.text)
      }
      by_prefix.set(prefix, alike)
    }
  }
  if (by_prefix.size === 0) return undefined
  const firsts = new Uint8Array(UNITS)
  for (const prefix of by_prefix.keys()) firsts[prefix.charCodeAt(0) % UNITS] = 1
  return {
    among(text, spans) {
      const more: PiiSpan[] = []
      let next = 0
      for (let at = 0; at + SHORTEST <= text.length; at++) {
        while (next < spans.length && spans[next]!.end <= at) next++
        const span = spans[next]
        if (span && span.start <= at) {
          at = span.end - 1
          continue
        }
        if (firsts[text.charCodeAt(at) % UNITS] === 0 || isWord(text, at - 1)) continue
        const alike = by_prefix.get(text.slice(at, at + PREFIX))
        const length = alike?.lengths.find(
          each => alike.values.has(text.slice(at, at + each)) && !isWord(text, at + each),
        )
        if (!alike || !length || (span && at + length > span.start)) continue
        const value = text.slice(at, at + length)
        if (from && at < from(value, text)) continue
        more.push({...alike.values.get(value)!, start: at, end: at + length})
        at += length - 1
      }
      return more.length ? [...spans, ...more].sort((one, other) => one.start - other.start) : spans
    },
  }
}

function isWord(text: string, at: number): boolean {
  const code = at < 0 ? 0 : text.charCodeAt(at)
  if (code < 128) return (code > 47 && code < 58) || ((code | 32) > 96 && (code | 32) < 123)
  return !Number.isNaN(code) && /[\p{L}\p{N}]/u.test(text[at]!)
}
