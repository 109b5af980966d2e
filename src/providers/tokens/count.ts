import {setImmediate} from 'node:timers/promises'
import {parseJson} from '../../base/json-object.ts'
import type {MaybePromise} from '../../base/maybe-promise.ts'
import {PieceCounter} from './pieces.ts'
import {type Encoding, type Vocabulary, vocabularyOf} from './vocabulary.ts'

/** Others have their turn after so long. */
const TURN_MS = 8
/** Bytes of a string that are decoded at once: about a millisecond's work. */
const DECODED_BYTES = 4096
/**
 * The most tokens around a text: a role, a name, the beginning and end of a message; quotes and a bar between values of
 * an `enum`.
 */
const AROUND_VALUE = 3
const AROUND_KEY = 1
/**
 * Members at the top that no model reads: they say how to answer, which user to charge, what to keep (OpenAI, chat,
 * completions, embeddings, responses).
 */
const UNREAD: ReadonlySet<string> = new Set(
  `background best_of dimensions encoding_format frequency_penalty include logit_bias logprobs max_completion_tokens max_output_tokens max_tokens
  metadata modalities model n parallel_tool_calls presence_penalty prompt_cache_key prompt_cache_retention reasoning_effort safety_identifier seed
  service_tier store stream stream_options temperature top_k top_logprobs top_p truncation user`.split(/\s+/),
)
/** Members at the top where each number is a token by itself. */
const LISTS_OF_TOKENS: ReadonlySet<string> = new Set(['input', 'prompt'])
const LONGEST_KEY = 24
const DIGITS_A_TOKEN = 3

const QUOTE = 0x22
const BACKSLASH = 0x5c
const LETTER_U = 0x75
const COLON = 0x3a

/**
 * The tokens of all text in `body`, JSON, counted as its tokenizer does, and of the frame of each: never less than a
 * provider counts, and hardly more where text is long. At once where that takes less than a turn; else others have
 * theirs meanwhile. Rejects where the vocabulary cannot be read.
 */
export function countJson(body: Buffer, encoding: Encoding): MaybePromise<number> {
  const vocabulary = vocabularyOf(encoding)
  return vocabulary instanceof Promise
    ? vocabulary.then(read => run(body, read, encoding))
    : run(body, vocabulary, encoding)
}

function run(body: Buffer, vocabulary: Vocabulary, encoding: Encoding): MaybePromise<number> {
  const steps = new JsonCount(body, new PieceCounter(vocabulary, encoding))
  return steps.turn() ? steps.tokens : rest(steps)
}

async function rest(steps: JsonCount): Promise<number> {
  do await setImmediate()
  while (!steps.turn())
  return steps.tokens
}

/** Goes once over a body, a turn at a time. */
class JsonCount {
  readonly #body: Buffer
  readonly #pieces: PieceCounter
  #at = 0
  #depth = 0
  /** The member at the top that is read. */
  #top = ''
  /** Inside a string, which is a key or a value. */
  #is_inside = false
  #around = 0

  constructor(body: Buffer, pieces: PieceCounter) {
    this.#body = body
    this.#pieces = pieces
  }

  get tokens(): number {
    return this.#pieces.tokens + this.#around
  }

  /** Works for one turn; true when all is counted. */
  turn(): boolean {
    const until = performance.now() + TURN_MS
    for (let steps = 1; this.#at < this.#body.length; steps++) {
      if (this.#is_inside) {
        this.#string()
        if (performance.now() >= until) return false
      } else {
        this.#sign()
        if (steps % 1024 === 0 && performance.now() >= until) return false
      }
    }
    if (this.#is_inside) this.#pieces.end()
    this.#is_inside = false
    return true
  }

  /** A sign of JSON's own, a number, or the beginning of a string. */
  #sign() {
    const byte = this.#body[this.#at]!
    if (byte === QUOTE) {
      this.#at++
      this.#is_inside = true
      return
    }
    if (byte === 0x7b || byte === 0x5b) this.#depth++
    if (byte === 0x7d || byte === 0x5d) this.#depth--
    if (isWord(byte)) return this.#number()
    if (byte !== COLON && byte !== 0x2c && byte > 0x20 && !this.#isUnread) this.#around++
    this.#at++
  }

  /** A number, `true`, `false` or `null`. */
  #number() {
    const from = this.#at
    const limit = Math.min(this.#body.length, from + DECODED_BYTES)
    while (this.#at < limit && isWord(this.#body[this.#at]!)) this.#at++
    if (this.#isUnread) return
    this.#around += LISTS_OF_TOKENS.has(this.#top) ? 1 : Math.ceil((this.#at - from) / DIGITS_A_TOKEN) + 1
  }

  /** The next part of the string that is read. */
  #string() {
    const body = this.#body
    const from = this.#at
    const limit = Math.min(body.length, from + DECODED_BYTES)
    let at = from
    let is_escaped = false
    while (at < limit && body[at] !== QUOTE) {
      if (body[at] === BACKSLASH) {
        is_escaped = true
        at += body[at + 1] === LETTER_U ? 6 : 2
      } else at++
    }
    // no sign is cut in two
    while (at > from && at < body.length && (body[at]! & 0xc0) === 0x80) at--
    at = Math.min(at, body.length)
    const is_end = body[at] === QUOTE
    const text = decoded(body, from, at, is_escaped)
    this.#at = is_end ? at + 1 : Math.max(at, from + 1)
    const is_key = is_end && this.#isKey()
    if (is_key && this.#depth === 1) this.#top = text.length <= LONGEST_KEY ? text : ''
    if (this.#isUnread && (!is_key || this.#depth === 1)) {
      this.#is_inside = !is_end
      return
    }
    this.#pieces.add(text)
    if (!is_end) return
    this.#pieces.end()
    this.#is_inside = false
    this.#around += is_key ? AROUND_KEY : AROUND_VALUE
  }

  get #isUnread(): boolean {
    return UNREAD.has(this.#top)
  }

  #isKey(): boolean {
    let at = this.#at
    while (this.#body[at] === 0x20 || this.#body[at] === 0x0a || this.#body[at] === 0x0d || this.#body[at] === 0x09)
      at++
    return this.#body[at] === COLON
  }
}

/** Signs, digits and letters of numbers and of the three words. */
function isWord(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    (byte >= 0x61 && byte <= 0x7a) ||
    byte === 0x2b ||
    byte === 0x2d ||
    byte === 0x2e ||
    byte === 0x45
  )
}

function decoded(body: Buffer, from: number, to: number, is_escaped: boolean): string {
  const text = body.toString('utf8', from, to)
  if (!is_escaped) return text
  try {
    const value: unknown = parseJson(`"${text}"`)
    return typeof value === 'string' ? value : text
  } catch {
    return text // no JSON: the provider will say so
  }
}
