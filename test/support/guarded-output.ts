import {Refusal} from '../../src/base/errors.ts'
import type {Hook} from '../../src/guardrails/hook.ts'
import type {CallGuardrails} from '../../src/proxy/call/call-guardrails.ts'
import type {EndpointName} from '../../src/schema/endpoints.ts'

type Judge = (hooks: readonly Hook[], json: never) => Promise<unknown>

/** A streamed call whose answer is judged by hooks. */
export function guardedOutput(
  endpoint: EndpointName,
  output: readonly Hook[],
  judge: Judge,
  evaluateInBackground: Judge = async () => undefined,
): CallGuardrails {
  // by its own names, so that the compiler tells when one of them changes
  const guarded: Partial<Record<keyof CallGuardrails, unknown>> = {
    guards: {input: [], output, digest: ''},
    endpoint,
    is_stream: true,
    judges_answers: true,
    restore: null,
    shown: null,
    tells_in_streams: false,
    denied: () => new Refusal('guardrail.denied'),
    unreadable: (reason: string) => new Refusal('upstream.bad_reply', {provider: 'p', reason}),
    judge,
    judgeFailure: async (_: readonly Hook[], failed: unknown) => failed,
    evaluateInBackground,
  }
  return guarded as unknown as CallGuardrails
}

/** What those hooks are told of the call. */
export function outputContext(endpoint: EndpointName, parts?: Map<object, unknown>) {
  return {
    side: 'output',
    endpoint,
    response_status: 200,
    now_ms: () => 0,
    request: null,
    response: null,
    ...(parts && {parts}),
  } as never
}
