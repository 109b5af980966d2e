import type {Circuits} from './breaker.ts'
import {type Choosing, choose} from './choose.ts'
import type {Branch, FallbackBranch, LoadBalanceBranch, Plan, PlanNode, PlanTarget} from './plan.ts'
import {Retries, type TryResult} from './retry.ts'

/** The routing of one call. It starts no timers: call `next(result)` after each try to get the next step. */
export interface Router {
  first(): RoutingStep
  /**
   * After a `try`: what to do now. After a `return` or a `no_target` there is nothing more, and it says the same again.
   */
  next(result: TryResult): RoutingStep
}

export type RoutingStep = Try | Return | NoTarget

/** Try this target, after this wait. */
export interface Try {
  readonly kind: 'try'
  readonly target: PlanTarget
  readonly wait_ms: number
  /** 0: the first try at this target. */
  readonly retry: number
  /** Of the nearest branch above that chose, for the log; `single` when none did. */
  readonly mode: Branch['mode']
  /** No try can follow, whatever comes back: nothing of the answer need be held for its status (core rule 20). */
  readonly is_last: boolean
}

/** The last result goes to the client. */
export interface Return {
  readonly kind: 'return'
  /** Retries at the target that answered; -1 when it was still failing and they were spent. */
  readonly retry_attempt_count: number
  /** Of the target that answered, in the config as it was written. */
  readonly option_path: string
}

/** The config leads nowhere: 400. */
export interface NoTarget {
  readonly kind: 'no_target'
  /** No condition holds and there is no default; or all weights of a load balance are 0. */
  readonly reason: 'no_match' | 'no_weight'
  /** Of the branch. */
  readonly path: string
}

/** The values that routing depends on besides the plan. `now` is in epoch milliseconds. */
export interface RoutingContext extends Choosing {
  readonly circuits: Circuits
}

/**
 * Starts the routing of a call (docs/configs.md, Strategies). The plan is only read; state shared between calls is in
 * `context`.
 */
export function startRouting(plan: Plan, context: RoutingContext): Router {
  return new RouterRun(plan, context)
}

/** A fallback being worked through. */
interface FallbackPosition {
  readonly branch: FallbackBranch
  readonly left_out: readonly boolean[] | null
  /** The child that was called last. */
  at: number
}

class RouterRun implements Router {
  readonly #plan: Plan
  readonly #context: RoutingContext
  #target: PlanTarget | undefined
  #mode: Branch['mode'] = 'single'
  #retries: Retries | undefined
  #tried_at_ms = 0
  /** Outermost first. Only fallbacks come back to a branch; all others are done with once they have chosen. */
  #positions: FallbackPosition[] | undefined
  #end: Return | NoTarget | undefined

  constructor(plan: Plan, context: RoutingContext) {
    this.#plan = plan
    this.#context = context
  }

  first(): RoutingStep {
    return this.#descend(this.#plan.root, 'single')
  }

  next(result: TryResult): RoutingStep {
    if (this.#end) return this.#end
    const target = this.#target
    if (!target) throw new Error('Call first() before next().')
    const retries = this.#retries
    const wait_ms = retries && !result.is_committed ? retries.after(result) : 'returned'
    if (typeof wait_ms === 'number') return this.#try(target, wait_ms, retries!.made)
    this.#record(target, result)
    const position = result.is_committed || result.kind === 'gateway' ? undefined : this.#continues(result.status)
    if (position) return this.#descend(position.branch.children[position.at]!, 'fallback')
    const retry_attempt_count = wait_ms === 'spent' ? -1 : (retries?.made ?? 0)
    this.#end = {kind: 'return', retry_attempt_count, option_path: target.path}
    return this.#end
  }

  /** Down to the target to try next. `mode` is that of the branch that chose `node`. */
  #descend(node: PlanNode, mode: Branch['mode']): RoutingStep {
    while (node.kind === 'branch') {
      let index = 0
      if (node.mode === 'fallback') index = this.#enterFallback(node)
      else if (node.mode === 'loadbalance') index = choose(node, this.#leftOut(node), this.#context)
      else if (node.mode === 'conditional') {
        const {facts} = this.#context
        index = node.conditions.find(condition => condition.holds(facts))?.then ?? node.otherwise ?? -1
      }
      const child = node.children[index]
      if (!child) return this.#noTarget(node)
      if (node.mode !== 'single') mode = node.mode
      node = child
    }
    const {retry} = node.target
    this.#target = node
    this.#mode = mode
    this.#retries = retry && retry.attempts > 0 ? new Retries(retry) : undefined
    if (node.breaker) this.#tried_at_ms = this.#context.now()
    return this.#try(node, 0, 0)
  }

  #try(target: PlanTarget, wait_ms: number, retry: number): Try {
    return {
      kind: 'try',
      target,
      wait_ms,
      retry,
      mode: this.#mode,
      is_last: !this.#retries?.areLeft && !this.#positions?.some(hasMore),
    }
  }

