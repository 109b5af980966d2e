/**
 * Features by which two readers of one JSON text read different things: a key that comes twice in one object, or a
 * nesting deeper than all read. Or an object with more members than can be walked while others wait.
 */
export interface KeyFault {
  readonly kind: 'repeated' | 'deep' | 'wide'
  /** `messages[0].content`: the way to the key, or to where it gets too deep. */
  readonly path: string
}

/** Up to so many keys of an object are compared one by one. */
const FEW = 8
const LONGEST_PATH = 256

/** An object or a list that is open. */
interface Open {
  /** Of an object; null: a list. */
  keys: string[] | null
  set: Set<string> | null
  /** The current position: the last key, or the index in the list. */
  at: string | number
}

/** The most members of an object that are searched in a provider's answer: none that a model wrote has so many. */
export const WIDEST_OF_ANSWERS = 10_000

/**
 * The first such fault in `text`, which is JSON; null: there is none. One pass, however deep. `widest`: the most
 * members of an object.
 */
export function keyFault(text: string, deepest: number, widest = Number.POSITIVE_INFINITY): KeyFault | null {
  const finding = findingKeyFault(text, deepest, widest)
  for (;;) {
    const step = finding.next()
    if (step.done) return step.value
  }
}

/**
 * The same for a text whose value was read already, several times as fast where there is no fault: a text has as many
 * members as its value, unless one comes twice.
 */
export function keyFaultOf(text: string, value: unknown, deepest: number): KeyFault | null {
  return countColons(text, deepest) === countKeys(value) ? null : keyFault(text, deepest)
}

/** The colons outside of strings; -1 where the text is too deep. */
function countColons(text: string, deepest: number): number {
  let count = 0
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOf(text, at)
        if (at < 0) return -1
        break
      case COLON:
        count++
        break
      case OPEN_BRACE:
      case OPEN_BRACKET:
        if (++depth > deepest) return -1
        break
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth--
    }
  }
  return count
}

/** Called after the depth of the text was counted. */
function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (Array.isArray(value)) for (const each of value) count += countKeys(each)
  else {
    for (const key in value) count += 1 + countKeys((value as Readonly<Record<string, unknown>>)[key])
  }
  return count
}

/** Code units between two pauses. */
const UNITS_AT_ONCE = 64 << 10

/** The same with pauses. */
export function* findingKeyFault(
  text: string,
  deepest: number,
  widest = Number.POSITIVE_INFINITY,
): Generator<undefined, KeyFault | null> {
  let pause_at = UNITS_AT_ONCE
  const open: Open[] = []
  let is_key = false
  for (let at = 0; at < text.length; at++) {
    if (at >= pause_at) {
      pause_at = at + UNITS_AT_ONCE
      yield
    }
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const end = endOf(text, at)
        if (end < 0) return null
        const within = is_key ? open.at(-1) : undefined
        if (within && isRepeated(within, keyOf(text, at, end))) return {kind: 'repeated', path: pathOf(open)}
        if (within?.set && within.set.size > widest) return {kind: 'wide', path: pathOf(open)}
        at = end
        break
      }
      case OPEN_BRACE:
      case OPEN_BRACKET: {
        if (open.length === deepest) return {kind: 'deep', path: pathOf(open)}
        is_key = text.charCodeAt(at) === OPEN_BRACE
        open.push({keys: is_key ? [] : null, set: null, at: is_key ? '' : 0})
        break
      }
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        open.pop()
        is_key = false
        break
      case COLON:
        is_key = false
        break
      case COMMA: {
        const within = open.at(-1)
        is_key = within?.keys != null
        if (within && typeof within.at === 'number') within.at++
        break
      }
    }
  }
  return null
}

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

function isRepeated(within: Open, key: string): boolean {
  within.at = key
  const {keys, set} = within
  if (set) return set.size === set.add(key).size
  if (keys!.includes(key)) return true
  keys!.push(key)
  if (keys!.length > FEW) within.set = new Set(keys)
  return false
}

function endOf(text: string, at: number): number {
  for (let from = at + 1; ; ) {
    const close = text.indexOf('"', from)
    if (close < 0) return -1
    let slashes = 0
    while (text.charCodeAt(close - 1 - slashes) === BACKSLASH) slashes++
    if (slashes % 2 === 0) return close
    from = close + 1
  }
}

/** `"a"` and `"\u0061"` are one key. */
function keyOf(text: string, at: number, end: number): string {
  const raw = text.slice(at + 1, end)
  return raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw
}

function pathOf(open: readonly Open[]): string {
  const path = open.map(({at}) => (typeof at === 'number' ? `[${at}]` : `.${at}`)).join('')
  return path.replace(/^\./, '').slice(0, LONGEST_PATH)
}
