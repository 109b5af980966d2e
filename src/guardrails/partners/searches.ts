import {z} from 'zod'
import type {JsonValue} from '../json.ts'
import {prefixed} from '../prefix.ts'
import {secret} from './credentials.ts'
import {type PartnerCall, partner, type Ruling, unknownForm} from './partner.ts'
import {bearer, dig, entriesOf} from './reading.ts'

const domains = (what: string) => z.array(z.string().min(1).max(253)).max(100).default([]).describe(what)
const shape = {
  prefix: z.string().max(1000).default('\n<web_search_context>').describe('What stands before the results.'),
  suffix: z.string().max(1000).default('\n</web_search_context>').describe('What stands behind them.'),
  includeDomains: domains('Domains to search; empty: all.'),
  excludeDomains: domains('Domains not to search.'),
}
const LONGEST_QUERY = 2000
const LONGEST_TEXT = 20_000

/** Source: Exa API reference, Search. */
export const exa = partner({
  id: 'exa.online',
  title: 'Exa search',
  about: 'Searches the web for the last message and puts what is found before the system message. Always passes.',
  sides: ['input'],
  kind: 'mutator',
  credentials: {apiKey: secret('API key.')},
  shape: {...shape, numResults: z.int().min(1).max(25).default(10).describe('How many results.')},
  ask: ({texts, credentials, parameters: {numResults, includeDomains, excludeDomains}}) => ({
    url: 'https://api.exa.ai/search',
    headers: {'x-api-key': credentials.apiKey},
    body: {
      query: queryOf(texts),
      numResults,
      contents: {text: true},
      ...(includeDomains.length ? {includeDomains} : {}),
      ...(excludeDomains.length ? {excludeDomains} : {}),
    },
  }),
  read: ([reply], call) => augmented('Exa search', reply, 'text', call),
})

/** Source: Tavily API reference, Search. */
export const tavily = partner({
  id: 'tavily.online',
  title: 'Tavily search',
  about: 'Searches the web for the last message and puts what is found before the system message. Always passes.',
  sides: ['input'],
  kind: 'mutator',
  credentials: {apiKey: secret('API key.')},
  shape: {
    ...shape,
    maxResults: z.int().min(1).max(20).default(5).describe('How many results.'),
    searchDepth: z.enum(['basic', 'advanced']).default('basic').describe('How deep to search.'),
    topic: z.enum(['general', 'news', 'finance']).default('general').describe('Where to search.'),
  },
  ask: ({texts, credentials, parameters: {maxResults, searchDepth, topic, includeDomains, excludeDomains}}) => ({
    url: 'https://api.tavily.com/search',
    headers: bearer(credentials.apiKey),
    body: {
      query: queryOf(texts),
      max_results: maxResults,
      search_depth: searchDepth,
      topic,
      ...(includeDomains.length ? {include_domains: includeDomains} : {}),
      ...(excludeDomains.length ? {exclude_domains: excludeDomains} : {}),
    },
  }),
  read: ([reply], call) => augmented('Tavily search', reply, 'content', call),
})

function queryOf(texts: readonly string[]): string {
  return texts.join(' ').trim().slice(0, LONGEST_QUERY)
}

function augmented(
  who: string,
  reply: JsonValue | undefined,
  key: 'text' | 'content',
  {view, parameters}: PartnerCall<{readonly prefix: string; readonly suffix: string}, string>,
): Ruling {
  const results = dig(reply, 'results')
  if (!Array.isArray(results)) throw unknownForm(who)
  const found = entriesOf(results).flatMap((each, index) => {
    const [title, url, text] = [dig(each, 'title'), dig(each, 'url'), dig(each, key)]
    if (typeof url !== 'string' || typeof text !== 'string') return []
    return `[${index + 1}] "${typeof title === 'string' ? title : ''}"\nURL: ${url}\n${text.slice(0, LONGEST_TEXT)}\n`
  })
  if (!found.length) return {passes: true}
  const how = {
    prefix: `${parameters.prefix}\n${found.join('')}${parameters.suffix}\n`,
    applyToRole: 'system',
    addToExisting: true,
    onlyIfEmpty: false,
  } as const
  const is_added = prefixed(view, how) !== view.body
  return {passes: true, ...(is_added ? {transformed: {apply: now => now.withBody(prefixed(now, how))}} : {})}
}
