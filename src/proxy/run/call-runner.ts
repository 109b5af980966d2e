import {Refusal, type RefusalCode} from '../../base/errors.ts'
import {newTimeId} from '../../base/ids.ts'
import type {TryResult} from '../../routing/retry.ts'
import {type Router, type RoutingStep, startRouting, type Try} from '../../routing/router.ts'
import {addSpent, type Spent} from '../../schema/spent.ts'
import type {AttemptOwner, RoutingDecision} from '../attempt/attempt-owner.ts'
import {DIRECT_ROUTE, type RouteInfo} from '../call/call.ts'
import {CallFacts} from '../call/routing-facts.ts'
import type {StateOwner} from '../call/state.ts'
import {type Body, currentBody} from '../inbound/body.ts'
import {GuardrailDenial} from '../inbound/denial.ts'
import {asRefusal} from '../inbound/error-response.ts'
import {note} from '../records/settle.ts'
import {filledAnew} from '../targets/open-target.ts'
import type {Target} from '../targets/target.ts'
import type {CacheParticipant} from './cache.ts'
import {runStages, type StageResult} from './pipeline.ts'
import {RETRY_FROM, STEPS} from './steps.ts'
import {endAdmission, type PlannedCall, TargetRun} from './target-run.ts'

/**
 * Ends a call that could not be passed on, with a refusal; `tries` are attempts at the target that have no row of their
 * own.
 */
type Refuse = (fault: Refusal, target: Target | null, route: RouteInfo, tries: number) => void

/**
 * A call's way through its plan: tries target after target as the router says, until a response passes or nothing is
 * left. At any time one attempt is in progress, or a wait, or nothing any more.
 */
export class CallRunner implements AttemptOwner, StateOwner {
  readonly #planned: PlannedCall
  readonly #refuse: Refuse
  readonly #router: Router
  /** As the client sent it: what a target's guardrails make of it is for that target. */
  readonly #body: Body
  #try!: Try
  /** At the target that is tried, or was tried last. */
  #run: TargetRun | null = null
  /** The step after the attempt that is being settled. */
  #next: RoutingStep | undefined
  /** Why the last target could not be tried. */
  #fault: Refusal | undefined
  #cancelWait: (() => void) | undefined
  /** The target with other credentials, for the one repetition after a refusal. */
  #renewed: Target | null = null
  /** The next try is that repetition. */
  #repeats = false
  /** True once a row of the log was written. */
  #has_row = false

  constructor(planned: PlannedCall, refuse: Refuse) {
    const {call, plan, plane} = planned
    const {sticky, random, now, circuits} = plane.services
    this.#planned = planned
    this.#refuse = refuse
    this.#body = call.body
    const {workspace_id} = call.caller
    this.#router = startRouting(plan.plan, {facts: new CallFacts(call), workspace_id, sticky, random, now, circuits})
  }

  begin(): void {
    this.#follow(this.#router.first())
  }

  get route(): RouteInfo {
    return this.#run?.route ?? DIRECT_ROUTE
  }

  get cache(): CacheParticipant | null {
    return this.#run?.cache ?? null
  }

  /** A body on the wire can be sent once: what comes of it passes. */
  get is_final(): boolean {
    return this.#try.is_last || this.#planned.call.body.kind === 'stream'
  }

  get called_off(): Refusal | null {
    const {call, plane} = this.#planned
    if (call.relay.gone) return new Refusal('client.gone')
    return plane.registry.draining ? new Refusal('draining') : null
  }

  get is_draining(): boolean {
    return this.#planned.plane.registry.draining
  }

  get live_calls(): number {
    return this.#planned.plane.registry.size
  }

