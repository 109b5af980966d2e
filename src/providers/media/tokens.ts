import type {Size} from './size.ts'

/** The families of rules that count the tokens of a picture or a file. */
export type TokenFamily = 'openai' | 'anthropic' | 'gemini' | 'other'

/** The model's maker, by the model's name and, where that does not tell, by the provider. */
export function familyOf(provider: string, model: string): TokenFamily {
  for (const name of [model.toLowerCase(), provider]) {
    if (/claude|anthropic/.test(name)) return 'anthropic'
    if (/gemini|gemma|google|vertex/.test(name)) return 'gemini'
    if (/gpt|(?:^|[/.])o\d|openai|codex|computer-use/.test(name)) return 'openai'
  }
  return 'other'
}

/** How a vendor's tokenizer differs from those that are public, by the vendor's own word. */
export interface Tokenizer {
  /** Digits that come to one token: OpenAI's take three, others know each by itself. */
  readonly digits_a_token: number
  /** Tokens for one of a public tokenizer. */
  readonly of_public: number
  /**
   * Bytes of text that come to one token, as the vendor says of plain prose; null where its tokenizer is public, or it
   * says nothing.
   */
  readonly bytes_a_token: number | null
}

/**
 * A token is about 3.5 letters of English (Anthropic, glossary, tokens), where it is 4 of OpenAI's (What are tokens and
 * how to count them).
 */
const CLAUDE_BYTES = 3.5
const CLAUDE_OF_PUBLIC = 4 / CLAUDE_BYTES
/**
 * The tokenizer since Opus 4.7 makes up to 1.35 times as many of the same text (Anthropic, What's new in Claude Opus
 * 4.7).
 */
const CLAUDE_SINCE = 1.35
const TOKENIZERS: Readonly<Record<TokenFamily, Tokenizer>> = {
  openai: {digits_a_token: 3, of_public: 1, bytes_a_token: null},
  anthropic: {digits_a_token: 1, of_public: CLAUDE_OF_PUBLIC, bytes_a_token: CLAUDE_BYTES},
  // a token is about 4 letters (Gemini, understand and count tokens)
  gemini: {digits_a_token: 1, of_public: 1, bytes_a_token: null},
  other: {digits_a_token: 1, of_public: 1, bytes_a_token: null},
}
const CLAUDE_NOW: Tokenizer = {
  digits_a_token: 1,
  of_public: CLAUDE_OF_PUBLIC * CLAUDE_SINCE,
  bytes_a_token: CLAUDE_BYTES / CLAUDE_SINCE,
}

export function tokenizerOf(family: TokenFamily, model: string): Tokenizer {
  return family === 'anthropic' && !CLAUDE_BEFORE.test(model.toLowerCase()) ? CLAUDE_NOW : TOKENIZERS[family]
}

/**
 * The most tokens of a picture's prompt. Without a size it is taken for the largest that is not scaled down; `detail`
 * is OpenAI's word.
 */
export function imageTokens(family: TokenFamily, model: string, size: Size | null, detail: string | null): number {
  switch (family) {
    case 'openai':
      return openaiImage(model.toLowerCase(), size, detail)
    case 'anthropic':
      return claudeImage(model.toLowerCase(), size)
    case 'gemini':
      return geminiImage(model.toLowerCase(), size)
    case 'other':
      return Math.max(
        openaiImage('gpt-4o', size, detail),
        claudeImage('', size),
        geminiImage('', size),
        size ? Math.min(Math.ceil(size.width / 28) * Math.ceil(size.height / 28) + 2, OTHER_MOST) : OTHER_MOST,
      )
  }
}

/** Qwen-VL: a token for 28 by 28 pixels, no more than this many. */
const OTHER_MOST = 16_384

interface Tiles {
  readonly base: number
  readonly tile: number
}

