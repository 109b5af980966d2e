import {z} from 'zod'
import {Refusal} from '../base/errors.ts'

export const MAX_GLOBS = 500
const MAX_GLOB_BYTES = 255

const Glob = z
  .string()
  .min(1)
  .max(MAX_GLOB_BYTES)
  .refine(text => Buffer.byteLength(text) <= MAX_GLOB_BYTES, `must be ${MAX_GLOB_BYTES} bytes at most`)
  .refine(text => text === text.trim(), 'must not begin or end with a space')
  .refine(
    text => text[0] !== '@' || /[/*]/.test(text),
    'names a provider and no model: write @slug/* for all its models',
  )

/**
 * Which models may be called. `*` in a glob is any run of characters; one that begins with `@slug/` is of that provider
 * alone; deny wins.
 */
export const ModelListInput = z
  .strictObject({
    /** Without it every model that `deny` leaves. An empty list would say two things. */
    allow: z
      .array(Glob)
      .min(1, 'expected a glob at least: leave it out, or null, to allow all, and deny * to allow none')
      .max(MAX_GLOBS)
      .nullable()
      .optional(),
    deny: z.array(Glob).max(MAX_GLOBS).nullable().optional(),
  })
  .nullable()
export type ModelListInput = z.output<typeof ModelListInput>

export const ModelListView = z
  .strictObject({allow: z.array(z.string()).nullable(), deny: z.array(z.string())})
  .nullable()
export type ModelListView = z.output<typeof ModelListView>

/** A list as its column holds it: null where it refuses nothing. */
export function readModelList(column: string | null | undefined): ModelListView {
  return column == null ? null : (JSON.parse(column) as ModelListView)
}

/** The column text after a change: a member that is absent stays, one that is null goes, and so does the whole list. */
export function changedModelList(given: ModelListInput | undefined, before: string | null | undefined): string | null {
  if (given === undefined) return before ?? null
  if (given === null) return null
  const old = readModelList(before)
  const allow = given.allow === undefined ? (old?.allow ?? null) : given.allow
  const deny = given.deny === undefined ? (old?.deny ?? []) : (given.deny ?? [])
  const kept = {allow: allow && [...new Set(allow)], deny: [...new Set(deny)]}
  const globs = (kept.allow?.length ?? 0) + kept.deny.length
  if (globs > MAX_GLOBS)
    throw new Refusal('body.invalid', {
      issues: `models: has ${globs} globs in allow and deny together; at most ${MAX_GLOBS} can be kept.`,
    })
  return kept.allow || kept.deny.length ? JSON.stringify(kept) : null
}