  renewed(): Promise<void> | null {
    const run = this.#run!
    const {secrets, provider} = run.target
    if (!secrets?.values || run.has_renewed) return null
    run.has_renewed = true
    return this.#planned.plane.services.secrets.refused(secrets.fields, secrets.values).then(values => {
      if (!values || this.#planned.call.body.kind === 'stream') return
      this.#renewed = filledAnew(secrets, values, provider)
    })
  }

  decide(result: TryResult): RoutingDecision {
    if (this.#renewed && result.kind === 'answer' && !this.called_off) {
      this.#next = {...this.#try, wait_ms: 0}
      this.#repeats = true
      return {passes: false, is_retried: true}
    }
    this.#renewed = null
    const step = this.#router.next(result)
    if (step.kind === 'return') return {passes: true, retry_attempt_count: step.retry_attempt_count}
    if (this.#planned.call.body.kind === 'stream' || result.kind === 'gateway')
      return {passes: true, retry_attempt_count: this.#try.retry}
    this.#next = step
    return {passes: false, is_retried: step.kind === 'try' && step.retry > 0}
  }

  spend(actual: Spent, {is_retried, is_last}: {readonly is_retried: boolean; readonly is_last: boolean}): void {
    const {call} = this.#planned
    call.used = addSpent(call.used, actual)
    call.used_here = addSpent(call.used_here, actual)
    call.reservation?.settle(actual)
    call.reservation = null
    // the ledger knows of each attempt at once, and the counters are compared with it while the call continues
    if (is_retried) for (const admission of call.target_admissions) admission.spent(actual)
    else this.#run?.release()
    for (const admission of call.admissions) {
      if (is_last) endAdmission(admission, call.attempts, call.used)
      else admission.spent(actual)
    }
  }

  continueRouting(): void {
    this.#follow(this.#next!)
  }

  endCall(): void {
    this.#planned.state.settle()
  }

  end(fault: Refusal): void {
    const {call, state} = this.#planned
    if (state.is_settled) return
    this.#cancelWait?.()
    const run = this.#run
    const is_same = this.#repeats || (this.#next?.kind === 'try' && this.#next.retry > 0)
    const tries = is_same && run ? run.attempts : 0
    run?.release()
    this.endCall()
    for (const admission of call.admissions) endAdmission(admission, call.attempts, call.used)
    this.#refuse(fault, run?.target ?? null, this.route, tries)
  }

  #follow(step: RoutingStep) {
    if (step.kind === 'no_target') return this.end(new Refusal(`config.${step.reason}`, {path: step.path}))
    if (step.kind === 'return') return this.end(this.#fault ?? new Refusal('internal'))
    this.#try = step
    const {called_off} = this
    if (called_off) return this.end(called_off)
    if (step.wait_ms === 0) return this.#start()
    const {state, plane} = this.#planned
    state.enter('retry_wait', this)
    this.#cancelWait = plane.services.after(step.wait_ms, () => {
      this.#cancelWait = undefined
      this.#start()
    })
  }

  #start() {
    const {retry} = this.#try
    const repeats = this.#repeats
    this.#repeats = false
    try {
      if (repeats) this.#run!.target = this.#takeRenewed()
      else if (retry > 0) this.#run!.retry(retry)
      else this.#run = this.#newRun()
      const result = runStages(STEPS, this.#run!, repeats || retry > 0 ? RETRY_FROM : 0)
      if (result instanceof Promise)
        result.then(late => this.#onStages(late)).catch(fault => this.#onFault(asRefusal(fault)))
      else this.#onStages(result)
    } catch (fault) {
      this.#onFault(asRefusal(fault))
    }
  }

  #takeRenewed(): Target {
    const target = this.#renewed!
    this.#renewed = null
    return target
  }

  /** Each target has a row of its own, and the body as the client sent it. */
  #newRun(): TargetRun {
    const {call, plane} = this.#planned
    if (call.attempts > 0 || this.#has_row) call.log_id = newTimeId(plane.services.now())
    call.body = currentBody(this.#body)
    call.guardrails = null
    call.is_unjudged = false
    return new TargetRun(this.#planned, this.#try, this)
  }

  /** Answered without a provider, the call was a request all the same. */
  #onStages(result: StageResult) {
    if (result !== 'done') return
    const {call} = this.#planned
    this.endCall()
    for (const admission of call.admissions) admission.settle(call.used)
  }

  /** A target that could not be tried is one that failed: the plan may know another. */
  #onFault(fault: Refusal) {
    const {call, state, plane} = this.#planned
    const run = this.#run
    if (state.is_settled) return
    run?.passLead()
    run?.release()
    this.#fault = fault
    const kind = OURS.has(fault.code) ? 'gateway' : 'refusal'
    const step = this.#router.next({status: fault.status, kind, headers: null, is_committed: call.relay.started})
    if (kind === 'gateway') return this.end(fault)
    if (fault instanceof GuardrailDenial && step.kind === 'try') {
      note(call, run?.target ?? null, fault, plane.services, this.route)
      this.#has_row = true
    }
    this.#follow(step)
  }
}

/** Faults after which nothing else is tried. */
const OURS: ReadonlySet<RefusalCode> = new Set<RefusalCode>([
  'internal',
  'journal.full',
  'draining',
  'client.gone',
  'client.slow',
])
