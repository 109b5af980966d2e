import type {EndpointName} from '../../schema/endpoints.ts'
import {bearer} from '../auth.ts'
import {openaiOperations} from '../openai/file-operations.ts'
import type {Provider} from '../provider.ts'

export type Offer = readonly EndpointName[] | 'all'
export type More = Partial<Omit<Provider, 'slug' | 'name' | 'base_url'>>

/** A provider whose wire is OpenAI's. */
export function compatibleRow(
  slug: string,
  name: string,
  base_url: string | null,
  endpoints: Offer,
  more: More = {},
): Provider {
  const own: More = endpoints === 'all' || endpoints.includes('retrieveBatch') ? {operations: openaiOperations} : {}
  return {
    slug,
    name,
    base_url,
    endpoints,
    dialect: 'openai',
    available: true,
    auth: bearer,
    stream_usage: false,
    ...own,
    ...more,
  }
}

/** The row of a provider with an API of its own. */
export function nativeRow(slug: string, name: string, base_url: string | null, more: More = {}): Provider {
  return {
    slug,
    name,
    base_url,
    dialect: 'native',
    available: true,
    auth: bearer,
    endpoints: [],
    stream_usage: false,
    ...more,
  }
}
