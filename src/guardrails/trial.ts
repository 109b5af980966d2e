import type {EndpointName} from '../schema/endpoints.ts'
import type {GuardrailActions, GuardrailCheck, HookResult, Side} from '../schema/guardrails.ts'
import type {SavedGuardrail} from './attach.ts'
import type {CheckContext} from './check.ts'
import type {CheckServices} from './check-services.ts'
import {type Hook, makeHook} from './hook.ts'
import type {JsonValue} from './json.ts'
import {BUILT_IN} from './registry.ts'
import {runHooks} from './run.ts'
import {viewOf} from './view.ts'

/** A call that is not made, or that was. */
export interface TriedCall
  extends Pick<CheckContext, 'endpoint' | 'provider' | 'model' | 'metadata' | 'headers' | 'trace' | 'is_streaming'> {
  readonly request: JsonValue
  /** Null where the answer is not to be judged. `endpoint`: in whose words it is, where those are not the call's. */
  readonly response: {readonly status: number; readonly body: JsonValue; readonly endpoint?: EndpointName} | null
}

/** The verdict of a guardrail on one side of a call. */
export interface TriedSide {
  readonly side: Side
  /** `denied`: the call would end with 446. `failed`: it would be answered with 246, or is judged beside the call. */
  readonly outcome: 'passed' | 'failed' | 'denied' | 'skipped'
  readonly result: HookResult
  readonly is_transformed: boolean
  /** The body as the checks left it. */
  readonly body: JsonValue
  /** Headers to send upstream besides. */
  readonly headers: Readonly<Record<string, string>>
}

/**
 * The guardrail as a hook; undefined where all of its checks are switched off. Its checks are ones that could be saved.
 */
export function hookOf({slug, version_id, checks, actions}: Omit<SavedGuardrail, 'id'>): Hook | undefined {
  const definition = {...actions, id: slug, checks, guardrail_version_id: version_id}
  return makeHook(definition, {registry: BUILT_IN, path: '', id: slug, type: 'guardrail', has_feedback: true}, [])
}

/** A guardrail that was not saved. */
export function unsavedHook(checks: readonly GuardrailCheck[], actions: GuardrailActions): Hook | undefined {
  return makeHook(
    {...actions, checks},
    {registry: BUILT_IN, path: '', id: 'unsaved', type: 'guardrail', has_feedback: true},
    [],
  )
}

/** Runs a guardrail on one side of a call, as it would run when a config attached it there. */
export async function trySide(hook: Hook, side: Side, call: TriedCall, world: CheckServices): Promise<TriedSide> {
  const {request, response, ...facts} = call
  const request_view = viewOf(call.endpoint, 'input', request)
  const view =
    side === 'input' ? request_view : viewOf(response?.endpoint ?? call.endpoint, 'output', response?.body ?? null)
  const context: CheckContext = {
    ...facts,
    ...world,
    side,
    request: request_view,
    is_request_transformed: false,
    response: side === 'output' ? view : null,
    response_status: side === 'output' ? (response?.status ?? null) : null,
  }
  const ran = await runHooks([hook], view, context)
  const [result] = ran.results.length ? ran.results : ((await ran.background) ?? [])
  const is_skipped = !result || 'skipped' in result || result.checks.every(check => check.skipped)
  return {
    side,
    outcome: is_skipped ? 'skipped' : ran.is_denied ? 'denied' : result.verdict ? 'passed' : 'failed',
    result: result!,
    is_transformed: ran.is_transformed,
    body: ran.view.body,
    headers: ran.headers,
  }
}

/** The endpoint of a path with a method: `proxy` where it is none of ours. */
export function endpointAt(
  method: string,
  url: string,
  known: readonly {name: EndpointName; method: string; path: string}[],
): EndpointName {
  const path = url.split('?', 1)[0]!.replace(/^\/v1/, '')
  const matches = (pattern: string) =>
    new RegExp(`^${pattern.replace(/:\w+/g, '[^/]+').replaceAll('*', '.+')}$`).test(path)
  return known.find(each => each.method === method && matches(each.path))?.name ?? 'proxy'
}
