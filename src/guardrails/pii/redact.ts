import type {PiiClass, PiiSpan} from './classes.ts'
import {PII_CLASSES} from './classes.ts'
import {plainOf} from './digits.ts'

/** Puts back what placeholders stand for. */
export interface Restore {
  restore(text: string): string
  /** The same for a text that comes in pieces, for one stream. */
  restorer(): Restorer
}

/** Takes pieces and gives what may already be said; `end` gives the rest. */
export interface Restorer {
  push(piece: string): string
  end(): string
}

/** Numbered placeholders of one call: a value has the same one wherever it stands, however it is spaced or spelled. */
export interface Vault extends Restore {
  /** Keeps a text's own placeholder look-alikes from being given out, and so from being restored. Of all texts, before the first redaction. */
  reserve(text: string): void
  /** `text` with its spans, in order and none over another, replaced. All else stays as it is. */
  redact(text: string, spans: readonly PiiSpan[]): string
}

const LABELS = PII_CLASSES.map(name => name.toUpperCase()).join('|')
const PLACEHOLDER = new RegExp(`<(?:${LABELS})_[1-9][0-9]{0,6}>`, 'g')
/** What a placeholder may begin with. */
const BEGUN = /<[A-Z_]{0,20}[0-9]{0,7}$/
const LONGEST_PLACEHOLDER = 32

export function vault(): Vault {
  const placeholders = new Map<string, string>()
  const originals = new Map<string, string>()
  const reserved = new Set<string>()
  const counts = new Map<PiiClass, number>()
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
  const restore = (text: string) => text.replace(PLACEHOLDER, placeholder => originals.get(placeholder) ?? placeholder)
  return {
    reserve(text) {
      for (const [placeholder] of text.matchAll(PLACEHOLDER)) if (!originals.has(placeholder)) reserved.add(placeholder)
    },
    redact(text, spans) {
      let made = ''
      let kept = 0
      for (const {class: name, start, end} of spans) {
        made += text.slice(kept, start) + placeholderOf(name, text.slice(start, end))
        kept = end
      }
      return made + text.slice(kept)
    },
    restore,
    restorer() {
      let held = ''
      return {
        push(piece) {
          const text = held + piece
          const tail = Math.max(0, text.length - LONGEST_PLACEHOLDER)
          const begun = text.slice(tail).search(BEGUN)
          const cut = begun < 0 ? text.length : tail + begun
          held = text.slice(cut)
          return restore(text.slice(0, cut))
        },
        end() {
          const rest = restore(held)
          held = ''
          return rest
        },
      }
    },
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