/** Tokens of a picture, and of each tile of 512 by 512 (OpenAI, images and vision, calculating costs). */
const TILES: readonly (readonly [model: RegExp, tiles: Tiles])[] = [
  [/^gpt-4o-mini/, {base: 2833, tile: 5667}],
  [/^(?:gpt-4o|gpt-4\.1$|gpt-4\.1-20|gpt-4\.5|gpt-4-|gpt-4$|chatgpt-4o)/, {base: 85, tile: 170}],
  [/^(?:o1|o3)/, {base: 75, tile: 150}],
  [/^computer-use/, {base: 65, tile: 129}],
  [/^(?:gpt-5$|gpt-5-20|gpt-5-chat)/, {base: 70, tile: 140}],
]
/** Patches of 32 by 32 and what each comes to (the same page). */
const PATCHES: readonly (readonly [model: RegExp, tokens: number])[] = [
  [/^(?:gpt-4\.1-mini|gpt-5-mini)/, 1.62],
  [/^(?:gpt-4\.1-nano|gpt-5-nano)/, 2.46],
  [/^o4-mini/, 1.72],
]
const MAX_PATCHES = 1536
/** Models since take pictures as they are, up to so many patches; none takes more for one. */
const MAX_PATCHES_SINCE = 10_000
const TOKENS_SINCE = 2.46
const LARGEST: Size = {width: 2048, height: 2048}

function openaiImage(named: string, size: Size | null, detail: string | null): number {
  const model = named.slice(named.lastIndexOf('/') + 1)
  const tiles = TILES.find(([pattern]) => pattern.test(model))?.[1]
  if (tiles) return detail === 'low' ? tiles.base : tiles.base + tiles.tile * tilesOf(size)
  const each = PATCHES.find(([pattern]) => pattern.test(model))?.[1]
  const most = each === undefined ? MAX_PATCHES_SINCE : MAX_PATCHES
  const shown = detail === 'low' ? scaled(size ?? LARGEST, 512) : size
  return Math.ceil((shown ? Math.min(patchesOf(shown), most) : most) * (each ?? TOKENS_SINCE))
}

/** Scaled into 2048 by 2048, then its shorter side to 768, none larger than it was. */
function tilesOf(size: Size | null): number {
  if (!size) return 8 // 768 by 2048
  const {width, height} = scaled(size, 2048)
  const scale = Math.min(1, 768 / Math.min(width, height))
  return Math.ceil((width * scale) / 512) * Math.ceil((height * scale) / 512)
}

const patchesOf = ({width, height}: Size) => Math.ceil(width / 32) * Math.ceil(height / 32)

function scaled({width, height}: Size, most: number): Size {
  const scale = Math.min(1, most / Math.max(width, height))
  return {width: width * scale, height: height * scale}
}

/**
 * Anthropic, vision: a token for 750 pixels. Larger pictures are scaled down to what comes to this, more for models
 * since Opus 4.7.
 */
const CLAUDE_MOST = 1700
const CLAUDE_MOST_SINCE = 4900
const CLAUDE_BEFORE =
  /claude-(?:[23]|(?:opus|sonnet|haiku|instant)-[1-3]\b|(?:opus|sonnet|haiku)-4(?:-[0-6]\b|-20|@|$))/

function claudeImage(model: string, size: Size | null): number {
  const most = CLAUDE_BEFORE.test(model) ? CLAUDE_MOST : CLAUDE_MOST_SINCE
  return size ? Math.min(Math.ceil((size.width * size.height) / 750) + 1, most) : most
}

/**
 * Gemini, image understanding: 258 for a small picture, else for each tile; of the third generation by resolution, this
 * at the highest.
 */
const GEMINI_TILE = 258
const GEMINI_MOST_TILES = 32
const GEMINI_HIGHEST = 2240

function geminiImage(model: string, size: Size | null): number {
  const [, generation = '0'] = /gemini-(\d+)/.exec(model) ?? []
  const highest = Number(generation) === 1 || Number(generation) === 2 ? 0 : GEMINI_HIGHEST
  return Math.max(highest, GEMINI_TILE * geminiTiles(size))
}

