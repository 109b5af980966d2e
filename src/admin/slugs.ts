import {newSlug} from '../base/ids.ts'

const MOST_TRIES = 10

/** A generated slug (`<prefix><name>-<6 hex>`) that is not `taken`; chance is asked again when it is. */
export async function freeSlug(prefix: string, name: string, most: number, taken: (slug: string) => Promise<boolean>): Promise<string> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const slug = newSlug(prefix, name, most)
    if (!(await taken(slug))) return slug
  }
  throw new Error(`No free slug for the prefix ${prefix} in ${MOST_TRIES} tries.`)
}