  #noTarget({mode, path}: Branch): NoTarget {
    this.#end = {kind: 'no_target', reason: mode === 'conditional' ? 'no_match' : 'no_weight', path}
    return this.#end
  }

  #enterFallback(branch: FallbackBranch): number {
    const position = {branch, left_out: this.#leftOut(branch), at: -1}
    position.at = following(position)
    this.#positions ??= []
    this.#positions.push(position)
    return position.at
  }

  /** The innermost fallback that takes this status for a failure and has another child, which it is at from now on. */
  #continues(status: number): FallbackPosition | undefined {
    for (let position = this.#positions?.at(-1); position; position = this.#positions?.at(-1)) {
      const at = hasFailed(position.branch, status) ? following(position) : position.branch.children.length
      if (at < position.branch.children.length) {
        position.at = at
        return position
      }
      this.#positions?.pop()
    }
    return undefined
  }

  #record(target: PlanTarget, result: TryResult) {
    const {config_id} = this.#plan
    if (!target.breaker || config_id === null) return
    const {circuits, workspace_id, now} = this.#context
    circuits.record({config_id, workspace_id, path: target.path}, target.breaker, result, this.#tried_at_ms, now())
  }

  /**
   * Which children to pass over because their circuits are open; null for none, which is also what all of them comes
   * to.
   */
  #leftOut({children, mode}: FallbackBranch | LoadBalanceBranch): readonly boolean[] | null {
    const {config_id} = this.#plan
    if (config_id === null) return null
    let open: boolean[] | undefined
    let closed = 0
    for (let index = 0; index < children.length; index++) {
      if (this.#isOpen(children[index]!, config_id)) {
        open ??= children.map(() => false)
        open[index] = true
      } else if (mode === 'fallback' || children[index]!.weight > 0) closed++
    }
    return open && closed > 0 ? open : null
  }

  /** A branch is open when all of its targets are. The target of a condition is not known yet. */
  #isOpen(node: PlanNode, config_id: string): boolean {
    if (node.kind === 'leaf') {
      if (!node.breaker) return false
      const {circuits, workspace_id, now} = this.#context
      return circuits.isOpen({config_id, workspace_id, path: node.path}, now())
    }
    if (node.mode === 'conditional') return false
    if (node.mode === 'single') return node.children[0] !== undefined && this.#isOpen(node.children[0], config_id)
    const {mode} = node
    const candidates = mode === 'fallback' ? node.children : node.children.filter(({weight}) => weight > 0)
    return candidates.length > 0 && candidates.every(child => this.#isOpen(child, config_id))
  }
}

/** The child after the one that was called last; as many as there are when it was the last one. */
function following({left_out, at}: FallbackPosition): number {
  let next = at + 1
  while (left_out?.[next]) next++
  return next
}

function hasMore(position: FallbackPosition): boolean {
  return following(position) < position.branch.children.length
}

/** True for a status that makes a fallback continue (docs/configs.md, fallback). */
function hasFailed({on_status_codes}: FallbackBranch, status: number): boolean {
  return on_status_codes ? on_status_codes.has(status) : status < 200 || status > 299
}
