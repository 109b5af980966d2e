import {createHash} from 'node:crypto'
import type {Circuits} from './breaker.ts'
import type {Branch, Plan, PlanNode, PlanTarget, RoutingFacts} from './plan.ts'
import type {TryResult} from './retry.ts'
import {type NoTarget, startRouting} from './router.ts'

/**
 * A call's way through a plan, without sending anything. Circuits are taken for closed: they are not known for another
 * time.
 */
export interface Simulation {
  readonly visits: readonly SimulatedTry[]
  readonly end: SimulatedEnd
  /** True when a draw decided where the call went. */
  readonly by_lot: boolean
}

/** One target called, its retries inside. */
export interface SimulatedTry {
  readonly leaf: PlanTarget
  /**
   * How the branches above it chose, outermost first; of a leaf after the first one, from the fallback that went on.
   */
  readonly because: readonly BranchChoice[]
  readonly tries: readonly {readonly wait_ms: number; readonly result: TryResult}[]
}

export type SimulatedEnd =
  | {readonly kind: 'answer'; readonly retry_attempt_count: number}
  | {readonly kind: 'refuse'; readonly refused: NoTarget; readonly because: readonly BranchChoice[]}

/** The decision of one branch. `to`: the path of the child; null when it led nowhere. */
export type BranchChoice = {readonly path: string; readonly to: string | null} & (
  | {readonly mode: 'single' | 'fallback'}
  | {
      readonly mode: 'loadbalance'
      readonly weights: readonly {readonly path: string; readonly weight: number}[]
      /** 0 to 1, without 1; null when all weights are 0. */
      readonly drawn: number | null
      /** Of the caller, where the branch is sticky and the call has one of its fields. */
      readonly sticky_key: string | null
    }
  | {
      readonly mode: 'conditional'
      /** `holds` is null for what was not evaluated any more. */
      readonly conditions: readonly {readonly text: string; readonly holds: boolean | null; readonly to: string}[]
    }
)

export interface SimulateOptions {
  readonly facts: RoutingFacts
  readonly workspace_id: string
  /** 0 to 1, without 1. */
  readonly random: () => number
  readonly now_ms: number
  /**
   * A sticky caller is drawn for by its key: the same target every time. Without it, by `random`, as a first call is.
   */
  readonly by_caller?: boolean
}

const CLOSED: Circuits = {isOpen: () => false, record: () => undefined, list: () => [], forget: () => undefined}

/** Goes the way of the router; `answer` says what comes of each try at a leaf, 0 being the first. */
export function simulate(
  plan: Plan,
  options: SimulateOptions,
  answer: (leaf: PlanTarget, retry: number) => TryResult,
): Simulation {
  const draws: Draw[] = []
  let sticky_key: string | null = null
  const way = startRouting(plan, {
    facts: options.facts,
    workspace_id: options.workspace_id,
    now: () => options.now_ms,
    circuits: CLOSED,
    sticky: {
      get: key => {
        sticky_key = key
        return undefined
      },
      set: () => undefined,
    },
    random: () => {
      const drawn = sticky_key !== null && options.by_caller ? fractionOf(sticky_key) : options.random()
      draws.push({drawn, sticky_key})
      sticky_key = null
      return drawn
    },
  })
  const visits: {leaf: PlanTarget; because: readonly BranchChoice[]; tries: {wait_ms: number; result: TryResult}[]}[] =
    []
  let reported = 0
  let step = way.first()
  for (;;) {
    const after = visits.at(-1)?.leaf.path ?? null
    if (step.kind === 'return')
      return {visits, end: {kind: 'answer', retry_attempt_count: step.retry_attempt_count}, by_lot: draws.length > 0}
    const fresh = draws.slice(reported)
    reported = draws.length
    if (step.kind === 'no_target') {
      const because = choices(plan.root, step.path, after, fresh, options.facts)
      return {visits, end: {kind: 'refuse', refused: step, because}, by_lot: draws.length > 0}
    }
    const {target: leaf, wait_ms, retry} = step
    if (retry === 0) visits.push({leaf, because: choices(plan.root, leaf.path, after, fresh, options.facts), tries: []})
    const result = answer(leaf, retry)
    visits.at(-1)!.tries.push({wait_ms, result})
    step = way.next(result)
  }
}

