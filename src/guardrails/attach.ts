import {nearest} from '../base/nearest.ts'
import type {AttachKeys} from '../schema/config-hooks.ts'
import type {GuardrailActions, GuardrailCheck, Side, UnreadableBodies} from '../schema/guardrails.ts'
import {SIDES} from '../schema/guardrails.ts'
import {HOOK_KEYS, type Hook, type HookFault, makeHook} from './hook.ts'
import {isObject, own} from './json.ts'
import {BUILT_IN, type Registry} from './registry.ts'

/** A guardrail of the store, in the version that is to run. */
export interface SavedGuardrail {
  readonly id: string
  readonly slug: string
  readonly version_id: string
  readonly checks: readonly GuardrailCheck[]
  readonly actions: GuardrailActions
}

/** Ids or slugs that run on every call of a workspace or an organisation. */
export interface DefaultGuardrails {
  readonly input_guardrails: readonly string[]
  readonly output_guardrails: readonly string[]
  /** Null: as the setting says. */
  readonly unreadable_bodies?: UnreadableBodies | null
}

export interface AttachOptions {
  /** The config's path, to begin faults with; empty for the root. */
  readonly path?: string
  /** The organisation's, then the workspace's. */
  readonly defaults: readonly DefaultGuardrails[]
  /** The guardrail that the call may use under this id or slug. */
  saved(handle: string): SavedGuardrail | undefined
  readonly registry?: Registry
}

export interface Attached {
  readonly input: readonly Hook[]
  readonly output: readonly Hook[]
  /** Anything here, and the call is refused (400) or the config not saved. */
  readonly faults: readonly HookFault[]
  /** Guardrails that are attached where they have no effect. */
  readonly warnings: readonly HookFault[]
}

const MAX_HOOKS = 50

/**
 * Every form in which guardrails are attached (docs/guardrails.md, Attach a guardrail) as hooks ready to run. The
 * defaults, the config's own among them, come last and whole: a guardrail that the config attaches too runs once, as
 * the default says.
 */
