import type {JsonObject, JsonValue} from './json.ts'
import {readJsonSchema} from './json-schema/read.ts'
import {validating} from './json-schema/validate.ts'
import {inTimeSlices} from './time-slices.ts'

/** True when `value` fits the JSON Schema. Throws for a schema that cannot be read, or that takes too much work. */
export async function fitsSchema(schema: JsonObject, value: JsonValue): Promise<boolean> {
  return (await inTimeSlices(validating(readJsonSchema(schema), value))).length === 0
}
