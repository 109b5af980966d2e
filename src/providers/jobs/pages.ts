import type {OperationInput} from '../operation.ts'
import {type Json, UnsupportedInputFault} from '../translation.ts'

/** One page of a provider's list; `next` is the token of the next page, null at the end. */
export interface ProviderPage<Item> {
  readonly items: readonly Item[]
  readonly next: string | null
}

const USUAL = 20
const MOST = 100
/** The most pages that are read to find the id that a client continues after. */
const MAX_PAGES = 50

/**
 * A list as OpenAI's clients read it: `limit` objects behind the one whose id is `after`. Providers page by tokens of
 * their own, so the list is followed from its beginning until that id is found.
 */
export async function listed(
  {query}: OperationInput,
  page: (token: string | null, size: number) => Promise<ProviderPage<Json>>,
  limits: {readonly most?: number} = {},
): Promise<{readonly json: Json}> {
  const limit = limitIn(query, limits.most ?? MOST)
  const after = query.get('after')
  const data: Json[] = []
  let is_behind = after === null
  let token: string | null = null
  for (let pages = 0; pages < MAX_PAGES && data.length < limit; pages++) {
    const {items, next}: ProviderPage<Json> = await page(token, is_behind ? limit : MOST)
    for (const item of items) {
      if (is_behind) data.push(item)
      else is_behind = item.id === after
    }
    token = next
    if (token === null) break
  }
  if (!is_behind) throw new UnsupportedInputFault('after', 'no object of this list has this id')
  const has_more = data.length > limit || token !== null
  const kept = data.slice(0, limit)
  return {json: {object: 'list', data: kept, first_id: kept[0]?.id ?? null, last_id: kept.at(-1)?.id ?? null, has_more}}
}

function limitIn(query: URLSearchParams, most: number): number {
  const limit = query.get('limit')
  if (limit === null) return USUAL
  if (!/^[1-9]\d{0,4}$/.test(limit)) throw new UnsupportedInputFault('limit', 'expected a number of at least 1')
  return Math.min(Number(limit), most)
}
