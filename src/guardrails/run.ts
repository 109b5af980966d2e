import {isoTime} from '../base/clock.ts'
import type {CheckResult, HookFeedback, HookResult, SkipReason} from '../schema/guardrails.ts'
import {type CheckContext, excerpt, type Transform, type Verdict} from './check.ts'
import {CheckFault} from './fault.ts'
import type {Hook, HookCheck} from './hook.ts'
import {isObject, withKey} from './json.ts'
import {type Restore, restoreOfAll} from './pii/restore.ts'
import {isGuarded} from './texts.ts'
import type {View} from './view.ts'

/** The outcome of one phase of a call. */
export interface PhaseOutcome {
  /** Of the hooks that were waited for, in their order. */
  readonly results: readonly HookResult[]
  /** A hook with `deny` failed: the call stops. */
  readonly is_denied: boolean
  /** A hook failed. */
  readonly is_failed: boolean
  /** The body as the checks left it; the same view when none changed it. */
  readonly view: View
  readonly is_transformed: boolean
  /** The same changes made to another view: to an event that repeats what others held. */
  rewrite(view: View): Promise<View>
  /** Headers to send upstream besides. They replace the client's of the same names. */
  readonly headers: Readonly<Record<string, string>>
  /**
   * Puts back in the answer, for the client alone, what was taken out of the request under numbered placeholders; null:
   * nothing is to be put back. Checks of the answer, logs and caches keep the placeholders.
   */
  readonly restore: Restore | null
  /** Of the hooks that are not waited for; they decide and change nothing. Never rejects. */
  readonly background: Promise<readonly HookResult[]> | null
}

/** A hook's results and what it wants changed. */
interface Ran {
  readonly result: HookResult
  readonly transforms: readonly Transform[]
  readonly headers: Readonly<Record<string, string>>
  readonly restores: readonly Restore[]
}

/**
 * Runs the hooks of a phase on `view`, side by side (docs/guardrails.md, How a guardrail runs). Each sees the body as
 * it came; what they want changed is done when all have ended. No check's failure is thrown: it is in its result.
 */
export async function runHooks(hooks: readonly Hook[], view: View, context: CheckContext): Promise<PhaseOutcome> {
  const later = hooks.filter(hook => hook.async)
  const started = later.map(hook => runHook(hook, view, context))
  const ran = await Promise.all(hooks.filter(hook => !hook.async).map(hook => runHook(hook, view, context)))
  const transforms = ran.flatMap(each => each.transforms)
  const changed = await carriedOut(view, transforms)
  const results = ran.map(({result}) => reported(result, view, changed))
  const failed = results.filter(result => 'verdict' in result && !result.verdict)
  return {
    results,
    is_denied: failed.some(result => 'deny' in result && result.deny),
    is_failed: failed.length > 0,
    view: changed,
    is_transformed: changed !== view,
    rewrite: other => carriedOut(other, transforms),
    headers: Object.assign({}, ...ran.map(({headers}) => headers)),
    restore: restoreOfAll(ran.flatMap(({restores}) => restores)),
    background: started.length
      ? Promise.all(started).then(all => all.map(({result}) => reported(result, view, changed)))
      : null,
  }
}

async function runHook(hook: Hook, view: View, context: CheckContext): Promise<Ran> {
  const {id, type, deny, async, guardrail_version_id} = hook
  const skipped = skippedBecause(hook, view, context)
  if (skipped)
    return {result: {id, type, skipped: true, ...reasonOf(skipped)}, transforms: [], headers: {}, restores: []}
  const began_ms = context.now_ms()
  const ran = hook.sequential
    ? await inTurn(hook, view, context)
    : await Promise.all(hook.checks.map(each => runCheck(each, hook, view, context)))
  const checks = ran.map(({result}) => (async ? {...result, transformed: false} : result))
  const verdict = checks.every(passes)
  return {
    result: {
      verdict,
      id,
      transformed: checks.some(each => each.transformed),
      checks,
      feedback: feedbackOf(verdict ? hook.on_success : hook.on_fail, checks),
      execution_time: elapsed(began_ms, context),
      async,
      type,
      created_at: isoTime(began_ms),
      deny,
      ...(guardrail_version_id === null ? {} : {guardrail_version_id}),
    },
    transforms: async ? [] : ran.flatMap(({transform}) => transform ?? []),
    headers: async ? {} : Object.assign({}, ...ran.map(each => each.headers)),
    restores: async ? [] : ran.flatMap(({restore}) => restore ?? []),
  }
}

/** Why a hook or a check does not run. */
type Skipped = 'route' | SkipReason

/**
 * Skipped hooks never deny: the route or the answer has nothing for them, or they would change what is not waited for.
 */
function skippedBecause(hook: Hook, view: View, context: CheckContext): Skipped | null {
  const {type, async, checks} = hook
  if (type === 'mutator' && (async || context.endpoint === 'embed')) return 'route'
  // An error is nothing but strings, whatever the route; other replies that are no answer are not judged.
  const status = context.response_status ?? 0
  // A reply of any good status is the model's text, be it 200, 201 or 202.
  const is_judged = status >= 300 ? view.kind === 'strings' : status >= 200
  if (context.side === 'output' && !is_judged) return 'route'
  const reasons = checks.map(each => whySkipped(each, hook, view.kind, context))
  return reasons.includes(null) ? null : (reasons.find(reason => reason !== 'route') ?? 'route')
}

/**
 * Of a body that is nothing but strings only what forbids is judged: what a text must have, any string of it may lack.
 */
