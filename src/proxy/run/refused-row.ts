import type {Refusal} from '../../base/errors.ts'
import type {Call, ClientCall, RouteInfo} from '../call/call.ts'
import {redactsRequests} from '../guardrails/unread.ts'
import {note, type SettleServices} from '../records/settle.ts'
import type {Uses} from '../services.ts'
import {resolveGuardrails, type TargetGuardrails} from '../targets/guardrails.ts'
import type {Target} from '../targets/target.ts'

type Services = SettleServices & Uses<'guardrails'>

interface RefusedAt {
  readonly target: Target | null
  readonly route: RouteInfo
  /** Attempts at the target that have no row of their own. */
  readonly tries: number
}

/**
 * Writes the row of a refused call. A body that no guardrail has judged is not kept where one that redacts is attached:
 * at the target, or where none was found by the defaults of organisation, workspace and key.
 */
export function noteRefusal(
  call: ClientCall,
  fault: Refusal,
  {target, route, tries}: RefusedAt,
  services: Services,
): void {
  const write = () => note(call, target, fault, services, route, tries)
  const {guardrails} = services
  if (!guardrails || !holdsUnjudged(call)) return write()
  if (target) {
    call.is_unjudged = redactsRequests(target.guards)
    return write()
  }
  guardrails.beside(
    defaultsOf(call, services).then(guards => {
      call.is_unjudged = guards === 'unknown' || redactsRequests(guards)
      write()
    }),
  )
}

function holdsUnjudged({guardrails, body, has_user_of_body}: Call): boolean {
  return !guardrails?.has_judged && ('bytes' in body || has_user_of_body)
}

/**
 * The guardrails that would have run whatever the config says; unknown when that names some of its own, or they cannot
 * be read.
 */
async function defaultsOf({incoming, caller}: Call, services: Services): Promise<TargetGuardrails | null | 'unknown'> {
  if (NAMES_HOOKS.test(incoming.own.values.config ?? '')) return 'unknown'
  try {
    return await resolveGuardrails({}, 'config', caller, services)
  } catch {
    return 'unknown'
  }
}

const NAMES_HOOKS = /guardrail|hooks|mutators/
