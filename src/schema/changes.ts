/** A field that a write changed. */
export interface Change {
  /** Its way from the top, in the reply that shows it: `usage_limits.credit_limit`. */
  readonly field: string
  readonly before: unknown
  readonly after: unknown
}

/** Fields that differ after every write, or without one. */
const BOOKKEEPING = new Set(['last_updated_at', 'updated_at', 'current_usage'])

/**
 * The differences between two views of one thing. Rows of a list that have names of their own are compared by these,
 * other lists whole.
 */
export function changesBetween(before: unknown, after: unknown, way = ''): Change[] {
  const [old, now] = [asNamed(before), asNamed(after)]
  if (old && now && sameKind(before, after)) {
    const names = new Set([...Object.keys(old), ...Object.keys(now)])
    return [...names].flatMap(name =>
      BOOKKEEPING.has(name) ? [] : changesBetween(old[name] ?? null, now[name] ?? null, way ? `${way}.${name}` : name),
    )
  }
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{field: way, before, after}]
}

const sameKind = (one: unknown, other: unknown) => Array.isArray(one) === Array.isArray(other)

/** An object as it is; a list of rows by their names, each different. */
function asNamed(value: unknown): Record<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (!Array.isArray(value)) return value as Record<string, unknown>
  const names = value.map(nameOf)
  if (names.includes(undefined) || new Set(names).size < names.length) return undefined
  return Object.fromEntries(value.map((row, at) => [names[at]!, row]))
}

function nameOf(row: unknown): string | undefined {
  if (typeof row !== 'object' || row === null) return undefined
  const {slug, id, type, unit} = row as Record<string, unknown>
  if (typeof slug === 'string') return slug
  if (typeof id === 'string') return id
  return typeof type === 'string' ? [type, unit].filter(Boolean).join(' ') : undefined
}
