import {isObject} from '../base/json-object.ts'

/** The keys of a config that attach something, as they were written. */
export interface AttachKeys {
  readonly before_request_hooks?: readonly unknown[]
  readonly after_request_hooks?: readonly unknown[]
  readonly input_guardrails?: readonly unknown[]
  readonly output_guardrails?: readonly unknown[]
  readonly input_mutators?: readonly unknown[]
  readonly output_mutators?: readonly unknown[]
  readonly default_input_guardrails?: readonly unknown[]
  readonly default_output_guardrails?: readonly unknown[]
}

const KEYS = [
  ...(['before_request_hooks', 'after_request_hooks', 'input_guardrails', 'output_guardrails'] as const),
  ...(['input_mutators', 'output_mutators', 'default_input_guardrails', 'default_output_guardrails'] as const),
] as const

/** The guardrails that a node of a config attaches, and nothing else of it. */
export function attachKeys(node: AttachKeys): AttachKeys {
  return Object.fromEntries(KEYS.flatMap(key => (node[key] === undefined ? [] : [[key, node[key]]])))
}

/** The saved guardrails that may be named there: texts, and objects with an id. */
export function namesIn(keys: AttachKeys): string[] {
  return KEYS.flatMap(key =>
    (keys[key] ?? []).flatMap(each => {
      const name = typeof each === 'object' && each !== null ? (each as {id?: unknown}).id : each
      return typeof name === 'string' ? [name] : []
    }),
  )
}

/** Parameters of checks that hold secrets: credentials for the services that they call. */
const SECRET_PARAMETERS: ReadonlySet<string> = new Set(['headers', 'credentials'])

/**
 * The same with every text in a check's `headers` or `credentials` put through `change`, which gets its path; undefined
 * leaves it.
 */
export function mapHookSecrets(
  node: AttachKeys,
  change: (secret: string, path: string) => string | undefined,
  path: string,
): AttachKeys {
  const within = (value: unknown, at: string): unknown => {
    if (typeof value === 'string') return change(value, at) ?? value
    return Array.isArray(value)
      ? value.map((each, index) => within(each, `${at}[${index}]`))
      : members(value, at, within)
  }
  const parameters = (value: unknown, at: string) =>
    members(value, at, (member, place, key) =>
      SECRET_PARAMETERS.has(key.toLowerCase()) ? within(member, place) : member,
    )
  const check = (value: unknown, at: string) =>
    members(value, at, (member, place, key) => (key === 'parameters' ? parameters(member, place) : member))
  const hook = (value: unknown, at: string) =>
    members(value, at, (member, place, key) =>
      key === 'checks' && Array.isArray(member)
        ? member.map((each, index) => check(each, `${place}[${index}]`))
        : parameters(member, place),
    )
  const attached = KEYS.flatMap(key => {
    const listed = node[key]
    return Array.isArray(listed)
      ? [[key, listed.map((each, index) => hook(each, `${path}.${key}[${index}]`))] as const]
      : []
  })
  return Object.fromEntries(attached)
}

/** An object with its members put through `change`; anything else as it is. */
function members(
  value: unknown,
  path: string,
  change: (member: unknown, path: string, key: string) => unknown,
): unknown {
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, change(member, `${path}.${key}`, key)]))
}
