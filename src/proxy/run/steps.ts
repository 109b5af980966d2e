import {Refusal} from '../../base/errors.ts'
import type {MaybePromise} from '../../base/maybe-promise.ts'
import {hasOperation} from '../../providers/base-urls/base-url.ts'
import {Attempt} from '../attempt/attempt.ts'
import {judgeRequest} from '../batches/judge-request.ts'
import {withWarning} from '../call/call.ts'
import {askedModel, checkModel, hasLists} from '../call/model-access.ts'
import {checkVersion, enterTarget} from '../call/operation.ts'
import {mayName} from '../call/request-models.ts'
import {parsedWhole} from '../guardrails/request-strings.ts'
import {type JsonBody, LONG_BODY_BYTES} from '../inbound/body.ts'
import {checkDelegation} from '../reservations/delegation.ts'
import {reserveAttempt} from '../reservations/reserve-attempt.ts'
import {limitsAt} from '../reservations/target-limits.ts'
import {openTarget} from '../targets/open-target.ts'
import {checkManaged, type Target} from '../targets/target.ts'
import {buildUpstreamRequest, withCredentials} from '../upstream/build-request.ts'
import {modelsOfRows} from './batch-rows.ts'
import {joinCache} from './cache.ts'
import {serveCount, serveHit} from './local-answer.ts'
import type {RunStage, StageResult} from './pipeline.ts'
import type {TargetRun} from './target-run.ts'

/**
 * The stages of a call at a target, in this order. A stage leaves what it obtains in the run, which releases it when
 * the call ends.
 */
export const STEPS: readonly RunStage<TargetRun>[] = [
  resolve,
  checkTarget,
  guard,
  findRoutes,
  countTokens,
  lookUp,
  serveCached,
  findLimits,
  admit,
  checkDelegations,
  buildRequest,
  logIn,
  reserve,
  searchSimilar,
  send,
]

/**
 * The steps that may begin work that is charged. Limits have admitted and reserved before any of them. A lookup that
 * asks a model for something is one of these, and comes after `reserve`; `lookUp` costs nothing.
 */
export const MAY_SPEND: ReadonlySet<RunStage<TargetRun>> = new Set([searchSimilar, send])

/** A retry keeps the target, the body, the admission and the place at the cache. */
export const RETRY_FROM = STEPS.indexOf(buildRequest)

function resolve(run: TargetRun): MaybePromise<StageResult> {
  const {call, plan, plane, step} = run
  run.enter('resolving')
  const found = plane.plans.target(plan, step.target, call.incoming, call.caller)
  const open = found instanceof Promise ? found.then(late => opened(run, late)) : opened(run, found)
  return keep(open, target => {
    run.target = target
    enterTarget(call, target)
    if (target.warning !== null) run.route = withWarning(run.route, target.warning)
  })
}

function opened(run: TargetRun, target: Target): MaybePromise<Target> {
  run.target = target // of a refusal from here on
  return openTarget(target, run.services)
}

function checkTarget(run: TargetRun): MaybePromise<StageResult> {
  const {call, target, services} = run
  checkManaged(target, services.now())
  checkVersion(call, target)
  return readsLong(run) ? parsedWhole(call.body as JsonBody).then(() => checkModels(run)) : checkModels(run)
}

/** The lists of models ask for the members of a body that is too long to be parsed in one go. */
function readsLong({call, target}: TargetRun): boolean {
  const {body} = call
  if (body.kind !== 'json' || body.bytes.length <= LONG_BODY_BYTES || body.whole) return false
  return hasLists(target.managed, call.caller) && mayName(body, call, target)
}

function checkModels({call, target, services}: TargetRun): MaybePromise<StageResult> {
  checkModel(target, call, services.seen)
  if (call.endpoint !== 'uploadFile' || hasOperation(target.provider, call.incoming.route.endpoint)) return undefined
  if (!hasLists(target.managed, call.caller)) return undefined
  return keep(modelsOfRows(call, target), models => {
    call.row_models = models
  })
}

/** The guardrails of the request. The body that they leave is for this target. */
function guard(run: TargetRun): MaybePromise<StageResult> {
  const {call, target, credentials, services} = run
  if (!target.guards) return undefined
  run.enter('guarding')
  const before = call.body
  return judgeRequest({call, target, credentials}, target.guards, services).then(async body => {
    if (body) call.body = body
    if (call.body === before) return undefined
    if (readsLong(run)) await parsedWhole(call.body as JsonBody)
    checkModel(target, call, services.seen)
    return undefined
  })
}