/** Google documents tiles of 768 and tiles by the shorter side: the larger count is taken. */
function geminiTiles(size: Size | null): number {
  if (!size) return GEMINI_MOST_TILES
  const {width, height} = size
  if (width <= 384 && height <= 384) return 1
  const cut = Math.max(1, Math.floor(Math.min(width, height) / 1.5))
  const by_side = Math.ceil(width / cut) * Math.ceil(height / cut)
  const by_tile = Math.ceil(width / 768) * Math.ceil(height / 768)
  return Math.min(Math.max(by_side, by_tile), GEMINI_MOST_TILES)
}

/**
 * Pages that a document may have and what one comes to, its text and its picture (Anthropic and OpenAI, PDF files;
 * Gemini, documents).
 */
const PAGES: Readonly<Record<TokenFamily, {readonly most: number; readonly each: number}>> = {
  openai: {most: 100, each: 3000},
  anthropic: {most: 100, each: 4700},
  gemini: {most: 1000, each: 258},
  other: {most: 100, each: 4700},
}
/** Hardly a page takes fewer bytes of its file. */
const BYTES_A_PAGE = 1024

/** The most tokens of a document's prompt; `bytes` are its own, null where it is only named. */
export function documentTokens(family: TokenFamily, bytes: number | null): number {
  const {most, each} = PAGES[family]
  return each * (bytes === null ? most : Math.min(most, Math.ceil(bytes / BYTES_A_PAGE)))
}

/**
 * Speech takes no fewer bytes a second: 4 kbit/s are less than Opus' least, 6 kbit/s (opus-codec.org, API 1.3.1).
 * Silence may take fewer.
 */
export const SOUND_BYTES_A_SECOND = 500
const SOUND_TOKENS_A_SECOND = 32
/** The longest that is heard at once, where it is only named: an hour. */
const SOUND_MOST_SECONDS = 3600

/** The most tokens of a recording's prompt (Gemini: 32 a second; OpenAI: 10). */
export function soundTokens(seconds: number | null): number {
  return SOUND_TOKENS_A_SECOND * (seconds ?? SOUND_MOST_SECONDS)
}

/** The least of MP3: 8 kbit/s. */
const MP3_BYTES_A_SECOND = 1000

/**
 * The most seconds that `bytes` of sound last, which begin with `head`: WAVE and MP3 tell how many bytes a second
 * takes.
 */
export function soundSeconds(head: Buffer | null, bytes: number): number {
  return Math.ceil(bytes / Math.max(SOUND_BYTES_A_SECOND, head ? bytesASecond(head) : 0))
}

function bytesASecond(head: Buffer): number {
  if (head.length >= 2 && head[0] === 0xff && (head[1]! & 0xe6) === 0xe2) return MP3_BYTES_A_SECOND
  if (head.length < 36 || head.toString('latin1', 0, 4) !== 'RIFF' || head.toString('latin1', 8, 16) !== 'WAVEfmt ')
    return 0
  const format = head.readUInt16LE(20)
  if (format !== 1 && format !== 3) return 0 // else it is compressed
  return (head.readUInt16LE(22) * head.readUInt32LE(24) * head.readUInt16LE(34)) / 8
}

const TOOLS = Buffer.from('"tools"')
const VERSION = Buffer.from('_20')
/**
 * The most tokens that Claude reads for tools besides their own text, and for one that is Anthropic's own (Anthropic,
 * tool use, pricing).
 */
const CLAUDE_TOOLS_TOKENS = 600
const CLAUDE_TOOL_TOKENS = 1300
const MAX_TOOLS = 128

/** Tokens that a provider adds to a prompt for the tools in it. */
export function toolTokens(provider: string, model: string, body: Buffer): number {
  if (familyOf(provider, model) !== 'anthropic' || !body.includes(TOOLS)) return 0
  let dated = 0
  for (let at = body.indexOf(VERSION); at >= 0 && dated < MAX_TOOLS; at = body.indexOf(VERSION, at + 1)) dated++
  return CLAUDE_TOOLS_TOKENS + dated * CLAUDE_TOOL_TOKENS
}
