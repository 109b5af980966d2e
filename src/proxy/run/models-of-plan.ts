import type {Plan, PlanNode, PlanTarget, RoutingFacts} from '../../routing/plan.ts'
import {targetsOf} from '../../routing/simulate.ts'
import {splitModel, type TargetSelectors} from '../targets/target.ts'

/** A target of a config as a list of models needs it. */
export interface ListedTarget {
  /** The slug of a managed provider; null where it is a kind, or left to the call. */
  readonly slug: string | null
  /** The kind of one that is not managed; null where the call names the provider. */
  readonly kind: string | null
  /** The model that it sets, whatever the call names. */
  readonly model: string | null
}

/** The targets to which a config sends calls by the model that they name. */
export class ModelsOfPlan {
  readonly targets: readonly ListedTarget[]
  /** Names that conditions compare with: clients call by them. */
  readonly aliases: readonly string[]
  readonly #plan: Plan
  readonly #byLeaf: ReadonlyMap<PlanTarget, ListedTarget>
  readonly #facts: Pick<RoutingFacts, 'metadata' | 'pathname'>

  /** `facts` are those of the call that asks: a condition on its metadata holds as it would for its next call. */
  constructor(plan: Plan, selectors: TargetSelectors, facts: Pick<RoutingFacts, 'metadata' | 'pathname'>) {
    this.#plan = plan
    this.#facts = facts
    this.#byLeaf = new Map(targetsOf(plan.root).map(leaf => [leaf, listedTarget(leaf, selectors)]))
    this.targets = [...this.#byLeaf.values()]
    this.aliases = [...new Set(aliasesIn(plan.root))]
    if (!asksConditions(plan.root)) this.#always = this.#reached(null)
  }

  readonly #always: readonly ListedTarget[] | null = null

  /** The targets that a call may come to which names this model; none where the config refuses it. */
  reachedBy(model: string): readonly ListedTarget[] {
    return this.#always ?? this.#reached(model)
  }

  #reached(model: string | null): readonly ListedTarget[] {
    const facts: RoutingFacts = {...this.#facts, params: model === null ? {} : {model}}
    return leavesFor(this.#plan.root, facts).map(leaf => this.#byLeaf.get(leaf)!)
  }
}

/** True when the request is for the gateway's own list: one target that takes every call has a list of its own. */
export function hasSeveralTargets({root, lists_integrated}: Plan): boolean {
  return lists_integrated || targetsOf(root).length > 1 || asksConditions(root)
}

function leavesFor(node: PlanNode, facts: RoutingFacts): readonly PlanTarget[] {
  if (node.kind === 'leaf') return [node]
  switch (node.mode) {
    case 'single':
      return node.children.slice(0, 1).flatMap(child => leavesFor(child, facts))
    case 'fallback':
      return node.children.flatMap(child => leavesFor(child, facts))
    case 'loadbalance':
      return node.children.filter(({weight}) => weight > 0).flatMap(child => leavesFor(child, facts))
    case 'conditional': {
      const index = node.conditions.find(({holds}) => holds(facts))?.then ?? node.otherwise
      const child = index === null ? undefined : node.children[index]
      return child ? leavesFor(child, facts) : []
    }
  }
}

function asksConditions(node: PlanNode): boolean {
  return node.kind === 'branch' && (node.mode === 'conditional' || node.children.some(asksConditions))
}

function aliasesIn(node: PlanNode): readonly string[] {
  if (node.kind === 'leaf') return []
  const own = node.mode === 'conditional' ? node.conditions.flatMap(({models}) => models) : []
  return [...own, ...node.children.flatMap(aliasesIn)]
}

/** In the order in which a target finds its provider (`resolveTarget`). */
function listedTarget({target}: PlanTarget, selectors: TargetSelectors): ListedTarget {
  const set = target.override_params?.model
  const [set_slug, model] = typeof set === 'string' ? splitModel(set) : [null, null]
  const named = target.passthrough
    ? selectors.provider?.startsWith('@')
      ? selectors.provider
      : undefined
    : (managed(target.virtual_key) ??
      target.provider ??
      managed(set_slug) ??
      selectors.provider ??
      managed(selectors.virtual_key))
  if (named === undefined) return {slug: null, kind: null, model}
  return named[0] === '@' ? {slug: named.slice(1), kind: null, model} : {slug: null, kind: named, model}
}

function managed(slug: string | null | undefined): string | undefined {
  return slug ? (slug[0] === '@' ? slug : `@${slug}`) : undefined
}
