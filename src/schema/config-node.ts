import {KNOWN, NODE_KEYS, nodeKey, OWN_KEYS, ROOT_KEYS, USUAL} from './config-keys.ts'
import {parseParamPath} from './config-params.ts'
import {below, type ConfigFindings, isFull, kindOf, membersOf, refuse, type WrittenKey, warn} from './config-readers.ts'
import {judgeTargets, type ReadStrategy, readStrategy} from './config-strategy.ts'
import type {GatewayConfig, Strategy} from './config-types.ts'

const DEEPEST = 10

/** The position of a node. */
interface Place {
  readonly depth: number
  readonly parent: Strategy['mode'] | null
  /** A fallback or a load balance above asks it or passes it over: a circuit of it counts. */
  readonly is_chosen: boolean
}

type Members = ReadonlyMap<string, WrittenKey>

/** Reads a node and all below it. What is known and has no effect is warned of and left out. */
export function readNode(
  input: unknown,
  path: string,
  found: ConfigFindings,
  place: Place = {depth: 1, parent: null, is_chosen: false},
): GatewayConfig {
  const members = membersOf(input, path, found, KNOWN, {named: nodeKey, usual: USUAL})
  if (!members) return {}
  const node: Record<string, unknown> = {}
  for (const [key, {value: input, at}] of members) {
    if (isFull(found)) break
    if (key === 'strategy' || key === 'targets') continue
    const value = NODE_KEYS[key]!(input, at, found)
    const idle = value === undefined ? undefined : idleness(key, members, place)
    if (idle) warn(found, at, `has no effect ${idle}`)
    else if (value !== undefined) node[key] = value
  }
  const [strategyAt, targetsAt] = [members.get('strategy'), members.get('targets')]
  const strategy = strategyAt && readStrategy(strategyAt.value, strategyAt.at, found)
  if (strategy) node.strategy = strategy.strategy
  if (strategyAt && !targetsAt) refuse(found, `${path}.targets`, 'is required beside a strategy')
  if (targetsAt) node.targets = readTargets(targetsAt, strategy, place, found)
  const read = node as GatewayConfig
  if (strategy && read.targets?.length)
    judgeTargets(strategy, strategyAt?.at ?? path, read.targets, targetsAt?.at ?? path, found)
  else if (!strategyAt && (read.targets?.length ?? 0) > 1)
    refuse(found, `${path}.strategy`, 'is required beside several targets: an object with a mode')
  judgeParams(read, members, found)
  judgeProvider(read, members, found)
  const counts = judgeBreakers(read, members, strategy, place, found)
  return strategy?.strategy.mode === 'single' && read.targets ? {...counts, targets: read.targets.slice(0, 1)} : counts
}

/** The reason why a key has no effect in its place; undefined when it has one. */
function idleness(key: string, members: Members, {parent, depth}: Place): string | undefined {
  if (key === 'weight' && parent !== 'loadbalance') return 'here: it counts under the mode loadbalance alone'
  if (Object.hasOwn(ROOT_KEYS, key) && depth > 1) return 'here: it counts at the root alone'
  if (Object.hasOwn(OWN_KEYS, key) && members.has('targets')) return 'beside targets, which name their own'
  return undefined
}

function readTargets(
  {value, at}: WrittenKey,
  strategy: ReadStrategy | undefined,
  place: Place,
  found: ConfigFindings,
): GatewayConfig[] | undefined {
  if (!Array.isArray(value) || !value.length)
    return refuse(found, at, `expected a list of targets, found ${kindOf(value)}`)
  const {depth} = place
  if (depth >= DEEPEST) return refuse(found, at, `stands deeper than ${DEEPEST} levels`)
  const parent = strategy?.strategy.mode ?? 'single'
  if (depth === 1) {
    const most = parent === 'conditional' ? found.limits.conditional_root : found.limits.root
    if (value.length > most) return refuse(found, at, `has ${value.length} targets; expected at most ${most}`)
  } else {
    found.nested += value.length
    const {nested} = found.limits
    if (found.nested > nested)
      return refuse(
        found,
        at,
        `makes more than ${nested} targets below one target of the root; expected at most ${nested}`,
      )
  }
  const chooses = parent === 'fallback' || parent === 'loadbalance'
  const is_chosen = chooses || (parent === 'single' && place.is_chosen)
  const targets: GatewayConfig[] = []
  for (const [index, target] of value.entries()) {
    if (isFull(found)) break
    if (depth === 1) found.nested = 0
    targets.push(readNode(target, `${at}[${index}]`, found, {depth: depth + 1, parent, is_chosen}))
  }
  return targets
}

