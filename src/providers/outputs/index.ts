import most_file from './most.json' with {type: 'json'}
import {outputNames} from './names.ts'

const MOST: Readonly<Record<string, number>> = most_file

/** The assumed longest answer of a model that is in no list: longer ones are rare, and less would promise too much. */
export const UNLISTED_TOKENS = 131_072

/**
 * Families that think without showing it and by default; what others think is in their stream, or set in the request.
 */
const HIDES = /^(?:o\d|gpt-5|codex|gemini-(?:2\.5|[3-9]|flash-latest|pro-latest)|grok-(?:3-mini|[4-9]))/
/** Names that stand for several models, one of which may. */
const MIXED = /^(?:auto|free|gpt-(?:mini-)?latest)$/
/** Families that need no row for each model: they do not think, or show it. */
const OPEN =
  /^(?:gpt-(?:3|4)|chatgpt-4o|claude-(?:[23]|instant|(?:opus|sonnet|haiku)-[34])|gemini-(?:1|2\.0)|llama|codellama|mi[xns]tral|codestral|ministral|pixtral|command|gemma|titan|text-|babbage|davinci)/
/** Of those families, models that do not think. */
const SHOWS = /chat-latest|non-reasoning|image|tts/

/** The most tokens that a model answers with when the request sets no bound (`bin/outputs.ts`). */
export function mostOutputTokens(model: string): number {
  return listedOutputTokens(model) ?? UNLISTED_TOKENS
}

/** The same for a listed model. */
export function listedOutputTokens(model: string): number | undefined {
  for (const name of outputNames(model)) if (Object.hasOwn(MOST, name)) return MOST[name]!
  return undefined
}

/**
 * True when a model may use up tokens that its stream does not show, as an unknown model may; `asks`: the request asks
 * it to think.
 */
export function hidesOutput(model: string, asks: boolean): boolean {
  if (asks) return true
  const [name = ''] = outputNames(model)
  if (SHOWS.test(name)) return false
  return HIDES.test(name) || MIXED.test(name) || (!OPEN.test(name) && listedOutputTokens(model) === undefined)
}
