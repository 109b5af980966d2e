import {Refusal} from '../../base/errors.ts'
import {newTimeId} from '../../base/ids.ts'
import type {TryResult} from '../../routing/retry.ts'
import type {Try} from '../../routing/router.ts'
import {type Router, type Step, startRouting} from '../../routing/router.ts'
import {Attempt} from '../attempt/attempt.ts'
import {type AttemptHost, NOTHING_USED, type RoutingDecision} from '../attempt/host.ts'
import type {Call, RouteInfo, Used} from '../call/call.ts'
import {askedModel, checkModel} from '../call/model-access.ts'
import type {CallRegistry} from '../call/registry.ts'
import {CallFacts} from '../call/routing-facts.ts'
import type {CallState, StateOwner} from '../call/state.ts'
import {evaluateRequest} from '../guardrails/evaluate.ts'
import type {Body} from '../inbound/body.ts'
import {GuardrailDenial} from '../inbound/denial.ts'
import {asRefusal} from '../inbound/error-response.ts'
import type {Credentials} from '../inbound/request.ts'
import type {GrowingReservation} from '../limits/reservation.ts'
import {reserveAttempt} from '../limits/reserve.ts'
import {limitsAt} from '../limits/target-limits.ts'
import {note} from '../records/settle.ts'
import type {Admission, EntityLimit, ProxyServices} from '../services.ts'
import type {TargetGuardrails} from '../targets/guardrails.ts'
import type {PlanCache, ResolvedPlan} from '../targets/plan-cache.ts'
import {checkManaged, type Target} from '../targets/target.ts'
import {buildUpstreamRequest, type UpstreamRequest, withCredentials} from '../upstream/build-request.ts'
import {type CacheParticipant, joinCache} from './cache.ts'
import {serveCount, serveHit} from './local-answer.ts'

/** What a runner stands on. */
export interface Plane {
  readonly on: ProxyServices
  readonly routings: PlanCache
  readonly live: CallRegistry
}

/** Ends a call that could not be passed on, with a refusal. */
type Refuse = (fault: Refusal, target: Target | null, passage: RouteInfo, tries: number) => void

/**
 * A call's way through its plan: asks target after target as the plan says, until an answer passes or nothing is left. The router says
 * what is next; here it is done. At any time one attempt is under way, or a wait, or nothing any more.
 */
export class CallRunner implements AttemptHost, StateOwner {
  readonly #call: Call
  readonly #state: CallState
  readonly #routing: ResolvedPlan
  readonly #credentials: Credentials
  readonly #plane: Plane
  readonly #refuse: Refuse
  readonly #way: Router
  #ask!: Try
  #target: Target | null = null
  /** What is asked after the attempt that is being settled. */
  #next: Step | undefined
  #fault: Refusal | undefined
  /** Calls off the wait for a retry. */
  #wait: (() => void) | undefined
  /** The cache is being asked, or another call's answer is waited for. */
  #looking: CacheParticipant | null = null
  /** Attempts that were made before this target was visited. */
  #tried_before = 0
  /** As the client sent it: what a target's guardrails make of it is for that target. */
  readonly #body: Body
  /** True once a row of the log was written. */
  #has_row = false
  passage!: RouteInfo
  cached: CacheParticipant | null = null

