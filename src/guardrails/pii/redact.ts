import {atOnce, type SlicedWork} from '../time-slices.ts'
import type {PiiClass, PiiSpan} from './classes.ts'
import {plainOf} from './digits.ts'
import {PLACEHOLDER, type Restore, restoreOf} from './restore.ts'

/** Numbered placeholders of one call: a value has the same one everywhere, however it is spaced or spelled. */
export interface Vault extends Restore {
  /**
   * Keeps a text's own placeholder look-alikes from being given out, and so from being restored. Of all texts, before
   * the first redaction.
   */
  reserve(text: string): void
  /** `text` with its spans, in order and none over another, replaced. All else stays as it is. */
  redact(text: string, spans: readonly PiiSpan[]): string
  /** The same with pauses. */
  redacting(text: string, spans: readonly PiiSpan[]): SlicedWork<string>
  /** Another that has given out the same by now; what it gives out from now on this one does not know. */
  beside(): Vault
}

/** Between two pauses. */
const SPANS_AT_ONCE = 512

interface Given {
  readonly placeholders: ReadonlyMap<string, string>
  readonly originals: ReadonlyMap<string, string>
  readonly reserved: ReadonlySet<string>
  readonly counts: ReadonlyMap<PiiClass, number>
}

export function vault(before?: Given): Vault {
  const placeholders = new Map(before?.placeholders)
  const originals = new Map(before?.originals)
  const reserved = new Set(before?.reserved)
  const counts = new Map(before?.counts)
  const fresh = (name: PiiClass): string => {
    for (;;) {
      const count = (counts.get(name) ?? 0) + 1
      counts.set(name, count)
      const placeholder = `<${name.toUpperCase()}_${count}>`
      if (!reserved.has(placeholder)) return placeholder
    }
  }
  const placeholderOf = (name: PiiClass, value: string): string => {
    const key = `${name} ${sameFor(name, value)}`
    const known = placeholders.get(key)
    if (known) return known
    const placeholder = fresh(name)
    placeholders.set(key, placeholder)
    originals.set(placeholder, value)
    return placeholder
  }
  function* redacting(text: string, spans: readonly PiiSpan[]): SlicedWork<string> {
    const parts: string[] = []
    let kept = 0
    for (const [index, {class: name, start, end}] of spans.entries()) {
      if (index % SPANS_AT_ONCE === SPANS_AT_ONCE - 1) yield
      parts.push(text.slice(kept, start), placeholderOf(name, text.slice(start, end)))
      kept = end
    }
    return parts.join('') + text.slice(kept)
  }
  return {
    reserve(text) {
      for (const [placeholder] of text.matchAll(PLACEHOLDER)) if (!originals.has(placeholder)) reserved.add(placeholder)
    },
    redact: (text, spans) => atOnce(redacting(text, spans)),
    redacting,
    beside: () => vault({placeholders, originals, reserved, counts}),
    ...restoreOf(placeholder => originals.get(placeholder)),
  }
}

/** Values whose letters are the same, great or small. */
const CASELESS: ReadonlySet<PiiClass> = new Set(['iban', 'national_id', 'email', 'ip_address'])
/** Values that separators do not change. */
const LOOSE: ReadonlySet<PiiClass> = new Set(['credit_card', 'iban', 'national_id', 'phone'])

function sameFor(name: PiiClass, value: string): string {
  const plain = plainOf(value).text
  const tight = LOOSE.has(name) ? plain.replace(/[^\p{L}\p{N}+]/gu, '') : plain
  return CASELESS.has(name) ? tight.toLowerCase() : tight
}
