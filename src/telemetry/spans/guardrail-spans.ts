import type {HookResult, RanHook} from '../../schema/guardrails.ts'
import {type OtlpSpan, SPAN_KINDS, type SpanEvent, STATUS_CODES} from '../otlp/model.ts'
import {SERVER_NAME} from '../semconv.ts'
import {AttributeList} from './attributes.ts'
import {derivedSpanId, traceIdOf} from './ids.ts'
import type {ExportedRecord, ExportedRow} from './record.ts'
import type {SpanServices} from './span-services.ts'

/**
 * A span for each guardrail that ran, below the call's. A row that comes again has those that the call did not wait for
 * beside the others, whose spans have the same ids as before.
 */
export function guardrailSpans(
  {entry}: ExportedRecord,
  {detail}: ExportedRow,
  parent_span_id: string,
  services: SpanServices,
): readonly OtlpSpan[] {
  const results = detail.hook_results
  if (!results) return []
  const spans = (phase: 'input' | 'output', hooks: readonly HookResult[]) =>
    hooks.flatMap((hook, at) =>
      'skipped' in hook
        ? []
        : [
            {
              trace_id: traceIdOf(entry.trace_id),
              span_id: derivedSpanId('guardrail', entry.call_id, phase, at, hook.id),
              parent_span_id,
              ...spanOf(hook, phase, services),
            },
          ],
    )
  return [...spans('input', results.before_request_hooks ?? []), ...spans('output', results.after_request_hooks ?? [])]
}

type OfHook = Omit<OtlpSpan, 'trace_id' | 'span_id' | 'parent_span_id'>

function spanOf(hook: RanHook, phase: string, {names}: SpanServices): OfHook {
  const end_us = Date.parse(hook.created_at) * 1000
  const start_us = end_us - Math.max(0, Math.round(hook.execution_time * 1000))
  const is_denial = !hook.verdict && hook.deny
  const attributes = new AttributeList(names)
    .add('guardrail_id', hook.id)
    .add('guardrail_phase', phase)
    .add('guardrail_verdict', hook.verdict ? 'pass' : 'fail')
    .add('guardrail_action', is_denial ? 'deny' : hook.transformed ? 'transform' : hook.verdict ? 'none' : 'log')
    .add('guardrail_deny', hook.deny)
    .add('guardrail_async', hook.async)
    .add('guardrail_transformed', hook.transformed).list
  return {
    name: `guardrail ${hook.id}`,
    kind: SPAN_KINDS.internal,
    start_us,
    end_us,
    attributes,
    events: hook.checks.map((check): SpanEvent => {
      const of = new AttributeList(names)
        .add('check_id', check.id)
        .add('check_verdict', check.verdict)
        .add('check_duration_ms', check.execution_time)
        .add('check_error', check.error?.name).list
      return {time_us: Date.parse(check.created_at) * 1000, name: SERVER_NAME.check_event, attributes: of}
    }),
    status: is_denial ? {code: STATUS_CODES.error, message: 'denied'} : {code: STATUS_CODES.unset},
  }
}
