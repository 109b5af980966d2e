import {Refusal} from '../base/errors.ts'
import {newSlug} from '../base/ids.ts'

const MAX_TRIES = 10

/** A generated slug (`<prefix><name>-<6 hex>`) that is not `taken`; drawn again when it is. */
export async function freeSlug(
  prefix: string,
  name: string,
  most: number,
  taken: (slug: string) => Promise<boolean>,
): Promise<string> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const slug = newSlug(prefix, name, most)
    if (!(await taken(slug))) return slug
  }
  throw new Error(`No free slug for the prefix ${prefix} in ${MAX_TRIES} tries.`)
}

/**
 * The slug that was given, once it is free; one that only an archived row has is given up by that row first (`giveUp`).
 */
export async function givenSlug(slug: string, object: string, {giveUp, taken}: GivenSlug): Promise<string> {
  await giveUp(slug)
  if (await taken(slug)) throw new Refusal('row.exists', {object, field: 'slug', value: slug})
  return slug
}

interface GivenSlug {
  giveUp(slug: string): Promise<void>
  taken(slug: string): Promise<boolean>
}
