import {LRUCache} from 'lru-cache'

/** The names of configs and API keys that calls used of late, as they were when a call last had them read. */
export interface RememberedNames {
  ofConfig(id: string, name: string): void
  ofKey(id: string, name: string): void
  config(id: string): string | undefined
  key(id: string): string | undefined
}

const MOST = 20_000

export function createNames(): RememberedNames {
  const configs = new LRUCache<string, string>({max: MOST})
  const keys = new LRUCache<string, string>({max: MOST})
  return {
    ofConfig: (id, name) => void configs.set(id, name),
    ofKey: (id, name) => void keys.set(id, name),
    config: id => configs.get(id),
    key: id => keys.get(id),
  }
}
