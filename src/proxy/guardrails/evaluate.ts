import type {Call} from '../call/call.ts'
import type {CallGuardrails} from '../call/call-guardrails.ts'
import type {Body} from '../inbound/body.ts'
import type {Uses} from '../services.ts'
import type {TargetGuardrails} from '../targets/guardrails.ts'
import {GuardedVisit, type JudgedPlace} from './guarded-visit.ts'
import type {FormOfRows} from './request-strings.ts'

type Services = Uses<'guardrails' | 'settings'>

/**
 * Judges a call as it came in; gives the body that goes out instead, or null where it stays. Throws `GuardrailDenial`.
 * `form`: what is judged in place of a body that passes.
 */
export async function evaluateRequest(
  guards: TargetGuardrails | null,
  call: Call,
  place: JudgedPlace,
  services: Services,
  form: FormOfRows | null = null,
): Promise<Body | null> {
  if (!guards) return null
  const guarded = new GuardedVisit(guards, call, place, services)
  call.guardrails = guarded
  return guarded.judgeInput(form)
}

/** Judges an answer without a call of its own: one of a session, whose client's events were judged one by one. */
export function guardAnswer(
  guards: TargetGuardrails,
  call: Call,
  place: JudgedPlace,
  services: Services,
): CallGuardrails {
  return new GuardedVisit(guards, call, place, services)
}
