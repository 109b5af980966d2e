import {z} from 'zod'

/** What is read of a schema of OpenAPI 3.0; there are no references in those that zod makes for us. */
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
    override: ({jsonSchema}) => shorten(jsonSchema),
  }) as Schema
}

/** Leaves out what a format says already, and the bounds of numbers that JSON readers have anyway. */
function shorten(schema: {format?: unknown; pattern?: unknown; minimum?: unknown; maximum?: unknown}) {
  if (schema.format) delete schema.pattern
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
}

/** A body of JSON with an example of it. */
export function json(schema: object, example: unknown) {
  return {'application/json': {schema, example}}
}
