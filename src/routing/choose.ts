import {createHash} from 'node:crypto'
import {LRUCache} from 'lru-cache'
import type {LoadBalanceBranch, PlanNode, RoutingFacts} from './plan.ts'

/**
 * Which target a caller was given before, by a key of ours (43 characters). It answers at once: one that is shared
 * between processes keeps a copy here and reads ahead of the call. Times are epoch milliseconds, given by the caller.
 */
export interface StickyMemory {
  get(key: string, now_ms: number): number | undefined
  /** `index` is one of the branch's `children`. */
  set(key: string, index: number, until_ms: number): void
}

/** The values that a choice depends on besides the plan. */
export interface Choosing {
  readonly facts: RoutingFacts
  readonly workspace_id: string
  readonly sticky: StickyMemory
  /** 0 to 1, without 1. */
  readonly random: () => number
  readonly now: () => number
}

/** The `most` used last are remembered; a forgotten caller is assigned a target again. */
export function createStickyMemory({most = 50_000} = {}): StickyMemory {
  const chosen = new LRUCache<string, {readonly index: number; readonly until_ms: number}>({max: most})
  return {
    get(key, now_ms) {
      const found = chosen.get(key)
      if (!found) return undefined
      if (now_ms < found.until_ms) return found.index
      chosen.delete(key)
      return undefined
    },
    set(key, index, until_ms) {
      chosen.set(key, {index, until_ms})
    },
  }
}

/**
 * The index of the child that a load balance gives this call to: by weight, 0 being off, among those not in `left_out`.
 * -1 when all weights are 0. A sticky one gives callers of the same hash fields the same child for `ttl_s` from the
 * first time on, and another one when theirs is left out or gone (docs/configs.md, loadbalance).
 */
export function choose(branch: LoadBalanceBranch, left_out: readonly boolean[] | null, on: Choosing): number {
  const {children, sticky} = branch
  const key = sticky && stickyKey(branch, sticky.hash_fields, on)
  if (!sticky || !key) return byWeight(children, left_out, on.random)
  const now_ms = on.now()
  const before = on.sticky.get(key, now_ms)
  if (before !== undefined && isEligible(children[before], left_out?.[before])) return before
  const index = byWeight(children, left_out, on.random)
  if (index >= 0) on.sticky.set(key, index, now_ms + sticky.ttl_s * 1000)
  return index
}

/** `r` of the sum is taken off weight by weight until it is gone; rounding may leave some, which is the last one's. */
function byWeight(children: readonly PlanNode[], left_out: readonly boolean[] | null, random: () => number): number {
  let sum = 0
  for (let index = 0; index < children.length; index++)
    if (isEligible(children[index], left_out?.[index])) sum += children[index]!.weight
  if (sum === 0) return -1
  let rest = random() * sum
  let last = -1
  for (let index = 0; index < children.length; index++) {
    if (!isEligible(children[index], left_out?.[index])) continue
    last = index
    rest -= children[index]!.weight
    if (rest < 0) break
  }
  return last
}

function isEligible(child: PlanNode | undefined, is_left_out: boolean | undefined): boolean {
  return child !== undefined && child.weight > 0 && !is_left_out
}

/** Null when the call has none of the fields: strangers are not all one caller. */
function stickyKey(
  branch: LoadBalanceBranch,
  hash_fields: readonly string[],
  {facts, workspace_id}: Choosing,
): string | null {
  const values = hash_fields.map(field => saidBy(field, facts))
  if (values.every(value => value === undefined)) return null
  return digest([workspace_id, identityOf(branch), hash_fields, values])
}

/** `metadata.x`, `params.x`; two segments are read, as in conditions. */
function saidBy(field: string, {metadata, params}: RoutingFacts): unknown {
  const [where, name = ''] = field.split('.')
  const from = where === 'metadata' ? metadata : where === 'params' ? params : {}
  return Object.hasOwn(from, name) ? (from as Readonly<Record<string, unknown>>)[name] : undefined
}

const identities = new WeakMap<LoadBalanceBranch, string>()

/**
 * The identity of a branch's content, whatever the weights: two configs with the same content share their memory, and a
 * target that is put before the others moves no caller to a neighbour by its index.
 */
function identityOf(branch: LoadBalanceBranch): string {
  let identity = identities.get(branch)
  if (identity === undefined) {
    identity = digest([
      branch.path,
      branch.children.map(child => JSON.stringify(child, (key, value) => (key === 'weight' ? undefined : value))),
    ])
    identities.set(branch, identity)
  }
  return identity
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url')
}
