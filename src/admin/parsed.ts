import type {z} from 'zod'
import {Refusal} from '../base/errors.ts'
import {explain} from '../schema/validation-message.ts'

/** `value`, the part of a body under `root`, as its schema reads it. Refuses what does not fit. */
export function parsed<T extends z.ZodType>(schema: T, value: unknown, root: string): z.output<T> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw new Refusal('body.invalid', {issues: explain(result.error, schema, value, {root, before: `${root}.`})})
}