/** Every leaf, in the order they are written. */
export function targetsOf(node: PlanNode): PlanTarget[] {
  return node.kind === 'leaf' ? [node] : node.children.flatMap(targetsOf)
}

/** Every branch, the same way: before what is below it. */
export function branchesOf(node: PlanNode): Branch[] {
  return node.kind === 'leaf' ? [] : [node, ...node.children.flatMap(branchesOf)]
}

/** The next step after a failure of a leaf: the fallbacks above it that have another child, innermost first. */
export interface GoesOn {
  /** Null: whatever is not 2xx. */
  readonly on_status_codes: readonly number[] | null
  readonly to: string
}

/**
 * The targets that follow the one at `path`, by its answer. A status that an inner fallback takes never comes to an
 * outer one.
 */
export function goesOn(plan: Plan, path: string): GoesOn[] {
  const found: GoesOn[] = []
  const taken = new Set<number>()
  let failures_are_taken = false
  for (const {branch, index} of branchesTo(plan.root, path).reverse()) {
    const next = branch.mode === 'fallback' ? branch.children[index + 1] : undefined
    if (branch.mode !== 'fallback' || !next) continue
    const {on_status_codes: codes} = branch
    const isLeft = (code: number) => !taken.has(code) && !(failures_are_taken && (code < 200 || code > 299))
    const left = codes ? [...codes].filter(isLeft).sort((one, other) => one - other) : null
    if (left ? left.length > 0 : !failures_are_taken) found.push({on_status_codes: left, to: next.path})
    for (const code of codes ?? []) taken.add(code)
    failures_are_taken ||= codes === null
  }
  return found
}

interface Draw {
  readonly drawn: number
  readonly sticky_key: string | null
}

/** How the branches on the way to `path` chose; after `after`, from the fallback that both lie under. */
function choices(
  root: PlanNode,
  path: string,
  after: string | null,
  draws: readonly Draw[],
  facts: RoutingFacts,
): BranchChoice[] {
  const left = [...draws]
  const before = after === null ? [] : branchesTo(root, after)
  const way = branchesTo(root, path)
  const from = before.findIndex(({index}, depth) => way[depth]?.index !== index)
  return way.slice(Math.max(from, 0)).map(({branch, index}) => choice(branch, index, left, facts))
}

function choice(branch: Branch, index: number, draws: Draw[], facts: RoutingFacts): BranchChoice {
  const {path, children} = branch
  const to = children[index]?.path ?? null
  switch (branch.mode) {
    case 'single':
    case 'fallback':
      return {path, mode: branch.mode, to}
    case 'loadbalance': {
      const draw = draws.shift()
      const weights = children.map(child => ({path: child.path, weight: child.weight}))
      return {path, mode: 'loadbalance', to, weights, drawn: draw?.drawn ?? null, sticky_key: draw?.sticky_key ?? null}
    }
    case 'conditional': {
      let found = false
      const conditions = branch.conditions.map(({text, holds, then}) => {
        const verdict = found ? null : holds(facts)
        found ||= verdict === true
        return {text, holds: verdict, to: children[then]!.path}
      })
      return {path, mode: 'conditional', to, conditions}
    }
  }
}

/**
 * The branches from the root to the node at `path`, each with the index of its child on the way; -1 at a branch that is
 * the end.
 */
function branchesTo(root: PlanNode, path: string): {branch: Branch; index: number}[] {
  const indexes = [...path.matchAll(/\[(\d+)\]/g)].map(([, index]) => Number(index))
  const found: {branch: Branch; index: number}[] = []
  for (let node: PlanNode | undefined = root; node?.kind === 'branch'; ) {
    const index: number = indexes[found.length] ?? -1
    found.push({branch: node, index})
    node = node.children[index]
  }
  return found
}

/** A sticky key as a number from 0 to 1, without 1: of many keys each has its own place. */
function fractionOf(key: string): number {
  return createHash('sha256').update(key).digest().readUIntBE(0, 6) / 2 ** 48
}
