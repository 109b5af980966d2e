import type {Circuits} from './breaker.ts'
import {type Choosing, choose} from './choose.ts'
import type {Branch, FallbackBranch, LoadBalanceBranch, Plan, PlanNode, PlanTarget} from './plan.ts'
import {Retries, type TryResult} from './retry.ts'

/** One call's way through a plan. It keeps time with nobody: it is asked for the next step, and told what came of the last. */
export interface Router {
  first(): Step
  /** After an `ask`: what to do now. After an `answer` or a `refuse` there is nothing more, and it says the same again. */
  next(result: TryResult): Step
}

export type Step = Try | Return | NoTarget

/** Ask this leaf, after this wait. */
export interface Try {
  readonly do: 'ask'
  readonly leaf: PlanTarget
  readonly wait_ms: number
  /** 0: the first try at this leaf. */
  readonly retry: number
  /** Of the nearest branch above that chose, for the log; `single` when none did. */
  readonly mode: Branch['mode']
  /** No ask can follow, whatever comes back: nothing of the answer need be held for its status (core rule 20). */
  readonly is_last: boolean
}

/** The last result goes to the client. */
export interface Return {
  readonly do: 'answer'
  /** Retries at the leaf that answered; -1 when it was still failing and they were spent (reference: response headers). */
  readonly retry_attempt_count: number
  /** Of the leaf that answered, in the config as it was written. */
  readonly option_path: string
}

/** The config leads nowhere: 400. */
export interface NoTarget {
  readonly do: 'refuse'
  /** No condition holds and there is no default; or all weights of a load balance are 0. */
  readonly reason: 'no_match' | 'no_weight'
  /** Of the branch. */
  readonly path: string
}

/** What the way depends on besides the plan. `now` is in epoch milliseconds. */
export interface RoutingContext extends Choosing {
  readonly circuits: Circuits
}

/** Begins a call's way (reference: execution semantics). Reads the plan only; what it keeps between calls is in `around`. */
export function startRouting(plan: Plan, around: RoutingContext): Router {
  return new Way(plan, around)
}

/** A fallback being worked through. */
interface Visit {
  readonly branch: FallbackBranch
  readonly left_out: readonly boolean[] | null
  /** The child that was asked last. */
  at: number
}

class Way implements Router {
  readonly #plan: Plan
  readonly #around: RoutingContext
  #leaf: PlanTarget | undefined
  #mode: Branch['mode'] = 'single'
  #retries: Retries | undefined
  #asked_ms = 0
  /** Outermost first. Only fallbacks come back to a branch; all others are done with once they have chosen. */
  #visits: Visit[] | undefined
  #end: Return | NoTarget | undefined

  constructor(plan: Plan, around: RoutingContext) {
    this.#plan = plan
    this.#around = around
  }

  first(): Step {
    return this.#descend(this.#plan.root, 'single')
  }

  next(result: TryResult): Step {
    if (this.#end) return this.#end
    const leaf = this.#leaf
    if (!leaf) throw new Error('A way begins with its first step.')
    const retries = this.#retries
    const wait_ms = retries && !result.is_committed ? retries.after(result) : 'returned'
    if (typeof wait_ms === 'number') return this.#ask(leaf, wait_ms, retries!.made)
    this.#record(leaf, result)
    const visit = result.is_committed || result.kind === 'gateway' ? undefined : this.#continues(result.status)
    if (visit) return this.#descend(visit.branch.children[visit.at]!, 'fallback')
    const retry_attempt_count = wait_ms === 'spent' ? -1 : (retries?.made ?? 0)
    this.#end = {do: 'answer', retry_attempt_count, option_path: leaf.path}
    return this.#end
  }

  /** Down to the leaf that is to be asked. `mode` is that of the branch that chose `node`. */
  #descend(node: PlanNode, mode: Branch['mode']): Step {
    while (node.kind === 'branch') {
      let index = 0
      if (node.mode === 'fallback') index = this.#visit(node)
      else if (node.mode === 'loadbalance') index = choose(node, this.#leftOut(node), this.#around)
      else if (node.mode === 'conditional') {
        const {facts} = this.#around
        index = node.conditions.find(condition => condition.holds(facts))?.then ?? node.otherwise ?? -1
      }
      const child = node.children[index]
      if (!child) return this.#refuse(node)
      if (node.mode !== 'single') mode = node.mode
      node = child
    }
    const {retry} = node.target
    this.#leaf = node
    this.#mode = mode
    this.#retries = retry && retry.attempts > 0 ? new Retries(retry) : undefined
    if (node.breaker) this.#asked_ms = this.#around.now()
    return this.#ask(node, 0, 0)
  }

  #ask(leaf: PlanTarget, wait_ms: number, retry: number): Try {
    return {do: 'ask', leaf, wait_ms, retry, mode: this.#mode, is_last: !this.#retries?.areLeft && !this.#visits?.some(hasMore)}
  }

  #refuse({mode, path}: Branch): NoTarget {
    this.#end = {do: 'refuse', reason: mode === 'conditional' ? 'no_match' : 'no_weight', path}
    return this.#end
  }

  #visit(branch: FallbackBranch): number {
    const visit = {branch, left_out: this.#leftOut(branch), at: -1}
    visit.at = following(visit)
    this.#visits ??= []
    this.#visits.push(visit)
    return visit.at
  }

  /** The innermost fallback that takes this status for a failure and has another child, which it is at from now on. */
  #continues(status: number): Visit | undefined {
    for (let visit = this.#visits?.at(-1); visit; visit = this.#visits?.at(-1)) {
      const at = hasFailed(visit.branch, status) ? following(visit) : visit.branch.children.length
      if (at < visit.branch.children.length) {
        visit.at = at
        return visit
      }
      this.#visits?.pop()
    }
    return undefined
  }

  #record(leaf: PlanTarget, result: TryResult) {
    const {config_id} = this.#plan
    if (!leaf.breaker || config_id === null) return
    const {circuits, workspace_id, now} = this.#around
    circuits.record({config_id, workspace_id, path: leaf.path}, leaf.breaker, result, this.#asked_ms, now())
  }

  /** Which children to pass over because their circuits are open; null for none, which is also what all of them comes to. */
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

  /** A branch is open when all that it could ask is. What a condition leads to is known to nobody yet. */
  #isOpen(node: PlanNode, config_id: string): boolean {
    if (node.kind === 'leaf') {
      if (!node.breaker) return false
      const {circuits, workspace_id, now} = this.#around
      return circuits.isOpen({config_id, workspace_id, path: node.path}, now())
    }
    if (node.mode === 'conditional') return false
    if (node.mode === 'single') return node.children[0] !== undefined && this.#isOpen(node.children[0], config_id)
    const {mode} = node
    const asked = mode === 'fallback' ? node.children : node.children.filter(({weight}) => weight > 0)
    return asked.length > 0 && asked.every(child => this.#isOpen(child, config_id))
  }
}

/** The child after the one that was asked last; as many as there are when it was the last one. */
function following({left_out, at}: Visit): number {
  let next = at + 1
  while (left_out?.[next]) next++
  return next
}

function hasMore(visit: Visit): boolean {
  return following(visit) < visit.branch.children.length
}

/** What makes a fallback go on (reference: fallback). */
function hasFailed({on_status_codes}: FallbackBranch, status: number): boolean {
  return on_status_codes ? on_status_codes.has(status) : status < 200 || status > 299
}
