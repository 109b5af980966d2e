import {z} from 'zod'
import {parseJson} from '../base/json-object.ts'

const MOST = 50

/**
 * Tags of a row: at most 50, key → value. Keys begin with a letter or digit, so that a row can be found by them
 * (store/tags.ts).
 */
export const Tags = z
  .record(
    z
      .string()
      .max(128)
      .regex(
        /^[\p{L}\p{N}][\p{L}\p{N} ._:/@+-]*$/u,
        'a tag is named by letters, digits, spaces and . _ : / @ + -, a letter or digit first',
      ),
    z.string().max(255),
  )
  .refine(tags => Object.keys(tags).length <= MOST, `expected at most ${MOST} tags`)
export type Tags = z.output<typeof Tags>

/** JSON of an object, as far as a pattern says it in every language. */
export const JSON_OBJECT = '^\\s*\\{'

/** The `tags` of a list's query: a JSON object. Rows that carry all of its pairs are listed. */
export const TagsQuery = z
  .string()
  .max(16_384)
  .meta({pattern: JSON_OBJECT})
  .transform((text, issues): unknown => {
    try {
      return parseJson(text)
    } catch {
      issues.addIssue({code: 'custom', message: 'expected a JSON object of texts, for example {"team":"search"}'})
      return z.NEVER
    }
  })
  .pipe(Tags)
