import type {ScannedText} from './scanned-text.ts'

/** Words that tell the meaning of a value beside them, in lower case. */
export interface Cue {
  /** By their first character, so that few are tried where a word begins. */
  readonly words: ReadonlyMap<string, RegExp>
  /** Of scripts that write no spaces: they match anywhere. */
  readonly signs: RegExp | undefined
}

/**
 * `words` are patterns parted by `|`, each beginning with a letter; they match where no letter comes before them and
 * may continue (`card`, `cardNumber`, `card_no`). `signs` are those of scripts without spaces.
 */
export function cue(words: string, signs = ''): Cue {
  const starts = Map.groupBy(alternatives(words), word => word[0]!)
  return {
    words: new Map([...starts].map(([start, group]) => [start, new RegExp(group.join('|'), 'uy')])),
    signs: signs ? new RegExp(signs, 'gu') : undefined,
  }
}

/** Both cues' words. */
export function eitherOf(one: Cue, other: Cue): Cue {
  const words = new Map(one.words)
  for (const [start, more] of other.words) {
    const known = words.get(start)
    words.set(start, known ? new RegExp(`${known.source}|${more.source}`, 'uy') : more)
  }
  const signs = [one.signs, other.signs].flatMap(each => (each ? [each.source] : [])).join('|')
  return {words, signs: signs ? new RegExp(signs, 'gu') : undefined}
}

/** Parts between the `|` that are in no bracket. */
function alternatives(words: string): string[] {
  const parts = ['']
  let depth = 0
  for (const sign of words) {
    if (sign === '(') depth++
    if (sign === ')') depth--
    if (sign === '|' && depth === 0) parts.push('')
    else parts[parts.length - 1] += sign
  }
  return parts
}

export interface Heard {
  readonly start: number
  readonly end: number
}

/** The range of the last match of a cue in a short text in lower case; undefined for none. */
export function lastOf({words, signs}: Cue, text: string): Heard | undefined {
  let found: Heard | undefined
  let is_ascii = true
  for (let at = text.length - 1; at >= 0; at--) {
    if (text.charCodeAt(at) > 127) is_ascii = false
    if (found || !isLetter(text, at) || isLetter(text, at - 1)) continue
    const pattern = words.get(text[at]!)
    if (!pattern) continue
    pattern.lastIndex = at
    if (pattern.test(text)) found = {start: at, end: pattern.lastIndex}
  }
  if (is_ascii || !signs) return found
  for (const match of text.matchAll(signs)) {
    const end = match.index + match[0].length
    if (!found || end > found.end) found = {start: match.index, end}
  }
  return found
}

export function isIn(words: Cue, text: string): boolean {
  return lastOf(words, text) !== undefined
}

function isLetter(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return (code > 96 && code < 123) || (code > 0xa9 && /\p{L}/u.test(text[at]!))
}

/** The verdict of the words around a value. */
export type CueFinding = 'yes' | 'no' | 'unsaid'

export interface CueWindow {
  /** Words for it. */
  readonly yes: Cue
  /** Words for something else, at most two words before. */
  readonly no?: Cue
  /** Code units looked at before; 64. */
  readonly before?: number
  /** Code units looked at after, for `yes` alone; none. */
  readonly after?: number
}

/**
 * Reads the words around a value. A quoted key right before it (`"ssn":"…"`) or the head of its column says all; else
 * the nearest word before it does, then one right after it in the same sentence.
 */
export function readCues(
  page: ScannedText,
  start: number,
  end: number,
  {yes, no, before = 64, after = 0}: CueWindow,
): CueFinding {
  const {lower, work} = page
  const slice = lower.slice(Math.max(0, start - before), start)
  work.spend(slice.length)
  const quoted = KEY.exec(slice)
  const key = quoted ? words(page.text.slice(start - slice.length + quoted.index, start)) : undefined
  const head = key === undefined ? page.columns.headAt(start) : ''
  for (const label of [key, head]) {
    if (!label) continue
    if (isIn(yes, label)) return 'yes'
    if (no && isIn(no, label)) return 'no'
  }
  if (key !== undefined) return 'unsaid'
  const for_ = lastOf(yes, slice)
  const denied = no && lastOf(no, slice)
  const against = denied && isNear(slice.slice(denied.end)) ? denied : undefined
  if (for_ && (!against || for_.end >= against.end)) return 'yes'
  if (against) return 'no'
  if (!after) return 'unsaid'
  const behind = lower.slice(end, end + after).split(/[.;\n]/, 1)[0]!
  work.spend(after)
  return isIn(yes, behind) ? 'yes' : 'unsaid'
}

/** A word that denies a value is close to it: `order no. 4111…`, not `in case you need it: 4111…`. */
function isNear(between: string): boolean {
  return between.length <= 24 && (between.match(/[\p{L}\p{N}]+/gu) ?? []).length <= 2
}

/** A name's words: `dateOfBirth` as `date of birth`. */
function words(name: string): string {
  return name.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()
}

/** A quoted member name that a value follows at once, its own quote included. */
const KEY = /["']([\p{L}\p{N}_. -]{1,40})["']\s{0,2}(?::|=>)\s{0,2}["']?$/u

/** Numbers of things, which are not personal: orders, parts, builds. */
export const NUMBER_OF_THINGS = cue(
  [
    'order|invoice|part|parcel|serial|article|item|sku|lot\\b|batch|model\\b|version|build|release|range|isbn|issn|gtin|ean\\b|upc|imei|tracking|shipment|ticket|case\\b|reference|ref\\b|catalogue|catalog|stock|product|receipt|transaction|trace|request|session|commit|hash|checksum|timestamp|microfilm|meter|coordinates?|ratio|lottery|temperatures?|section|chapter|config|step|patent|licen[cs]e key|drawing|container|firmware|flight|booking|pnr',
    'bestell|rechnung|artikel|serien|auftrag|lieferschein|kundenn|vorgang|aktenzeichen|sendung|zähler',
    'commande|facture|dossier|référence|série|colis|pedido|factura|expediente|referencia|serie\\b|albarán|ordine|fattura|numero di serie|encomenda|fatura|nota fiscal|série',
    'artikelnummer|factuur|bestelling|zamówieni|faktur|ordernummer|beställning|tilausnumero|objednávk|sipariş|заказ|счет|счёт|артикул|накладн',
  ].join('|'),
  '注文|製品|型番|订单|訂單|编号|발주|주문|송장|आवेदन|طلب رقم|रसीद',
)
