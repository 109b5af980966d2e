import type {CacheEntry} from '../../ports/cache/index.ts'
import type {Try} from '../../routing/router.ts'
import {NOTHING_SPENT, type Spent} from '../../schema/spent.ts'
import type {AttemptOwner} from '../attempt/attempt-owner.ts'
import type {ClientCall, RouteInfo} from '../call/call.ts'
import type {CallRegistry} from '../call/registry.ts'
import type {CallState, StateName, StateOwner} from '../call/state.ts'
import type {Reservation} from '../call/work.ts'
import type {RequestCredentials} from '../inbound/request.ts'
import type {SettleServices} from '../records/settle.ts'
import type {Admission, EntityLimit, Uses} from '../services.ts'
import type {PlanCache, ResolvedPlan} from '../targets/plan-cache.ts'
import type {Target, TargetServices} from '../targets/target.ts'
import type {BuildServices, UpstreamRequest} from '../upstream/build-request.ts'
import type {CacheParticipant} from './cache.ts'
import type {EngineRoutes} from './engine-routes.ts'
import type {StagedRun} from './pipeline.ts'

type Services = BuildServices &
  SettleServices &
  TargetServices &
  Uses<'cache' | 'circuits' | 'cors' | 'findPolicies' | 'random' | 'seal' | 'secrets' | 'semantic' | 'soon' | 'sticky'>

/** The objects that all calls share. */
export interface Plane {
  readonly services: Services
  readonly plans: PlanCache
  readonly registry: CallRegistry
  readonly routes: EngineRoutes
}

/** A call that is ready for its targets. */
export interface PlannedCall {
  readonly call: ClientCall
  readonly state: CallState
  readonly plan: ResolvedPlan
  readonly credentials: RequestCredentials
  readonly plane: Plane
}

/** A call at one target, retries included: what its stages have obtained so far. */
export class TargetRun implements StagedRun {
  readonly call: ClientCall
  readonly state: CallState
  readonly plan: ResolvedPlan
  readonly credentials: RequestCredentials
  readonly plane: Plane
  readonly services: Services
  readonly host: AttemptOwner & StateOwner
  readonly step: Try
  /** Of the call, before this target. */
  readonly attempts_before: number
  route: RouteInfo
  /** From the first stage on. */
  target!: Target
  /** The cache lookup is in progress, or another call's response is waited for. */
  lookup: CacheParticipant | null = null
  cached: CacheEntry | null = null
  /** The store for the response of the next attempt, if any. */
  cache: CacheParticipant | null = null
  limits: readonly EntityLimit[] = []
  request!: UpstreamRequest
  /** A refusal of its credentials made its manager read others: once at a target. */
  has_renewed = false

  constructor({call, state, plan, credentials, plane}: PlannedCall, step: Try, host: AttemptOwner & StateOwner) {
    this.call = call
    this.state = state
    this.plan = plan
    this.credentials = credentials
    this.plane = plane
    this.services = plane.services
    this.host = host
    this.step = step
    this.attempts_before = call.attempts
    this.route = {
      mode: step.mode,
      option_path: step.target.path,
      retry_count: 0,
      cache_status: 'DISABLED',
      warning: plan.warning,
    }
  }

  get has_ended(): boolean {
    return this.state.is_settled
  }

  /** Attempts at this target. */
  get attempts(): number {
    return this.call.attempts - this.attempts_before
  }

  set admission(admission: Admission | null) {
    if (admission) this.call.target_admissions.push(admission)
  }

  set reservation(reservation: Reservation | null) {
    this.call.reservation = reservation
  }

  enter(state: StateName): void {
    this.state.enter(state, this.host)
  }

  retry(retry_count: number): void {
    this.route = {...this.route, retry_count}
  }

  /** The provider is not called after all: another call that waits for the same response calls it. */
  passLead(): void {
    this.cache?.passLead()
    this.cache = null
  }

  release(): void {
    const {call} = this
    if (this.lookup?.leave()) this.lookup.passLead() // it was to lead just now
    this.lookup = null
    this.cache?.fail()
    this.cache = null
    call.reservation?.settle(NOTHING_SPENT)
    call.reservation = null
    const {used_here, target_admissions} = call
    for (const admission of target_admissions) endAdmission(admission, this.attempts, used_here)
    call.target_admissions = []
    call.used_here = NOTHING_SPENT
  }
}

/** Counts the usage; the claim of a call that was never sent is released. */
export function endAdmission(admission: Admission, attempts: number, used: Spent): void {
  if (attempts > 0) admission.settle(used)
  else admission.release()
}
