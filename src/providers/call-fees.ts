import {INPUT_CLASSES, isEmptyUsage, UNIT, type Usage} from '../schema/usage.ts'

/**
 * Models that hand a call on to another of their choice, for a fee for each token of its prompt beside what that one
 * costs. Source: learn.microsoft.com, Model router frequently asked questions, pricing.
 */
const ROUTER = /^(?:model-router(?:-\d{4}-\d{2}-\d{2})?|auto)$/
const WITH_ROUTERS: ReadonlySet<string> = new Set(['azure-openai', 'azure-ai'])

/**
 * Models that search the web in every call before they answer, and do not count it in their usage. Source:
 * developers.openai.com, Web search, Chat Completions ("the model always retrieves information from the web before
 * responding").
 */
const SEARCHER = /-search-(?:preview|api)\b/
const WITH_SEARCHERS: ReadonlySet<string> = new Set(['openai', 'azure-openai'])

/** True when a model routes calls to other models, which are charged beside it. */
export function isRouter(kind: string, model: string | null): boolean {
  return model !== null && WITH_ROUTERS.has(kind) && ROUTER.test(model)
}

/**
 * `usage` of a call, with what its kind charges for each call and no usage tells: a search, or the tokens that were
 * routed. `models`: that of the request, and that of the answer.
 */
export function withCallFees(kind: string, models: readonly (string | null)[], usage: Usage): Usage {
  if (WITH_SEARCHERS.has(kind))
    for (const model of models)
      if (model?.includes('-search-') && SEARCHER.test(model)) return withUnit(usage, UNIT.web_search, 1)
  if (WITH_ROUTERS.has(kind))
    for (const model of models) if (isRouter(kind, model)) return withUnit(usage, UNIT.routing_units, promptOf(usage))
  return usage
}

function withUnit(usage: Usage, unit: string, amount: number): Usage {
  return amount === 0 || isEmptyUsage(usage) || usage.units[unit] !== undefined
    ? usage
    : {...usage, units: {...usage.units, [unit]: amount}}
}

function promptOf(usage: Usage): number {
  return INPUT_CLASSES.reduce((sum, name) => sum + usage[name], 0)
}
