import {z} from 'zod'

/** The part of a schema of OpenAPI 3.0 that is read; there are no references in those that zod makes for us. */
export interface Schema {
  readonly type?: string
  readonly description?: string
  readonly format?: string
  readonly nullable?: boolean
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
}

export function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Schema {
  return z.toJSONSchema(schema, {
    target: 'openapi-3.0',
    io,
    unrepresentable: 'any',
    override: ({jsonSchema}) => settle(jsonSchema),
  }) as Schema
}

/** A schema while it is made. */
interface Made {
  type?: unknown
  format?: unknown
  pattern?: unknown
  minimum?: unknown
  maximum?: unknown
  nullable?: unknown
  enum?: unknown
  anyOf?: unknown
  properties?: object
}

/**
 * Leaves out what a format says already, the bounds of numbers that JSON readers have anyway, and the second spelling
 * of a member; null is said as `maybe` does.
 */
function settle(schema: Made) {
  if (schema.format) delete schema.pattern
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  for (const name of spelledTwice(Object.keys(schema.properties ?? {})))
    delete (schema.properties as Record<string, unknown>)[name]
  if (schema.nullable !== true) return
  delete schema.nullable
  Object.assign(schema, maybe(schema))
}

/**
 * A schema that takes null as well: OpenAPI 3.0.3 wants `nullable` beside a `type`, so in each of several forms, and
 * null among the values of an enum. One without a type takes null anyway.
 */
export function maybe(schema: object): object {
  const {type, enum: values, anyOf} = schema as Schema
  if (anyOf) return {...schema, anyOf: anyOf.map(maybe)}
  if (type === undefined) return schema
  return {...schema, nullable: true, ...(values && !values.includes(null) && {enum: [...values, null]})}
}

/** Of names that differ in case and underscores alone, all but that in snake case: generators make one name of both. */
export function spelledTwice(names: readonly string[]): readonly string[] {
  const plain = (name: string) => name.replaceAll('_', '').toLowerCase()
  return names.filter(name => /[A-Z]/.test(name) && names.some(other => other !== name && plain(other) === plain(name)))
}

/** A body of JSON with an example of it. */
export function json(schema: object, example: unknown) {
  return {'application/json': {schema, example}}
}