export function whySkipped(
  {prepared}: HookCheck,
  {every_route}: Pick<Hook, 'every_route'>,
  kind: View['kind'],
  {side, endpoint}: Pick<CheckContext, 'side' | 'endpoint'>,
): Skipped | null {
  const {check} = prepared
  if (!check.sides.includes(side)) return 'route'
  if (check.everywhere) return null
  if (kind === 'none') return 'route'
  const is_known = isGuarded(endpoint, side)
  const judges_strings = prepared.forbids || (check.is_service && every_route)
  if (kind === 'unread') return is_known || judges_strings ? 'unreadable' : 'not_text'
  if (kind === 'strings') return judges_strings ? null : 'not_text'
  return check.kind === 'mutator' && endpoint === 'embed' ? 'route' : null
}

const reasonOf = (skipped: Skipped) => (skipped === 'route' ? {} : {reason: skipped})

interface RanCheck {
  readonly result: CheckResult
  readonly transform?: Transform
  readonly headers?: Readonly<Record<string, string>>
  readonly restore?: Restore
}

/** Each check sees what those before it made of the body. */
async function inTurn(hook: Hook, view: View, context: CheckContext): Promise<readonly RanCheck[]> {
  const ran: RanCheck[] = []
  let now = view
  for (const each of hook.checks) {
    const next = await runCheck(each, hook, now, context)
    if (next.transform) now = await next.transform.apply(now)
    ran.push(next)
  }
  return ran
}

async function runCheck(each: HookCheck, hook: Hook, view: View, context: CheckContext): Promise<RanCheck> {
  const {id, prepared} = each
  const began_ms = context.now_ms()
  const base = {created_at: isoTime(began_ms), log: null, fail_on_error: prepared.fail_on_error}
  const skipped = whySkipped(each, hook, view.kind, context)
  if (skipped)
    return {
      result: {
        id,
        verdict: true,
        data: null,
        execution_time: 0,
        transformed: false,
        ...base,
        skipped: true,
        ...reasonOf(skipped),
      },
    }
  let verdict: Verdict
  let transform: Transform | undefined
  try {
    verdict = await prepared.run(view, seeing(view, context))
    // Tried at once, so that what goes wrong is this check's error.
    transform =
      verdict.transformed && (await verdict.transformed.apply(view)) !== view ? verdict.transformed : undefined
  } catch (error) {
    verdict = errored(error)
  }
  const {data, error, headers, restore} = verdict
  return {
    result: {
      id,
      verdict: verdict.verdict,
      data,
      ...(error ? {error: {name: error.name, message: error.message}} : {}),
      execution_time: elapsed(began_ms, context),
      transformed: transform !== undefined,
      ...base,
      log: verdict.log ?? null,
    },
    ...(transform ? {transform} : {}),
    ...(headers ? {headers} : {}),
    ...(transform && restore ? {restore} : {}),
  }
}

function seeing(view: View, context: CheckContext): CheckContext {
  const before = context.side === 'input' ? context.request : context.response
  const is_changed = before !== null && view !== before && (view.kind === 'strings' || view.body !== before.body)
  if (context.side === 'output') return {...context, response: view}
  return {...context, request: view, is_request_transformed: context.is_request_transformed || is_changed}
}

/** Words of a check's own are kept; of anything else thrown only the kind, for its words may quote the text. */
function errored(error: unknown): Verdict {
  if (error instanceof CheckFault) return {verdict: false, data: {explanation: error.message}, error}
  const name = error instanceof Error ? error.name : 'Error'
  const fault = new CheckFault('The check could not run.', name)
  return {verdict: false, data: {explanation: fault.message}, error: fault}
}

function passes({verdict, error, fail_on_error, skipped}: CheckResult): boolean {
  return skipped === true || verdict || (error !== undefined && !fail_on_error)
}

/**
 * Whole bodies first, and then what redacts: nothing that was taken out comes back with a body that was made before.
 */
async function carriedOut(view: View, transforms: readonly Transform[]): Promise<View> {
  const inOrder = [...transforms.filter(each => each.is_whole), ...transforms.filter(each => !each.is_whole)]
  let now = view
  for (const transform of inOrder) now = await transform.apply(now)
  return now
}

/** A result whose excerpts are of the text as it is now: what was redacted is in no log. */
function reported(result: HookResult, before: View, now: View): HookResult {
  if (!('checks' in result) || now === before) return result
  return {
    ...result,
    checks: result.checks.map(each =>
      isObject(each.data) && Object.hasOwn(each.data, 'textExcerpt')
        ? {...each, data: withKey(each.data, 'textExcerpt', excerpt(now.text))}
        : each,
    ),
  }
}

function feedbackOf(feedback: HookFeedback | null, checks: readonly CheckResult[]): HookFeedback | null {
  if (!feedback) return null
  const ran = checks.filter(({skipped}) => !skipped)
  const ids = (which: (check: CheckResult) => boolean) =>
    ran
      .filter(which)
      .map(({id}) => id)
      .join(', ')
  return {
    ...feedback,
    metadata: {
      ...feedback.metadata,
      successfulChecks: ids(({verdict, error}) => verdict && !error),
      failedChecks: ids(({verdict, error}) => !verdict && !error),
      erroredChecks: ids(({error}) => error !== undefined),
    },
  }
}

function elapsed(began_ms: number, {now_ms}: CheckContext): number {
  return Math.max(0, Math.round((now_ms() - began_ms) * 1000) / 1000)
}