/** Of an engine it is found out first whether it serves the words of this client itself. */
function findRoutes(run: TargetRun): MaybePromise<StageResult> {
  const {call, target, credentials, plane} = run
  if (!target.provider.may_serve) return undefined
  return keep(plane.routes.serving(call, target, credentials), serving => {
    run.target = serving
  })
}

/** Of a provider that cannot count tokens itself. */
function countTokens({call, target, route, services}: TargetRun): StageResult {
  return serveCount(call, target, route, services) ? 'done' : undefined
}

/** Looks the request up in the cache, or waits for another call's response to the same. */
function lookUp(run: TargetRun): MaybePromise<StageResult> {
  const {call, target, credentials, services} = run
  if (!target.cache) return undefined
  const began = services.steady()
  const lookup = joinCache(call, target, buildUpstreamRequest(call, target, credentials, services), services)
  if (!lookup) return undefined
  run.route = {...run.route, cache_status: lookup.status}
  run.lookup = lookup
  run.enter(lookup.follows ? 'following' : 'looking_up')
  return keep(lookup.result(), entry => {
    run.cached = entry
    if (!lookup.follows) services.metrics.took('cache', services.steady() - began)
  })
}

function serveCached(run: TargetRun): StageResult {
  const {call, target, lookup, cached, services} = run
  run.lookup = null
  if (!lookup) return undefined
  if (cached) {
    const cache_status = lookup.status === 'REFRESH' ? 'REFRESH' : 'HIT'
    return serveHit(call, target, {...run.route, cache_status}, cached, services) ? 'done' : undefined
  }
  run.cache = lookup
  const {called_off} = run.host
  if (called_off) throw called_off // the one that it waited for brought nothing
  return undefined
}

function findLimits(run: TargetRun): MaybePromise<StageResult> {
  const {call, target, services} = run
  run.enter('admitting_target')
  return keep(limitsAt(call, target, askedModel(call, target), services), limits => {
    run.limits = limits
  })
}

function admit(run: TargetRun): MaybePromise<StageResult> {
  const {call, limits, services} = run
  if (limits.length === 0) return undefined
  return keep(services.limits.admit(limits, call.id, call.at_ms), admission => {
    run.admission = admission
  })
}

function checkDelegations({call, target, services}: TargetRun): StageResult {
  checkDelegation(call, target, services)
  return undefined
}

function buildRequest(run: TargetRun): StageResult {
  const {call, target, credentials, services} = run
  run.request = buildUpstreamRequest(call, target, credentials, services)
  return undefined
}

/** Waits for a token or a signature, where the provider wants one. */
function logIn(run: TargetRun): MaybePromise<StageResult> {
  const {target, request, services} = run
  run.enter('logging_in')
  if (!request.login) return undefined
  return keep(withCredentials(request, target, services), signed => {
    run.request = signed
  })
}

/** Reserves what the attempt may use, for limits that are strict. */
function reserve(run: TargetRun): MaybePromise<StageResult> {
  const {call, target, request, services} = run
  run.enter('reserving')
  return keep(reserveAttempt(call, target, request, services), reservation => {
    run.reservation = reservation
  })
}

/**
 * Looks for the answer to a request that means the same. It may ask a service for a vector, which is charged. Loaded
 * when a config asks for it.
 */
function searchSimilar(run: TargetRun): MaybePromise<StageResult> {
  if (run.target.cache?.mode !== 'semantic' || !run.cache || run.attempts > 0) return undefined
  run.enter('searching')
  return import('./similar.ts').then(({serveSimilar}) => serveSimilar(run))
}

function send(run: TargetRun): StageResult {
  const {call, state, target, request, host, services, cache} = run
  if (call.attempts === 0) call.plan_ms = services.steady() - call.started - call.auth_ms
  const attempt = new Attempt({call, state, target, request, host, services})
  cache?.setAbandon(() => attempt.end(new Refusal('client.gone')))
  attempt.begin()
  return undefined
}

/** Leaves what a stage obtains where `set` puts it: at once, or when it comes. */
function keep<T>(value: MaybePromise<T>, set: (value: T) => void): MaybePromise<StageResult> {
  if (value instanceof Promise) return value.then(late => void set(late))
  set(value)
  return undefined
}