  constructor(call: Call, state: CallState, routing: ResolvedPlan, credentials: Credentials, plane: Plane, refuse: Refuse) {
    this.#call = call
    this.#state = state
    this.#body = call.body
    this.#routing = routing
    this.#credentials = credentials
    this.#plane = plane
    this.#refuse = refuse
    const {on} = plane
    const {workspace_id} = call.caller
    this.#way = startRouting(routing.plan, {
      facts: new CallFacts(call),
      workspace_id,
      sticky: on.sticky,
      random: on.random,
      now: on.now,
      circuits: on.circuits,
    })
  }

  begin(): void {
    this.#take(this.#way.first())
  }

  /** A body on the wire can be sent once: what comes of it passes. */
  get is_final(): boolean {
    return this.#ask.is_last || this.#call.body.kind === 'stream'
  }

  decide(result: TryResult): RoutingDecision {
    const step = this.#way.next(result)
    if (step.do === 'answer') return {passes: true, retry_attempt_count: step.retry_attempt_count}
    if (this.#call.body.kind === 'stream' || result.kind === 'gateway') return {passes: true, retry_attempt_count: this.#ask.retry}
    this.#next = step
    return {passes: false, is_retried: step.do === 'ask' && step.retry > 0}
  }

  spend({tokens, cost_nanousd}: Used, {is_retried, is_last}: {readonly is_retried: boolean; readonly is_last: boolean}): void {
    const {used, used_here} = this.#call
    used.tokens += tokens
    used.cost_nanousd += cost_nanousd
    used_here.tokens += tokens
    used_here.cost_nanousd += cost_nanousd
    this.#call.reservation?.settle({tokens, cost_nanousd})
    this.#call.reservation = null
    // the ledger knows of each attempt at once, and the counters are held against it while the call goes on
    if (is_retried) for (const admission of this.#call.target_admissions) admission.spent({tokens, cost_nanousd})
    else this.#leave()
    for (const admission of this.#call.admissions) {
      if (is_last) end(admission, this.#call.attempts, used)
      else admission.spent({tokens, cost_nanousd})
    }
  }

  resume(): void {
    this.#take(this.#next!)
  }

  over(): void {
    this.#state.settle()
  }

  get called_off(): Refusal | null {
    if (this.#call.relay.gone) return new Refusal('client.gone')
    return this.#plane.live.draining ? new Refusal('draining') : null
  }

  end(fault: Refusal): void {
    this.#end(fault)
  }

  #take(step: Step) {
    if (step.do === 'ask') {
      this.#ask = step
      const {called_off} = this
      if (called_off) return this.#end(called_off)
      if (step.wait_ms === 0) return this.#enter()
      this.#state.enter('retry_wait', this)
      this.#wait = this.#plane.on.after(step.wait_ms, () => {
        this.#wait = undefined
        this.#enter()
      })
      return
    }
    if (step.do === 'refuse') return this.#end(new Refusal(`config.${step.reason}`, {path: step.path}))
    this.#end(this.#fault ?? new Refusal('internal'))
  }

  #enter() {
    try {
      this.#visit()?.catch(fault => this.#refused(asRefusal(fault)))
    } catch (fault) {
      this.#refused(asRefusal(fault))
    }
  }

  /** To the target that is to be asked. A promise only where something must be waited for: most calls find all they need in memory. */
  #visit(): Promise<void> | undefined {
    this.#state.enter('resolving', this)
    const {leaf, retry, mode} = this.#ask
    const cache_status = retry > 0 ? this.passage.cache_status : 'DISABLED'
    this.passage = {mode, option_path: leaf.path, retry_count: retry, cache_status, warning: this.#routing.warning}
    if (retry > 0) {
      return this.#try()
    }
    this.#target = null
    this.#tried_before = this.#call.attempts
    const call = this.#call
    if (call.attempts > 0 || this.#has_row) call.log_id = newTimeId(this.#plane.on.now())
    call.body = this.#body
    call.guardrails = null
    const {incoming, caller} = call
    const found = this.#plane.routings.target(this.#routing, leaf, incoming, caller)
    return found instanceof Promise ? found.then(target => this.#arrive(target)) : this.#arrive(found)
  }

  /** At a target: still to be called, for this model, and not answered otherwise. */
  #arrive(target: Target): Promise<void> | undefined {
    if (this.#state.is_settled) return undefined
    const {on} = this.#plane
    const call = this.#call
    this.#target = target
    checkManaged(target, on.now())
    checkModel(target, call)
    return target.guards ? this.#judged(target, target.guards) : this.#enterJudged(target)
  }

  /** Past the guardrails of the request, with the body that they leave. */
  async #judged(target: Target, guards: TargetGuardrails): Promise<void> {
    const call = this.#call
    this.#state.enter('guarding', this)
    const body = await evaluateRequest(guards, call, target, this.#plane.on)
    if (this.#state.is_settled) return
    if (body) {
      call.body = body
      checkModel(target, call)
    }
    await this.#enterJudged(target)
  }

  #enterJudged(target: Target): Promise<void> | undefined {
    const {on} = this.#plane
    const call = this.#call
    if (serveCount(call, target, this.passage, on)) {
      this.#served()
      return undefined
    }
    return target.cache
      ? this.#isServed(target).then(is_served => (is_served || this.#state.is_settled ? undefined : this.#admit(target)))
      : this.#admit(target)
  }

  /** Within the target's limits. */
  #admit(target: Target): Promise<void> | undefined {
    const {on} = this.#plane
    const call = this.#call
    this.#state.enter('admitting_target', this)
    const limits = limitsAt(call, target, askedModel(call, target), on)
    if (limits instanceof Promise) return limits.then(known => this.#claim(known))
    return this.#claim(limits)
  }

  #claim(limits: readonly EntityLimit[]): Promise<void> | undefined {
    if (this.#state.is_settled) return undefined
    const call = this.#call
    const admitted = limits.length ? this.#plane.on.limits.admit(limits, call.id, call.incoming.at_ms) : null
    if (admitted instanceof Promise) return admitted.then(admission => this.#try(admission))
    return this.#try(admitted)
  }

  #try(admitted: Admission | null = null): Promise<void> | undefined {
    if (this.#state.is_settled) return void admitted?.release()
    const {on} = this.#plane
    const call = this.#call
    const target = this.#target!
    if (admitted) call.target_admissions.push(admitted)
    const out = buildUpstreamRequest(call, target, this.#credentials, on)
    this.#state.enter('logging_in', this)
    if (out.login) return withCredentials(out, target, on).then(whole => this.#hold(whole))
    return this.#hold(out)
  }

  /** Within its strict limits, which hold what the attempt may use. */
  #hold(out: UpstreamRequest): Promise<void> | undefined {
    if (this.#state.is_settled) return undefined
    this.#state.enter('reserving', this)
    const held = reserveAttempt(this.#call, this.#target!, out, this.#plane.on)
    if (held instanceof Promise) return held.then(holding => this.#send(out, holding))
    this.#send(out, held)
    return undefined
  }

  #send(out: UpstreamRequest, holding: GrowingReservation | null) {
    if (this.#state.is_settled) return holding?.settle(NOTHING_USED)
    const call = this.#call
    call.reservation = holding
    if (call.attempts === 0) call.plan_ms = performance.now() - call.incoming.started - call.auth_ms
    const attempt = new Attempt(call, this.#state, this.#target!, out, this, this.#plane.on)
    this.cached?.asking(() => attempt.end(new Refusal('client.gone')))
    attempt.begin()
  }

  /** Looks into the cache first: true when the call is over with what was found there. */
  async #isServed(target: Target): Promise<boolean> {
    const {on} = this.#plane
    const call = this.#call
    const cached = joinCache(call, target, buildUpstreamRequest(call, target, this.#credentials, on), on)
    if (!cached) return false
    this.passage = {...this.passage, cache_status: cached.status}
    this.#looking = cached
    this.#state.enter(cached.follows ? 'following' : 'looking_up', this)
    const found = await cached.result()
    if (this.#state.is_settled) return false
    this.#looking = null
    if (found) {
      const passage: RouteInfo = {...this.passage, cache_status: cached.status === 'REFRESH' ? 'REFRESH' : 'HIT'}
      if (!serveHit(call, target, passage, found, on)) return false
      this.#served()
      return true
    }
    this.cached = cached
    if (this.called_off) throw this.called_off // the one that it waited for brought nothing
    return false
  }

  /** Answered without a provider: it was a request all the same. */
  #served() {
    this.over()
    for (const admission of this.#call.admissions) admission.settle(this.#call.used)
  }

  /** A target that could not be asked is one that failed: the plan may know another. */
  #refused(fault: Refusal) {
    if (this.#state.is_settled) return
    this.cached?.handOver()
    this.#leave()
    this.#fault = fault
    const kind = OURS.has(fault.code) ? 'gateway' : 'refusal'
    const step = this.#way.next({status: fault.status, kind, headers: null, is_committed: this.#call.relay.started})
    if (kind === 'gateway') return this.#end(fault)
    if (fault instanceof GuardrailDenial && step.do === 'ask') {
      note(this.#call, this.#target, fault, this.#plane.on, this.passage)
      this.#has_row = true
    }
    this.#take(step)
  }

  #end(fault: Refusal) {
    if (this.#state.is_settled) return
    const call = this.#call
    this.#wait?.()
    if (this.#looking?.leave()) this.#looking.handOver() // it was to lead just now
    call.reservation?.settle(NOTHING_USED)
    call.reservation = null
    const tries = call.attempts - this.#tried_before
    this.#leave()
    this.over()
    for (const admission of call.admissions) end(admission, call.attempts, call.used)
    this.#refuse(fault, this.#target, this.passage, this.#next?.do === 'ask' && this.#next.retry > 0 ? tries : 0)
  }

  /** The visit to a target is over. */
  #leave() {
    const call = this.#call
    // with its client gone nothing is known of the answer: one of those that wait asks in its place
    if (call.relay.gone) this.cached?.handOver()
    else this.cached?.fail()
    this.cached = null
    const {used_here, target_admissions} = call
    for (const admission of target_admissions) end(admission, call.attempts - this.#tried_before, used_here)
    call.target_admissions = []
    used_here.tokens = 0
    used_here.cost_nanousd = 0
  }
}

/** Faults after which nothing else is asked. */
const OURS: ReadonlySet<string> = new Set(['internal', 'journal.full', 'draining', 'client.gone', 'client.slow'])

/** Makes a claim true; one of a call that never left is given back. */
function end(admission: Admission, attempts: number, {tokens, cost_nanousd}: Used) {
  if (attempts > 0) admission.settle({tokens, cost_nanousd})
  else admission.release()
}
