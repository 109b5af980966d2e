import type {WalkFault} from '../base/json-strings.ts'
import type {EndpointName} from '../schema/endpoints.ts'
import type {Side} from '../schema/guardrails.ts'
import {CheckFault} from './fault.ts'
import type {JsonValue} from './json.ts'
import {mapJsonStrings} from './json-strings.ts'
import {type Region, stringsIn, written} from './regions.ts'
import type {ByString} from './strings.ts'
import {atOnce, type SlicedWork} from './time-slices.ts'
import type {BodyString, View} from './view.ts'

/**
 * The strings of a body in an unknown dialect, found in its bytes: every one is a text. A rewrite changes values only,
 * each in its place.
 */
export class BytesView implements View {
  readonly kind = 'strings'
  readonly endpoint: EndpointName
  readonly side: Side
  readonly body = null
  readonly beside = ''
  readonly strings: readonly BodyString[]
  readonly #bytes: Buffer
  readonly #regions: readonly Region[]
  /** As they are in the bytes; each once. */
  readonly #found: readonly FoundText[]
  #texts: readonly string[] | undefined
  #text: string | undefined

  constructor(
    {endpoint, side}: Pick<View, 'endpoint' | 'side'>,
    bytes: Buffer,
    regions: readonly Region[],
    found: readonly FoundText[],
    strings = found,
  ) {
    this.endpoint = endpoint
    this.side = side
    this.strings = strings
    this.#bytes = bytes
    this.#regions = regions
    this.#found = found
  }

  get texts(): readonly string[] {
    this.#texts ??= this.strings.map(({text}) => text)
    return this.#texts
  }

  get text(): string {
    this.#text ??= this.texts.join('\n')
    return this.#text
  }

  rewrite(by: ByString): View {
    return atOnce(this.rewriting(by))
  }

  *rewriting(by: ByString): SlicedWork<View> {
    const strings: FoundText[] = []
    let is_changed = false
    for (const [at, found] of this.#found.entries()) {
      if (at % STRINGS_AT_ONCE === STRINGS_AT_ONCE - 1) yield
      const now = this.strings[at]!
      const put = found.is_key ? now.text : by(now.text, now.called, false)
      is_changed ||= put !== now.text
      strings.push(put === now.text ? (now as FoundText) : {...found, text: put})
    }
    return is_changed ? new BytesView(this, this.#bytes, this.#regions, this.#found, strings) : this
  }

  /** A service returns a whole body as JSON, which can replace JSON alone. */
  withBody(body: JsonValue): View {
    if (this.#regions[0]?.form !== 'json' || this.#regions.length > 1)
      throw new CheckFault('This body cannot be replaced by JSON.')
    const bytes = Buffer.from(JSON.stringify(body))
    const read = atOnce(readingBytes(this, bytes, [{form: 'json', start: 0, end: bytes.length, called: ''}], []))
    if (typeof read === 'string') throw new CheckFault('The body that is to replace this one cannot be judged.')
    return read
  }

  /** The bytes with what was rewritten in the places of those strings, every other byte as it was. */
  *splicing(): SlicedWork<Buffer> {
    const puts = new Map<string, Map<string, string>>()
    for (const [at, {text, called, is_key}] of this.#found.entries()) {
      const now = this.strings[at]!.text
      if (!is_key && now !== text) textsCalled(puts, called).set(text, now)
    }
    const parts: Buffer[] = []
    let kept = 0
    for (const region of this.#regions) {
      for (const found of stringsIn(this.#bytes, region)) {
        if (found === undefined) yield
        const put =
          found && !found.is_key ? mapText(found, (text, called) => puts.get(called)?.get(text) ?? text) : undefined
        if (!found || put === undefined || put === found.text) continue
        parts.push(this.#bytes.subarray(kept, found.start), Buffer.from(written(region.form, put)))
        kept = found.end
      }
    }
    return Buffer.concat([...parts, this.#bytes.subarray(kept)])
  }
}

interface FoundText extends BodyString {
  readonly is_key: boolean
}

/** Why a body is not judged: `many`: it has more strings than are held at once. */
export type ReadFault = WalkFault | 'many'

const STRINGS_AT_ONCE = 512
const MAX_STRINGS = 1 << 18
/** A longer JSON text inside a string is judged as plain text. */
const LONGEST_INNER = 64 << 10

/** Finds the strings of these regions, and takes the `names` of fields for keys. */
export function* readingBytes(
  of: Pick<View, 'endpoint' | 'side'>,
  bytes: Buffer,
  regions: readonly Region[],
  names: readonly string[],
): SlicedWork<BytesView | ReadFault> {
  const found: FoundText[] = []
  const known = new Map<string, Map<string, string>>()
  const keys = new Set<string>()
  const addKey = (text: string) => {
    if (text === '' || keys.has(text)) return
    keys.add(text)
    found.push({text, called: '', is_echo: false, is_key: true})
  }
  const addText = (text: string, called: string) => {
    const alike = textsCalled(known, called)
    if (alike.has(text)) return text
    alike.set(text, text)
    found.push({text, called, is_echo: false, is_key: false})
    return text
  }
  for (const name of names) addKey(name)
  for (const region of regions) {
    const strings = stringsIn(bytes, region)
    for (let next = strings.next(); ; next = strings.next()) {
      if (next.done && next.value !== null) return next.value
      if (next.done) break
      if (next.value === undefined) yield
      else if (next.value.is_key) addKey(next.value.text)
      else mapText(next.value, addText)
      if (found.length > MAX_STRINGS) return 'many'
    }
  }
  return new BytesView(of, bytes, regions, found)
}

/** A text, or, when the text is JSON, each string in it. */
function mapText(
  {text, called}: {readonly text: string; readonly called: string},
  by: (text: string, called: string) => string,
): string {
  return text.length <= LONGEST_INNER && /^\s*[{[]/.test(text) ? mapJsonStrings(text, by) : by(text, called)
}

function textsCalled(all: Map<string, Map<string, string>>, called: string): Map<string, string> {
  const known = all.get(called)
  if (known) return known
  const made = new Map<string, string>()
  all.set(called, made)
  return made
}
