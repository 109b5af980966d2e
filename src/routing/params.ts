import {type ParamStep, parseParamPath} from '../schema/config-params.ts'
import type {ConfigTarget} from '../schema/configs.ts'

type Body = Readonly<Record<string, unknown>>
type Params = Pick<ConfigTarget, 'default_params' | 'override_params' | 'drop_params'>

/** True when a target changes bodies at all. */
export function hasParams({default_params, override_params, drop_params}: Params): boolean {
  return default_params !== undefined || override_params !== undefined || (drop_params?.length ?? 0) > 0
}

/**
 * The body as the target wants it: `default_params` where a key is absent, then `override_params` over it, then the
 * members named in `drop_params` removed; a path that leads nowhere is ignored. `body` stays as it was, and shares its
 * unchanged parts with the new one (docs/configs.md, Inheritance).
 */
export function applyParams(body: Body, target: Params): Body {
  const {default_params, override_params} = target
  // Spreads and fromEntries define properties and never set them, so that a member called __proto__ is one like any
  // other.
  const absent =
    default_params && Object.fromEntries(Object.entries(default_params).filter(([key]) => !Object.hasOwn(body, key)))
  const set = absent || override_params ? {...body, ...absent, ...override_params} : body
  return pathsOf(target).reduce<Body>((left, path) => without(left, path, 0) as Body, set)
}

const known = new WeakMap<readonly string[], readonly (readonly ParamStep[])[]>()

/** Parsed once for each list. */
function pathsOf({drop_params}: Params): readonly (readonly ParamStep[])[] {
  if (!drop_params?.length) return []
  let paths = known.get(drop_params)
  if (!paths) {
    paths = drop_params.map(parseParamPath).filter(path => path !== undefined)
    known.set(drop_params, paths)
  }
  return paths
}

/** `value` without what the steps from `at` on lead to; itself when they lead nowhere. */
function without(value: unknown, path: readonly ParamStep[], at: number): unknown {
  const step = path[at]!
  const is_last = at === path.length - 1
  if ('member' in step)
    return withoutMember(value, step.member, is_last ? undefined : inner => without(inner, path, at + 1))
  if (!Array.isArray(value)) return value
  if ('each' in step) {
    if (is_last) return value.length ? [] : value
    const changed = value.map(inner => without(inner, path, at + 1))
    return changed.some((inner, index) => inner !== value[index]) ? changed : value
  }
  if (step.element >= value.length) return value
  if (is_last) return value.toSpliced(step.element, 1)
  const inner = without(value[step.element], path, at + 1)
  return inner === value[step.element] ? value : value.with(step.element, inner)
}

/** `change` undefined takes the member away. */
function withoutMember(value: unknown, member: string, change: ((inner: unknown) => unknown) | undefined): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, member)) return value
  const before = (value as Body)[member]
  const after = change?.(before)
  if (change && after === before) return value
  const entries = Object.entries(value)
  return Object.fromEntries(
    change
      ? entries.map(([key, inner]) => [key, key === member ? after : inner])
      : entries.filter(([key]) => key !== member),
  )
}
