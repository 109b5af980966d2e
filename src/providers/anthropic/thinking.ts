import {isObject} from '../../base/json-object.ts'
import {type Json, UnsupportedInputFault} from '../translation.ts'
import type {ConversationTurn} from './content.ts'

/** Tokens of thinking for each effort. `minimal` is the least that Anthropic takes. */
const BUDGET_TOKENS: Readonly<Record<string, number>> = {
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 16384,
  xhigh: 32768,
  max: 32768,
}
const MIN_BUDGET_TOKENS = 1024
/**
 * `max_tokens` is required there and optional here. Claude 3 writes 4096 tokens at the most, 3.5 8192, every later
 * model more.
 */
const MAX_TOKENS = 8192
const MAX_TOKENS_CLAUDE_3 = 4096

/**
 * Model versions as `major * 100 + minor`. Sources: platform.claude.com/docs, extended thinking, adaptive thinking,
 * effort.
 */
const CLAUDE_3_5 = 305
const FIRST_THAT_THINKS = 307
const FIRST_STRICT_TOOLS = 405
export const FIRST_ADAPTIVE = 406
const FIRST_XHIGH = 407

export interface Thinking {
  readonly thinking: Json | null
  readonly effort: string | null
  /** The bound of thinking when the request has no `max_tokens`; 0 when there is no thinking. */
  readonly budget_tokens: number
  /** True when thinking was switched on here, for a `reasoning_effort`, and not by the caller's own `thinking`. */
  readonly is_ours: boolean
}

const NONE: Thinking = {thinking: null, effort: null, budget_tokens: 0, is_ours: false}

/**
 * The caller's `thinking` as it is, else what `reasoning_effort` comes to: a budget for the models before Claude 4.6,
 * `adaptive` with `output_config.effort` for those after, which take no budget any more. Where Anthropic takes no
 * thinking (a forced tool; a turn with tools that began without; too few tokens) it is left off, since an effort is a
 * wish and not a condition.
 */
export function thinkingOf(
  request: Json,
  model: string,
  known: {readonly turns: readonly ConversationTurn[]; readonly is_forced: boolean; readonly max_tokens: number | null},
): Thinking {
  const wished = request.reasoning_effort
  if (wished !== undefined && wished !== null && !isEffort(wished)) {
    throw new UnsupportedInputFault('reasoning_effort', 'expected none, minimal, low, medium, high, xhigh or max')
  }
  const version = claudeVersion(model)
  const has_effort = version === null || version >= FIRST_ADAPTIVE
  const effort = isEffort(wished) && wished !== 'none' && has_effort ? effortIn(wished, version) : null
  if (request.thinking !== undefined && request.thinking !== null) {
    if (!isObject(request.thinking))
      throw new UnsupportedInputFault('thinking', 'expected an object such as {"type": "adaptive"}')
    const own = withinTokens(request.thinking, known.max_tokens)
    const budget_tokens = own?.budget_tokens
    return {
      ...NONE,
      thinking: own,
      effort,
      budget_tokens: Number.isSafeInteger(budget_tokens) ? Number(budget_tokens) : 0,
    }
  }
  if (!isEffort(wished) || (version !== null && version < FIRST_THAT_THINKS)) return NONE
  if (wished === 'none') return has_effort ? {...NONE, thinking: {type: 'disabled'}} : NONE
  const budget = BUDGET_TOKENS[wished]!
  if (has_effort) {
    return known.is_forced
      ? {...NONE, effort}
      : {thinking: {type: 'adaptive'}, effort, budget_tokens: budget, is_ours: true}
  }
  const most = known.max_tokens ?? Number.POSITIVE_INFINITY
  if (known.is_forced || most <= MIN_BUDGET_TOKENS || !mayBegin(known.turns)) return NONE
  // OpenAI counts reasoning in the completion: half of it is left for the answer.
  const budget_tokens = Math.min(budget, Math.max(MIN_BUDGET_TOKENS, Math.floor(most / 2)))
  return {thinking: {type: 'enabled', budget_tokens}, effort: null, budget_tokens, is_ours: true}
}

/** A budget leaves a token for the answer; null where the answer may have too few tokens to think with. */
function withinTokens(thinking: Json, max_tokens: number | null): Json | null {
  const {type, budget_tokens} = thinking
  if (type !== 'enabled' || typeof budget_tokens !== 'number') return thinking
  const most = max_tokens === null ? Number.POSITIVE_INFINITY : max_tokens - 1
  if (budget_tokens >= MIN_BUDGET_TOKENS && budget_tokens <= most) return thinking
  return most < MIN_BUDGET_TOKENS
    ? null
    : {...thinking, budget_tokens: Math.min(Math.max(budget_tokens, MIN_BUDGET_TOKENS), most)}
}

/** The `max_tokens` of a request that names none. Thinking counts towards it. */
export function defaultMaxTokens(model: string, budget_tokens: number): number {
  const version = claudeVersion(model)
  return (version !== null && version < CLAUDE_3_5 ? MAX_TOKENS_CLAUDE_3 : MAX_TOKENS) + Math.max(0, budget_tokens)
}

/** True when tools may be `strict`. An unknown model counts as a new one. */
export function hasStrictTools(model: string): boolean {
  return (claudeVersion(model) ?? FIRST_STRICT_TOOLS) >= FIRST_STRICT_TOOLS
}

/**
 * `claude-3-7-sonnet-20250219` → 307, `us.anthropic.claude-opus-4-5-20251101-v1:0` → 405, `claude-sonnet-4@20250514` →
 * 400; null: no number.
 */
export function claudeVersion(model: string): number | null {
  const found = /claude-(?:[a-z]{1,20}-)?(\d{1,2})(?:[.-](\d{1,2}))?(?!\d)/.exec(model)
  return found ? Number(found[1]) * 100 + Number(found[2] ?? 0) : null
}

function isEffort(wished: unknown): wished is string {
  return typeof wished === 'string' && (wished === 'none' || Object.hasOwn(BUDGET_TOKENS, wished))
}

function effortIn(wished: string, version: number | null): string {
  if (wished === 'minimal') return 'low'
  return wished === 'xhigh' && version !== null && version < FIRST_XHIGH ? 'high' : wished
}

/**
 * With a budget, a turn that continues after its tools' results must have begun with thinking; clients of OpenAI do not
 * keep any.
 */
function mayBegin(turns: readonly ConversationTurn[]): boolean {
  const last = turns.findLast(turn => turn.role === 'assistant')
  if (!last) return true
  const goes_on = turns.at(-1) === last || last.content.some(block => block.type === 'tool_use')
  const first = last.content[0]?.type
  return !goes_on || first === 'thinking' || first === 'redacted_thinking'
}
