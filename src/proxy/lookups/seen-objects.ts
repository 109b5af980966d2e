import {LRUCache} from 'lru-cache'
import type {ObjectModels, ObjectPlace} from '../services.ts'

const MOST = 50_000

/**
 * Objects at providers that were made through this process, and the models that they run: files of batches, assistants,
 * their runs. The oldest are forgotten first; what is not known is not run under a list of models.
 */
export class SeenObjects implements ObjectModels {
  readonly #models = new LRUCache<string, readonly string[]>({max: MOST})

  note(workspace_id: string, place: ObjectPlace, id: string, models: readonly string[]) {
    this.#models.set(keyOf(workspace_id, place, id), models)
  }

  modelsOf(workspace_id: string, place: ObjectPlace, id: string): readonly string[] | undefined {
    return this.#models.get(keyOf(workspace_id, place, id))
  }
}

/** Names an object: ids are a provider's own, and two places may give the same. */
export function keyOf(
  workspace_id: string,
  {managed, provider, destination, options}: ObjectPlace,
  id: string,
): string {
  const {origin = '', basePath = ''} = destination ?? {}
  return [workspace_id, managed?.id ?? provider.slug, origin + basePath, JSON.stringify(options), id].join('\n')
}