export function attach(keys: AttachKeys, {path = '', defaults, saved, registry = BUILT_IN}: AttachOptions): Attached {
  const faults: HookFault[] = []
  const warnings: HookFault[] = []
  const [input, output] = SIDES.map(side => hooksOf(side))
  return {input: input!, output: output!, faults, warnings}

  function hooksOf(side: Side): readonly Hook[] {
    const names = KEYS[side]
    const standing = defaults.flatMap(each => each[names.guardrails])
    const always = new Map<string, Hook>()
    for (const handle of standing) {
      const found = reference(handle, `default_${names.guardrails}`)
      if (found) always.set(found.of.id, found.hook)
    }
    const besides: Hook[] = []
    for (const {each, at, index} of entries(names.defaults)) {
      const found = short(each, at, 'guardrail', `default_${side}_guardrail_${index + 1}`)
      if (found?.of) always.set(found.of.id, found.hook)
      else if (found) besides.push(found.hook)
    }
    const values = [
      ...entries(names.hooks).map(({each, at}) => raw(each, at)),
      ...entries(names.guardrails).map(({each, at, index}) =>
        short(each, at, 'guardrail', `${side}_guardrail_${index + 1}`),
      ),
      ...entries(names.mutators).map(({each, at, index}) => short(each, at, 'mutator', `${side}_mutator_${index + 1}`)),
    ].filter(each => each !== undefined)
    if (values.length + besides.length > MAX_HOOKS)
      faults.push({path: located(names.guardrails), message: `has more than ${MAX_HOOKS} guardrails with its hooks.`})
    const wanted = values.filter(({of}) => !of || !always.has(of.id)).map(({hook}) => hook)
    const hooks = [...wanted, ...always.values(), ...besides]
    for (const hook of hooks) warn(hook, side)
    return hooks
  }

  function entries(key: keyof AttachKeys) {
    const listed = Object.hasOwn(keys, key) ? (keys[key] ?? []) : []
    return listed.map((each, index) => ({each, index, at: `${located(key)}[${index}]`}))
  }

  function located(key: string): string {
    return path ? `${path}.${key}` : key
  }

  function raw(input: unknown, at: string) {
    const id = own(input, 'id')
    if (!isObject(input)) return fault(at, 'must be an object.')
    if (own(input, 'checks') === undefined && typeof id === 'string') {
      const idle = Object.keys(input).filter(key => !['id', 'type', 'guardrail_version_id'].includes(key))
      if (idle.length)
        warnings.push({
          path: at,
          message: `has no effect: ${idle.slice(0, 5).join(', ')}; the guardrail ${id.slice(0, 100)} says it.`,
        })
      return reference(id, at)
    }
    return made(input, at, 'guardrail', at.replace(/\W+/g, '_').replace(/_$/, ''))
  }

  function short(input: unknown, at: string, type: Hook['type'], id: string) {
    if (typeof input === 'string') return reference(input, at)
    if (!isObject(input)) return fault(at, 'must be the id of a guardrail or an object.')
    if (own(input, 'checks') !== undefined) return made(input, at, type, id)
    const others = Object.keys(input).filter(key => !HOOK_KEYS.has(key))
    if (!others.length && typeof own(input, 'id') === 'string') return raw(input, at)
    const checks = checksIn(input, others, {at, registry, faults})
    const hook = Object.fromEntries(Object.entries(input).filter(([key]) => HOOK_KEYS.has(key)))
    return checks.length < others.length ? undefined : made({...hook, checks}, at, type, id)
  }

  function made(input: unknown, at: string, type: Hook['type'], id: string) {
    const hook = makeHook(input, {registry, path: at, id, type}, faults)
    return hook && {hook, of: undefined}
  }

  function reference(handle: string, at: string) {
    const of = saved(handle)
    if (!of) return fault(at, `Guardrail not found: ${handle.slice(0, 255)}.`)
    const {id, version_id, checks, actions} = of
    const values = {...actions, id: of.slug, checks, guardrail_version_id: version_id}
    const hook = makeHook(values, {registry, path: at, id, type: 'guardrail', has_feedback: true}, faults)
    return hook && {hook, of}
  }

  function fault(at: string, message: string): undefined {
    faults.push({path: at, message})
    return undefined
  }

  function warn(hook: Hook, side: Side) {
    for (const {id, prepared} of hook.checks) {
      if (!prepared.check.sides.includes(side))
        warnings.push({path: hook.id, message: `${id} does not run on the ${side} and is skipped.`})
    }
  }
}

/** The checks that a hook has as its keys; fewer than `names` where one is faulty, which is added to `faults`. */
function checksIn(
  input: object,
  names: readonly string[],
  {at, registry, faults}: {readonly at: string; readonly registry: Registry; readonly faults: HookFault[]},
): readonly GuardrailCheck[] {
  const checks: GuardrailCheck[] = []
  for (const key of names) {
    const value = own(input, key)
    if (!isObject(value)) {
      const known = registry.find(key)
      const like = nearest(key, HOOK_KEYS)
      const unknown = like ? `the key ${key} is not known here: did you mean ${like}?` : registry.unknown(key)
      faults.push({
        path: `${at}.${key}`,
        message: known ? `must be an object, the parameters of ${known.id}.` : unknown,
      })
      continue
    }
    const {id: named, is_enabled, ...parameters} = value
    checks.push({
      id: typeof named === 'string' ? named : key,
      parameters,
      ...(typeof is_enabled === 'boolean' ? {is_enabled} : {}),
    })
  }
  return checks
}

const KEYS = {
  input: {
    hooks: 'before_request_hooks',
    guardrails: 'input_guardrails',
    mutators: 'input_mutators',
    defaults: 'default_input_guardrails',
  },
  output: {
    hooks: 'after_request_hooks',
    guardrails: 'output_guardrails',
    mutators: 'output_mutators',
    defaults: 'default_output_guardrails',
  },
} as const
