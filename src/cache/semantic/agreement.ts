import {createHash} from 'node:crypto'
import {isObject, list, parsed} from '../../base/json-object.ts'
import {canonical} from '../canonical.ts'

/**
 * A whole answer in two digests: of its text without case and with single blanks, and of its JSON where the text is
 * an object. Two answers agree if either is equal; else it is not known whether they mean the same.
 */
export interface AnswerDigests {
  readonly text: string
  readonly json: string | null
}

/** Null for an answer without a text. */
export function answerDigests(answer: unknown): AnswerDigests | null {
  const text = answerText(answer)
  if (text.trim() === '') return null
  const form = text.length <= MAX_JSON_CHARS && /^\s*\{/.test(text) ? canonical(Buffer.from(text)) : null
  return {text: digestOf(normal(text)), json: form && digestOf(form)}
}

export function agree(one: AnswerDigests, other: AnswerDigests): boolean {
  return one.text === other.text || (one.json !== null && one.json === other.json)
}

/** The same of answers as they are kept. */
export function isSameAnswer(one: Uint8Array, other: unknown): boolean {
  const [first, second] = [answerDigests(parsed(Buffer.from(one).toString())), answerDigests(other)]
  return first !== null && second !== null && agree(first, second)
}

/** A longer text is compared as text alone. */
const MAX_JSON_CHARS = 256 << 10
/** Texts of an answer are joined by a mark that no text has. */
const BETWEEN = '\u{f8ff}'

const normal = (text: string) => text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim()
const digestOf = (text: string) => createHash('sha256').update(text).digest('hex')

/** All that an answer says, whatever the dialect of its call. */
export function answerText(answer: unknown): string {
  if (!isObject(answer)) return ''
  const choices = list(answer.choices)
    .filter(isObject)
    .flatMap(({text, message}) => (isObject(message) ? textsOf(message.content) : textsOf(text)))
  const items = list(answer.output)
    .filter(isObject)
    .flatMap(({content}) => textsOf(content))
  return [...choices, ...textsOf(answer.content), ...items].join(BETWEEN)
}

/** A text, or those of blocks of text. */
function textsOf(content: unknown): string[] {
  if (typeof content === 'string') return [content]
  return list(content).flatMap(block => (isObject(block) && typeof block.text === 'string' ? [block.text] : []))
}
