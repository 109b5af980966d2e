import type {Schema} from '../../../src/admin/openapi/schemas.ts'

/** A field of a body that can be changed alone: its way, and values it can be given. */
export interface Field {
  readonly way: readonly string[]
  readonly values: readonly unknown[]
}

/**
 * Every field of a body by its schema, the members of objects in it too; `known` has values where the schema does not
 * say enough.
 */
export function fieldsOf(schema: Schema, known: (way: string) => readonly unknown[] | undefined): Field[] {
  return members(schema, [], known)
}

function members(
  schema: Schema,
  way: readonly string[],
  known: (way: string) => readonly unknown[] | undefined,
): Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const at = [...way, name]
    const given = known(at.join('.'))
    if (given) return given.length ? [{way: at, values: given}] : []
    const inner = objectIn(property)
    const nulls = isNullable(property) ? [null] : []
    const whole = inner ? nulls : [...valuesOf(property, name), ...nulls]
    return [...(whole.length ? [{way: at, values: whole}] : []), ...(inner ? members(inner, at, known) : [])]
  })
}

/** The object that a value is, or may be. */
function objectIn(schema: Schema): Schema | undefined {
  if (schema.properties) return schema
  return (schema.anyOf ?? schema.oneOf ?? schema.allOf ?? []).map(objectIn).find(Boolean)
}

function isNullable(schema: Schema): boolean {
  return (
    schema.nullable === true ||
    (schema.anyOf ?? []).some(each => isNullable(each) || JSON.stringify(each.enum) === '[null]')
  )
}

function valuesOf(schema: Schema, name: string): readonly unknown[] {
  const {type, format, minimum, maximum, items} = schema
  const said = schema.enum?.filter(each => each !== null)
  if (said) return said
  if (type === 'boolean') return [true, false]
  if (type === 'integer' || type === 'number') {
    const least = Math.max(minimum ?? 1, 1)
    return [least + 6, least + 11].filter(value => maximum === undefined || value <= maximum)
  }
  if (type === 'string') {
    if (format === 'date-time') return ['2027-02-03T00:00:00.000Z', '2028-03-04T00:00:00.000Z']
    if (format === 'email') return ['one@example.com', 'two@example.com']
    return [`${name} one`, `${name} two`]
  }
  if (type === 'array' && items)
    return valuesOf(items, name)
      .slice(0, 2)
      .map(value => [value])
  if (type === 'object') return [{one: '1'}, {two: '2'}]
  return (schema.anyOf ?? schema.oneOf ?? []).map(each => valuesOf(each, name)).find(values => values.length) ?? []
}

/** A body that gives this field alone. */
export function bodyOf({way}: Pick<Field, 'way'>, value: unknown): Record<string, unknown> {
  return way.reduceRight<unknown>((inner, name) => ({[name]: inner}), value) as Record<string, unknown>
}

/**
 * The values of a view by their ways; rows of lists by what they are of, so that `usage_limits.cost.credit_limit` is
 * one.
 */
export function leavesOf(value: unknown, way = ''): Map<string, string> {
  if (typeof value !== 'object' || value === null) return new Map([[way, JSON.stringify(value ?? null)]])
  const entries = Array.isArray(value)
    ? value.map((row, at) => [nameOf(row) ?? String(at), row] as const)
    : Object.entries(value)
  if (!entries.length) return new Map()
  return new Map(entries.flatMap(([name, inner]) => [...leavesOf(inner, way ? `${way}.${name}` : name)]))
}

function nameOf(row: unknown): string | undefined {
  if (typeof row !== 'object' || row === null) return undefined
  const {slug, type, unit} = row as Record<string, unknown>
  if (typeof slug === 'string') return slug
  return typeof type === 'string' ? [type, unit].filter(Boolean).join(' ') : undefined
}

/** Ways of which the value is not what it was. */
export function differing(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const ways = new Set([...before.keys(), ...after.keys()])
  return [...ways].filter(way => (before.get(way) ?? 'null') !== (after.get(way) ?? 'null'))
}
