import {isObject, object} from '../../base/json-object.ts'
import {type Json, UnsupportedInputFault} from '../translation.ts'
import {generationOf} from './endpoint.ts'
import {present} from './read.ts'

/** Tokens to think with, for models that take a budget. */
const BUDGETS: Readonly<Record<string, number>> = {
  none: 0,
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 24_576,
}

/**
 * How much to think, from `thinking_config` (Google's own), `thinking` (Anthropic's form) or `reasoning_effort`, in
 * that order; null when nothing is said, or when the model cannot think. Up to 2.5 models take a budget of tokens, from
 * 3 on a level. Source: ai.google.dev/gemini-api/docs/thinking.
 */
export function thinkingConfig(request: Json, model: string, strict: boolean): Json | null {
  const generation = generationOf(model)
  const own = request.thinking_config ?? request.thinkingConfig
  if (isObject(own)) {
    return present({
      includeThoughts: own.include_thoughts ?? own.includeThoughts,
      thinkingBudget: own.thinking_budget ?? own.thinkingBudget,
      thinkingLevel: own.thinking_level ?? own.thinkingLevel,
    })
  }
  if (!thinks(model, generation)) return null
  const takes_level = generation !== null && generation >= 3
  const amount = amountOf(request.reasoning_effort, model, takes_level)
  if (isObject(request.thinking)) {
    const {type, budget_tokens} = object(request.thinking)
    if (type === 'disabled') return amountOf('none', model, takes_level)
    if (type !== 'enabled' && type !== 'adaptive')
      throw new UnsupportedInputFault('thinking.type', 'expected enabled, adaptive or disabled')
    if (typeof budget_tokens !== 'number') return {includeThoughts: true, ...amount}
    const effort = budget_tokens <= 4096 ? 'low' : budget_tokens <= 16_384 ? 'medium' : 'high'
    return {
      includeThoughts: true,
      ...(takes_level ? {thinkingLevel: levelOf(effort, model)} : {thinkingBudget: budget_tokens}),
    }
  }
  // Thoughts are shown outside OpenAI's words alone.
  return !amount || strict || request.reasoning_effort === 'none' ? amount : {includeThoughts: true, ...amount}
}

function amountOf(effort: unknown, model: string, takes_level: boolean): Json | null {
  if (effort === undefined || effort === null) return null
  if (typeof effort !== 'string' || !Object.hasOwn(BUDGETS, effort)) {
    throw new UnsupportedInputFault('reasoning_effort', `expected one of ${Object.keys(BUDGETS).join(', ')}`)
  }
  return takes_level ? {thinkingLevel: levelOf(effort, model)} : {thinkingBudget: BUDGETS[effort]!}
}

/** Models before 2.5 refuse a thinking configuration. */
function thinks(model: string, generation: number | null): boolean {
  return generation === null
    ? !model.startsWith('gemma')
    : generation >= 3 || model.startsWith('gemini-2.5') || model.includes('thinking')
}

/** The pro models cannot think less than `low`, the first of them has no `medium`. */
function levelOf(effort: string, model: string): string {
  const is_pro = model.includes('-pro')
  if (effort === 'none' || effort === 'minimal') return is_pro ? 'low' : 'minimal'
  if (effort === 'medium') return is_pro && model.startsWith('gemini-3-') ? 'high' : 'medium'
  return effort === 'low' ? 'low' : 'high'
}
