import type {Coverage} from '../../guardrails/coverage.ts'
import type {Hook} from '../../guardrails/hook.ts'
import {isGuarded} from '../../guardrails/texts.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import type {HookResult, SkippedHook} from '../../schema/guardrails.ts'

/** Parts are named up to here; more say nothing more. */
const MAX_PARTS = 8

/** The hooks of a request that would judge a body of this route. */
export function unreadHooks(hooks: readonly Hook[], endpoint: EndpointName): readonly Hook[] {
  const is_known = isGuarded(endpoint, 'input')
  return hooks.filter(({checks, every_route}) =>
    checks.some(
      ({prepared: {check, forbids}}) =>
        check.sides.includes('input') &&
        !check.everywhere &&
        (is_known || forbids || (check.is_service && every_route)),
    ),
  )
}

/** True for a hook that keeps something from leaving: it denies, or takes out what it finds. */
export function isProtective({async, deny, checks}: Hook): boolean {
  return !async && (deny || checks.some(({prepared}) => prepared.redacts))
}

/** True where a check takes out of requests what it finds. */
export function redactsRequests(guards: {readonly input: readonly Hook[]} | null): boolean {
  return guards?.input.some(({async, checks}) => !async && checks.some(({prepared}) => prepared.redacts)) ?? false
}

/**
 * The results with what those hooks could not read: by itself where they had nothing else to judge, else beside what
 * they say of the rest.
 */
export function withUnread(
  results: readonly HookResult[],
  unjudged: readonly Hook[],
  parts: readonly string[],
): readonly HookResult[] {
  const ids = new Set(unjudged.map(({id}) => id))
  const skipped = ({id, type}: Pick<Hook, 'id' | 'type'>): SkippedHook[] =>
    parts.slice(0, MAX_PARTS).map(part => ({id, type, skipped: true, reason: 'unreadable', part}))
  const ran = results.filter(result => !(ids.has(result.id) && 'skipped' in result))
  return [...ran, ...unjudged.filter(({async}) => !async).flatMap(skipped)]
}

/** True when a hook judges an answer that is nothing but strings. */
export function judgesStrings({checks, every_route}: Hook, coverage: Coverage): boolean {
  if (coverage === 'every_route' && !every_route) return false
  return checks.some(
    ({prepared: {check, forbids}}) => check.sides.includes('output') && (forbids || (check.is_service && every_route)),
  )
}
