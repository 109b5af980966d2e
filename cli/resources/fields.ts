import {isObject} from '../../src/base/json-object.ts'
import {RateLimit, UsageLimit, type UsageLimitStanding} from '../../src/schema/limits.ts'
import type {SpecField} from './kind.ts'

/** The members of a budget in replies beside its settings. */
const STANDING: ReadonlySet<string> = new Set(['current_usage', 'status'] satisfies (keyof UsageLimitStanding)[])

/**
 * Limits in a list, without empty members, or their state. An unreadable one is left as it is, to be refused with a
 * reason.
 */
function limits(schema: typeof UsageLimit | typeof RateLimit) {
  return (value: unknown) => {
    const listed = (Array.isArray(value) ? value : [value]).map(withoutStanding)
    const read = listed.map(each => schema.safeParse(each))
    if (read.some(({success}) => !success)) return listed
    return read.map(({data}) =>
      Object.fromEntries(
        Object.entries(data as object).filter(
          ([name, member]) => member !== null && !(name === 'enforcement' && member === 'compatible'),
        ),
      ),
    )
  }
}

function withoutStanding(limit: unknown): unknown {
  return isObject(limit) ? Object.fromEntries(Object.entries(limit).filter(([name]) => !STANDING.has(name))) : limit
}

export const TEXT: SpecField = {}
export const CLEARED: SpecField = {none: null}
export const TAGS: SpecField = {none: {}}
export const LIMITS = {
  usage_limits: {none: null, normal: limits(UsageLimit)},
  rate_limits: {none: null, normal: limits(RateLimit)},
} as const satisfies Record<string, SpecField>

/** Which models may be called: the order says nothing, and an update gives both lists. */
export const MODELS: SpecField = {
  none: null,
  normal: value =>
    isObject(value)
      ? Object.fromEntries(
          Object.entries(value).flatMap(([name, globs]) =>
            globs === null || (Array.isArray(globs) && name === 'deny' && globs.length === 0)
              ? []
              : [[name, Array.isArray(globs) ? [...new Set(globs)].sort() : globs]],
          ),
        )
      : value,
  sent: value => ({allow: null, deny: null, ...(value as object)}),
}

/** A moment, always in UTC. */
export const MOMENT: SpecField = {
  none: null,
  normal: value =>
    typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? new Date(value).toISOString() : value,
}

/** Members of an object that say something: not null, not empty, not what they are without. */
export function withoutDefaults(value: unknown, usual: Readonly<Record<string, unknown>> = {}): unknown {
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).filter(
      ([name, member]) =>
        member !== null &&
        member !== usual[name] &&
        !(typeof member === 'object' && Object.keys(member as object).length === 0),
    ),
  )
}
