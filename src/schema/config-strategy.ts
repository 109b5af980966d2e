import {nearest} from '../base/nearest.ts'
import {query} from './config-conditions.ts'
import {MODES, mode, STRATEGY_KEYS, type StrategyMode, targetName} from './config-keys.ts'
import {
  type ConfigFindings,
  type ConfigReader,
  isFull,
  listOf,
  membersOf,
  refuse,
  type WrittenKey,
  warn,
} from './config-readers.ts'
import type {GatewayConfig, Strategy} from './config-types.ts'

/** A strategy as it was written, with the places that its targets are judged from. */
export interface ReadStrategy {
  readonly strategy: Strategy
  readonly members: ReadonlyMap<string, WrittenKey>
}

const MAX_CONDITIONS = 5000
const NAMED = 10
const CONDITION_KEYS = ['query', 'then']
const KNOWN = ['mode', ...Object.keys(STRATEGY_KEYS), 'conditions']
const USUAL = ['mode', 'on_status_codes', 'conditions', 'default', 'sticky', 'cb_config']

/** Reads how a node chooses. Keys that count under another mode are warned of and left out. */
export function readStrategy(input: unknown, path: string, found: ConfigFindings): ReadStrategy | undefined {
  const members = membersOf(input, path, found, KNOWN, {usual: USUAL, expected: 'an object with a mode'})
  if (!members) return undefined
  const named = members.get('mode')
  if (!named) return refuse(found, `${path}.mode`, `is required: one of ${MODES.join(', ')}`)
  const chosen = mode(named.value, named.at, found) as StrategyMode | undefined
  if (!chosen) return undefined
  const strategy: Record<string, unknown> = {mode: chosen}
  for (const [key, {value: input, at}] of members) {
    if (key === 'mode') continue
    const {read, mode: own} =
      key === 'conditions' ? {read: conditions, mode: 'conditional' as const} : STRATEGY_KEYS[key]!
    const value = read(input, at, found)
    if (own && own !== chosen) warn(found, at, `has no effect here: it counts under the mode ${own} alone`)
    else if (value !== undefined) strategy[key] = value
  }
  if (chosen === 'conditional' && !members.has('conditions'))
    refuse(found, `${path}.conditions`, 'is required: a list of objects with a query and the name of a target in then')
  return {strategy: strategy as unknown as Strategy, members}
}

const conditions = listOf('conditions', condition, {least: 1, most: MAX_CONDITIONS})

function condition(value: unknown, path: string, found: ConfigFindings): unknown {
  const members = membersOf(value, path, found, CONDITION_KEYS, {
    named: key => key,
    expected: 'an object with query and then',
  })
  if (!members) return undefined
  const part = (key: string, read: ConfigReader, expected: string) => {
    const written = members.get(key)
    return written
      ? read(written.value, written.at, found)
      : refuse(found, `${path}.${key}`, `is required: ${expected}`)
  }
  const query_found = part('query', query, 'what must hold of the call')
  return Object.fromEntries([
    ['query', query_found],
    ['then', part('then', targetName, 'the name of a target')],
  ])
}

/**
 * Judges the targets of a node by its strategy: names that conditions mean, weights that can be drawn, targets that are
 * never called.
 */
export function judgeTargets(
  {strategy, members}: ReadStrategy,
  path: string,
  targets: readonly GatewayConfig[],
  at: string,
  found: ConfigFindings,
) {
  if (strategy.mode === 'loadbalance' && targets.every(({weight = 1}) => weight === 0))
    refuse(found, at, 'have no weight above 0; expected one at least')
  if (strategy.mode === 'single') {
    for (let index = 1; index < targets.length; index++)
      warn(found, `${at}[${index}]`, 'has no effect: the mode single asks the first target alone')
  }
  if (strategy.mode !== 'conditional' || !Array.isArray(strategy.conditions)) return
  const byName = new Map<string, number>()
  targets.forEach(({name}, index) => {
    if (name === undefined) return
    if (byName.has(name))
      refuse(
        found,
        `${at}[${index}].name`,
        `is the name of targets[${byName.get(name)}] too; a condition could mean either`,
      )
    else byName.set(name, index)
  })
  const conditionsAt = members.get('conditions')?.at ?? `${path}.conditions`
  const reached = new Set<number>()
  const written = new Map<string, number>()
  strategy.conditions.forEach(({query, then}, index) => {
    reach(then, `${conditionsAt}[${index}].then`)
    const text = JSON.stringify(query)
    const same = written.get(text)
    if (same === undefined) written.set(text, index)
    else
      warn(found, `${conditionsAt}[${index}].query`, `has no effect: conditions[${same}] asks the same and comes first`)
  })
  if (strategy.default !== undefined) reach(strategy.default, members.get('default')?.at ?? `${path}.default`)
  targets.forEach((_, index) => {
    if (!reached.has(index))
      warn(found, `${at}[${index}]`, 'has no effect: no condition names it, and it is not the default')
  })

  function reach(name: string, place: string) {
    const index = byName.get(name)
    if (index !== undefined) {
      reached.add(index)
      return
    }
    if (isFull(found)) return
    const close = nearest(name, byName.keys())
    const names = [...byName.keys()].slice(0, NAMED).join(', ')
    const cure = close ? `did you mean ${close}?` : names ? `expected one of ${names}` : 'no target has a name'
    refuse(found, place, `names no target beside it; ${cure}`)
  }
}
