import {z} from 'zod'
import {check, excerpt, judged, not} from '../check.ts'
import {embeddedJson} from '../embedded-json.ts'
import type {Json} from '../json.ts'
import {type JsonSchema, readJsonSchema, SchemaFault} from '../json-schema/read.ts'
import {validate} from '../json-schema/validate.ts'

export const jsonSchema = check({
  id: 'default.jsonSchema',
  title: 'JSON Schema',
  about:
    'Passes when some JSON in the answer fits the schema (draft 2020-12): what a block tagged `json` holds, or without such blocks an object in the text.',
  sides: ['output'],
  shape: {
    schema: z
      .union([z.record(z.string(), z.unknown()), z.boolean()])
      .transform((schema, refused): JsonSchema => {
        try {
          return readJsonSchema(schema as Json)
        } catch (fault) {
          if (!(fault instanceof SchemaFault)) throw fault
          refused.addIssue({code: 'custom', message: fault.message})
          return z.NEVER
        }
      })
      .describe('The schema.'),
    not,
  },
  run({text}, {schema, not}) {
    const candidates = embeddedJson(text)
    const complaints = candidates.map(each => validate(schema, each))
    const fits = complaints.some(found => found.length === 0)
    const explanation = candidates.length ? `The JSON ${fits ? 'fits' : 'does not fit'} the schema.` : 'There is no JSON in the answer.'
    return judged(fits, {explanation, validationErrors: fits ? [] : (complaints[0] ?? []), not, textExcerpt: excerpt(text)}, not)
  },
})
