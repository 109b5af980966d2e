import {LRUCache} from 'lru-cache'

const MOST = 10_000

/**
 * The ids of streamed runs whose turns a provider keeps. A stream names its response before its last turn begins, while
 * the provider knows the whole conversation by the id of that last turn alone. A later request that continues from the
 * first id continues from the last one. A restart forgets them: the provider then says which output it misses.
 */
const last_ids = new LRUCache<string, string>({max: MOST})

export function noteLastId(workspace_id: string, first_id: unknown, last_id: unknown): void {
  if (typeof first_id !== 'string' || typeof last_id !== 'string' || first_id === last_id) return
  last_ids.set(`${workspace_id} ${first_id}`, last_id)
}

/** The id that the provider knows the end of a run by; `id` itself where it was no run. */
export function lastIdOf(workspace_id: string, id: string): string {
  return last_ids.get(`${workspace_id} ${id}`) ?? id
}
