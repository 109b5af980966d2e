import {isList, isObject, type JsonValue} from '../json.ts'
import {JSON_KEYS} from '../strings.ts'
import {PII_CLASSES} from './classes.ts'

/** The form of a text: plain, or in quotes within JSON, as the arguments of a tool call are. */
export type Form = 'text' | 'json'

/** Puts back, in an answer, what the placeholders of its call stand for. */
export interface Restore {
  /** The original value of a placeholder; undefined for one that is not of this call. */
  original(placeholder: string): string | undefined
  /** A whole text. */
  restore(text: string, form?: Form): string
  /**
   * A text that comes in pieces, cut anywhere. One for each text of a stream: a choice's content, a tool call's
   * arguments.
   */
  restorer(form?: Form): Restorer
  /** Every text in the JSON of an answer. The same when it holds no placeholder. */
  restoreBody(body: JsonValue): JsonValue
}

/** Takes pieces and gives what may already leave; `end` gives the rest. */
export interface Restorer {
  push(piece: string): string
  end(): string
}

const LABELS = PII_CLASSES.map(name => name.toUpperCase()).join('|')
const INNER = `(?:${LABELS})_[1-9][0-9]{0,6}`
/** A placeholder in a text that is no JSON. */
export const PLACEHOLDER = new RegExp(`<${INNER}>`, 'g')
const LONGEST_PLACEHOLDER = 48
/** JSON may write the brackets as escapes. */
const ESCAPE_BEGUN = '\\\\(?:u(?:0(?:03?)?)?)?'
const FORMS: Readonly<Record<Form, {readonly whole: RegExp; readonly begun: RegExp}>> = {
  text: {whole: PLACEHOLDER, begun: /<[A-Z_]{0,20}[0-9]{0,7}$/},
  json: {
    whole: new RegExp(`(?:<|\\\\u003[cC])${INNER}(?:>|\\\\u003[eE])`, 'g'),
    begun: new RegExp(`(?:${ESCAPE_BEGUN}|(?:<|\\\\u003[cC])[A-Z_]{0,20}[0-9]{0,7}(?:${ESCAPE_BEGUN})?)$`),
  },
}
const DEEPEST = 500

export function restoreOf(original: Restore['original']): Restore {
  const restore = (text: string, form: Form = 'text') =>
    text.replace(FORMS[form].whole, placeholder => {
      const value = original(
        form === 'json' ? `<${placeholder.replace(/^<|^\\u003[cC]|>$|\\u003[eE]$/g, '')}>` : placeholder,
      )
      if (value === undefined) return placeholder
      return form === 'json' ? JSON.stringify(value).slice(1, -1) : value
    })
  const restoreBody = (body: JsonValue, key = '', depth = 0): JsonValue => {
    if (typeof body === 'string') return restore(body, JSON_KEYS.has(key) ? 'json' : 'text')
    if (depth > DEEPEST) return body
    if (isList(body)) {
      const made = body.map(each => restoreBody(each, key, depth + 1))
      return made.some((each, at) => each !== body[at]) ? made : body
    }
    if (!isObject(body)) return body
    const made = Object.entries(body).map(
      ([name, each]) => [restore(name), restoreBody(each, name, depth + 1)] as const,
    )
    return made.some(([name, each]) => !Object.hasOwn(body, name) || each !== body[name])
      ? Object.fromEntries(made)
      : body
  }
  return {original, restore, restorer: form => new Pieces(restore, form), restoreBody: body => restoreBody(body)}
}

/**
 * Of several redactions of one call; where two gave out the same placeholder, the earlier one's is in the text. Null:
 * of none.
 */
export function restoreOfAll(all: readonly Restore[]): Restore | null {
  if (all.length < 2) return all[0] ?? null
  return restoreOf(placeholder => {
    for (const each of all) {
      const value = each.original(placeholder)
      if (value !== undefined) return value
    }
    return undefined
  })
}

class Pieces implements Restorer {
  readonly #restore: Restore['restore']
  readonly #form: Form
  #held = ''

  constructor(restore: Restore['restore'], form: Form = 'text') {
    this.#restore = restore
    this.#form = form
  }

  push(piece: string): string {
    const text = this.#held + piece
    const tail = Math.max(0, text.length - LONGEST_PLACEHOLDER)
    const begun = text.slice(tail).search(FORMS[this.#form].begun)
    const cut = begun < 0 ? text.length : tail + begun
    this.#held = text.slice(cut)
    return this.#restore(text.slice(0, cut), this.#form)
  }

  end(): string {
    const rest = this.#restore(this.#held, this.#form)
    this.#held = ''
    return rest
  }
}
