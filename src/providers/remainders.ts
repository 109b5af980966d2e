import {UNIT, type Usage} from '../schema/usage.ts'

/**
 * The part of a total beyond the sum of its parts: reasoning that the parts leave out, or sound that is counted and
 * sold by the second.
 */
type Remainder = 'reasoning' | 'sound'

/**
 * By kind of provider, as they document it. At every other kind such a remainder is unknown: it is flagged, and charged
 * as nothing. Sources: docs.x.ai, reasoning ("reasoning tokens are added to the total"); ai.google.dev, OpenAI
 * compatibility, whose completion tokens are the candidates' alone; docs.mistral.ai, audio (`prompt_audio_seconds`
 * beside a total that has the tokens of the sound).
 */
const REMAINDERS: Readonly<Record<string, Remainder>> = {
  'x-ai': 'reasoning',
  google: 'reasoning',
  'vertex-ai': 'reasoning',
  'mistral-ai': 'sound',
}

/** The member that tells such a total in OpenAI's words. */
const TOTAL = 'total_tokens'

/** `usage` with its remainder put where its kind of provider documents it, or else among the unknown units. */
export function withRemainder(kind: string, usage: Usage): Usage {
  if (!usage.remainder) return usage
  const {remainder, ...rest} = usage
  const is = Object.hasOwn(REMAINDERS, kind) ? REMAINDERS[kind] : undefined
  if (is === 'reasoning') return {...rest, output_reasoning_tokens: rest.output_reasoning_tokens + remainder}
  if (is === 'sound' && usage.units[UNIT.audio_seconds]) return rest
  return {...rest, unknown: [...(rest.unknown ?? []), TOTAL]}
}