/** A parameter that is set and dropped, or whose default is always overridden, has no effect. */
function judgeParams(
  {override_params = {}, default_params = {}, drop_params = []}: GatewayConfig,
  members: Members,
  found: ConfigFindings,
) {
  const dropped = new Set(drop_params.flatMap(path => (parseParamPath(path)?.length === 1 ? [path] : [])))
  for (const [key, params] of [
    ['override_params', override_params] as const,
    ['default_params', default_params] as const,
  ]) {
    const at = members.get(key)?.at
    if (at === undefined) continue
    for (const name of Object.keys(params)) {
      if (dropped.has(name)) warn(found, below(at, name), 'has no effect: drop_params takes it away')
      else if (key === 'default_params' && Object.hasOwn(override_params, name))
        warn(found, below(at, name), 'has no effect: override_params sets it')
    }
  }
}

/** Of several words for the provider one counts. */
function judgeProvider(
  {provider, virtual_key, passthrough, override_params}: GatewayConfig,
  members: Members,
  found: ConfigFindings,
) {
  const at = (key: string) => members.get(key)?.at ?? key
  const slug = virtual_key ?? (provider?.startsWith('@') ? provider.slice(1) : undefined)
  if (passthrough) {
    if (provider) warn(found, at('provider'), 'has no effect beside passthrough')
    if (virtual_key) warn(found, at('virtual_key'), 'has no effect beside passthrough')
    return
  }
  if (virtual_key && provider?.startsWith('@') && provider !== `@${virtual_key}`)
    warn(found, at('provider'), 'has no effect beside virtual_key, which names another')
  const model = override_params && Object.hasOwn(override_params, 'model') ? String(override_params.model) : ''
  const [named] = /^@[^/]+(?=\/)/.exec(model) ?? []
  if (named && (slug ?? provider) !== undefined && named !== `@${slug}`)
    warn(found, below(at('override_params'), 'model'), 'names a provider without effect: that of the target counts')
}

/**
 * A circuit counts in a saved config, where a fallback or a load balance passes an open target over. The node without
 * those that do not.
 */
function judgeBreakers(
  node: GatewayConfig,
  members: Members,
  strategy: ReadStrategy | undefined,
  place: Place,
  found: ConfigFindings,
): GatewayConfig {
  const own = members.get('cb_config')
  const chosen_by = strategy?.members.get('cb_config')
  if (own && chosen_by) refuse(found, chosen_by.at, 'is given twice, in the node too')
  if (!own && !chosen_by) return node
  const counts = found.saved && (place.is_chosen || choosesBelow(node))
  if (counts) return node
  const why = found.saved ? 'no fallback or load balance asks it' : 'circuits are kept for saved configs alone'
  for (const {at} of [own, chosen_by].filter(each => each !== undefined)) warn(found, at, `has no effect here: ${why}`)
  const {cb_config: _, ...rest} = node
  if (!rest.strategy) return rest
  const {cb_config: __, ...plain} = rest.strategy
  return {...rest, strategy: plain as Strategy}
}

function choosesBelow({strategy, targets}: GatewayConfig): boolean {
  if (strategy?.mode === 'fallback' || strategy?.mode === 'loadbalance') return true
  return targets?.some(choosesBelow) ?? false
}

/** True when anything in a config has an effect: a name, a weight and a strategy alone have none. */
export function says(config: GatewayConfig): boolean {
  const {name: _, weight: __, strategy: ___, targets, ...rest} = config
  return Object.keys(rest).length > 0 || (targets?.some(says) ?? false)
}

/** Every node of a config, each before those below it, and its path. */
export function nodesOf(
  config: GatewayConfig,
  path = 'config',
): {readonly node: GatewayConfig; readonly path: string}[] {
  const below = (config.targets ?? []).flatMap((target, index) => nodesOf(target, `${path}.targets[${index}]`))
  return [{node: config, path}, ...below]
}
