import {z} from 'zod'
import {check, excerpt, judged, not, type Verdict} from '../check.ts'
import {embeddedJson} from '../embedded-json.ts'
import type {JsonValue} from '../json.ts'
import {type JsonSchema, readJsonSchema, SchemaFault} from '../json-schema/read.ts'
import type {Complaint} from '../json-schema/rules.ts'
import {validating} from '../json-schema/validate.ts'
import {inTimeSlices, type SlicedWork} from '../time-slices.ts'

export const jsonSchema = check({
  id: 'default.jsonSchema',
  title: 'JSON Schema',
  about:
    'Passes if some JSON in the response matches the schema (draft 2020-12). JSON is read from blocks tagged `json`, or without such blocks from an object in the text.',
  sides: ['output'],
  shape: {
    schema: z
      .union([z.record(z.string(), z.unknown()), z.boolean()])
      .transform((schema, refused): JsonSchema => {
        try {
          return readJsonSchema(schema as JsonValue)
        } catch (fault) {
          if (!(fault instanceof SchemaFault)) throw fault
          refused.addIssue({code: 'custom', message: fault.message})
          return z.NEVER
        }
      })
      .describe('The schema.'),
    not,
  },
  run: ({text}, parameters) => inTimeSlices(judging(text, parameters)),
})

function* judging(
  text: string,
  {schema, not}: {readonly schema: JsonSchema; readonly not: boolean},
): SlicedWork<Verdict> {
  const candidates = yield* embeddedJson(text)
  const complaints: (readonly Complaint[])[] = []
  for (const each of candidates) complaints.push(yield* validating(schema, each))
  const fits = complaints.some(found => found.length === 0)
  const explanation = candidates.length
    ? `The JSON ${fits ? 'fits' : 'does not fit'} the schema.`
    : 'There is no JSON in the answer.'
  return judged(
    fits,
    {explanation, validationErrors: fits ? [] : (complaints[0] ?? []), not, textExcerpt: excerpt(text)},
    not,
  )
}
