import type {Provider} from '../provider.ts'
import type {ModelLister} from './listed.ts'
import {openaiModels} from './listers.ts'

export type {ListedModel, ModelLister} from './listed.ts'

/** The function that fetches a provider's list; null where it has none. */
export function modelListerOf({models, dialect, endpoints, transport}: Provider): ModelLister | null {
  if (transport) return null // it answers in this process, in OpenAI's shape
  if (models) return models
  return dialect === 'openai' || endpoints === 'all' || endpoints.includes('listModels') ? openaiModels : null
}

/** Kinds that are whatever their host is. */
const ANY_HOST: ReadonlySet<string> = new Set(['openai', 'passthrough'])

/** True where only the host knows its models: an engine of one's own, or an own host that speaks OpenAI's words. */
export function knowsOwnModels({slug, is_engine}: Provider, custom_host: string | null): boolean {
  return custom_host !== null && (is_engine === true || ANY_HOST.has(slug))
}
