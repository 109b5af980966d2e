import {isObject, parsed} from '../../base/json-object.ts'

/**
 * A tokenizer without a vocabulary, for usage that the provider did not report. Text is cut where the tokenizers of
 * current models cut it (words with the space before them, digits by three, runs of signs, line ends); the tokens of a
 * piece follow from its script and length. Within some per cent of o200k on prose and code, and within a quarter on
 * short texts of any script (test/providers/openai/tokens.test.ts).
 */
export function countTokens(text: string): number {
  const read = text.length > MAX_CHARACTERS ? text.slice(0, MAX_CHARACTERS) : text
  let tokens = 0
  for (const [piece] of read.matchAll(PIECE)) tokens += weightOf(piece)
  return Math.ceil((tokens * text.length) / Math.max(1, read.length))
}

/** A longer text is taken for more of the same. */
const MAX_CHARACTERS = 262_144
const PIECE = / ?[\p{L}\p{M}]+|\p{N}{1,3}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+/gu
const WORD = /^ ?[\p{L}\p{M}]/u
const DIGITS = /^\p{N}/u
const CAMEL = /(?<=[a-z])(?=[A-Z])/
/** Letters of a script, and the tokens that one of them comes to; the first that a word has decides. */
const SCRIPTS: readonly (readonly [RegExp, number])[] = [
  [/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u, 0.72],
  [/\p{Script=Hangul}/u, 0.7],
  [/\p{Script=Arabic}/u, 0.38],
  [/[^\u0000-\u024f]/, 0.32],
]
/** A Latin word of so many letters is mostly one token. */
const SHORT_WORD = 8
const LETTER_BEYOND = 0.15
const ASCII_SIGN = 0.4
const OTHER_SIGN = 0.9

function weightOf(piece: string): number {
  const bare = piece.trim()
  if (bare === '' || DIGITS.test(piece)) return 1
  if (!WORD.test(piece))
    return /[^\u0000-\u007f]/.test(bare) ? bare.length * OTHER_SIGN : Math.max(1, bare.length * ASCII_SIGN)
  const script = SCRIPTS.find(([letters]) => letters.test(bare))
  if (script) return Math.max(1, bare.length * script[1])
  return bare.split(CAMEL).reduce((sum, word) => sum + 1 + Math.max(0, word.length - SHORT_WORD) * LETTER_BEYOND, 0)
}

/** Members of requests and answers that models read and write. */
const SPOKEN = [
  'messages',
  'prompt',
  'input',
  'system',
  'instructions',
  'tools',
  'functions',
  'response_format',
  'choices',
  'content',
  'output',
  // Requests and answers in vendors' own words.
  'contents',
  'systemInstruction',
  'system_instruction',
  'inputText',
  'inputs',
  'texts',
  'text_input',
  'message',
  'chat_history',
  'candidates',
  'response',
  'responses',
  'generations',
  'generation',
  'completion',
  'chatResponse',
  'result',
  'results',
  'text',
  'text_output',
  'generated_text',
  'suffix',
]
/** Members that are for programs. */
const UNSPOKEN: ReadonlySet<string> = new Set([
  'role',
  'type',
  'id',
  'object',
  'finish_reason',
  'finishReason',
  'stop_reason',
  'done_reason',
  'media_type',
  'mimeType',
  'status',
  'model',
  'index',
  'logprobs',
  'cache_control',
  'signature',
  'encrypted_content',
  'tool_call_id',
  'call_id',
  'data',
  'detail',
])
/** The tokens that frame a message (OpenAI cookbook: counting tokens of chats). */
const FRAME_TOKENS = 4
const MAX_DEPTH = 64

/**
 * An estimate of the tokens of the text in a JSON body, pictures and sound left out; null for bytes that are no JSON
 * object, and for one that has none of the members that are known to hold text. `framed` adds the frames of a request's
 * messages.
 */
export function countBodyTokens(body: Buffer, {framed}: {readonly framed: boolean}): number | null {
  if (body.length > MAX_PARSED_BYTES) return null
  const json = parsed(body.toString('utf8'))
  if (!isObject(json)) return null
  const heard: Heard = {
    tokens: framed && Array.isArray(json.messages) ? json.messages.length * FRAME_TOKENS : 0,
    texts: 0,
  }
  const spoken = SPOKEN.filter(name => Object.hasOwn(json, name))
  for (const name of spoken) hear(json[name], heard, 0)
  return spoken.length > 0 ? heard.tokens : null
}

/** To parse a longer body would keep everybody waiting: its length says about as much. */
const MAX_PARSED_BYTES = 8 << 20

interface Heard {
  tokens: number
  texts: number
}

/** Texts that are looked into; of further ones the length says about as much. */
const MAX_TEXTS = 20_000
const CHARACTERS_A_TOKEN = 4

function hear(value: unknown, heard: Heard, depth: number): void {
  if (typeof value === 'string') {
    if (++heard.texts > MAX_TEXTS) heard.tokens += Math.ceil(value.length / CHARACTERS_A_TOKEN)
    else if (!/^(data:|https?:\/\/\S+$)/.test(value)) heard.tokens += countTokens(value)
  } else if (Array.isArray(value)) {
    // A prompt may come as tokens already.
    if (typeof value[0] === 'number') heard.tokens += value.length
    else if (depth < MAX_DEPTH) for (const each of value) hear(each, heard, depth + 1)
  } else if (isObject(value) && depth < MAX_DEPTH) {
    for (const [name, member] of Object.entries(value)) if (!UNSPOKEN.has(name)) hear(member, heard, depth + 1)
  }
}
