/** About how many characters of English a token is. */
const ASCII_A_TOKEN = 4
/** A service that cuts texts short does it at this length at the least; of shorter ones a count says little. */
const LEAST_CUT_TOKENS = 128
/** A count that is less than this part of ours is that of a text that was cut. */
const LEAST_SHARE = 0.75

/** About how many tokens a text is: four characters of ASCII, or one other, each. */
export function aboutTokens(text: string): number {
  let others = 0
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) others++
  return Math.ceil((text.length - others) / ASCII_A_TOKEN) + others
}

/** Windows of known models in tokens; texts that are longer are cut there without a word. */
const WINDOWS: readonly (readonly [model: RegExp, tokens: number])[] = [
  [/text-embedding-3-|ada-002/, 8_191],
  [/gemini-embedding|text-(?:multilingual-)?embedding-00\d/, 2_048],
  [/minilm/i, 256],
  [/(?:^|[/_-])(?:e5|bge)/i, 512],
]
const UNKNOWN_WINDOW = 512

/** The most tokens of a text that a model reads whole. */
export function windowOf(model: string): number {
  return WINDOWS.find(([name]) => name.test(model))?.[1] ?? UNKNOWN_WINDOW
}

/**
 * True where the service counted so few tokens that it must have cut the text: far fewer than there are, or exactly
 * as many as a window has.
 */
export function isCut(tokens: number | null, about: number): boolean {
  if (tokens === null || about < LEAST_CUT_TOKENS) return false
  return tokens < about * LEAST_SHARE || (tokens < about && (isPowerOfTwo(tokens) || isPowerOfTwo(tokens + 2)))
}

const isPowerOfTwo = (count: number) => count >= LEAST_CUT_TOKENS && Number.isInteger(Math.log2(count))
