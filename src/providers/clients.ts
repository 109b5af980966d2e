import type {EndpointName} from '../schema/endpoints.ts'
import {fitting} from './fit/index.ts'
import {messagesClient, nativeMessages, withEffort, withoutOwnMembers} from './messages/index.ts'
import {openaiChat} from './openai/chat.ts'
import type {Provider} from './provider.ts'
import {responsesClient} from './responses/index.ts'
import type {ClientDialect, Dialect, Json, Translation} from './translation.ts'

/** Endpoints whose clients may talk to any provider that has chat. */
const CLIENTS: Readonly<Partial<Record<EndpointName, ClientDialect>>> = {
  messages: messagesClient,
  createModelResponse: responsesClient,
}

/** How an endpoint is translated for a provider with another dialect than the client's. */
export interface DialectPair {
  readonly translation: Translation
  /** The dialect of the provider's errors; null for OpenAI's. */
  readonly dialect: Dialect | null
  /** The client's words, where they are not OpenAI's. */
  readonly client: ClientDialect | null
}

/** Null where bodies pass as they are, or the endpoint is not had at all. */
export function translationFor(provider: Provider, endpoint: EndpointName): DialectPair | null {
  const dialect = provider.translations ?? null
  const own = dialect?.endpoints[endpoint]
  if (own) {
    const is_text = endpoint === 'chatComplete' || endpoint === 'complete'
    const translation = is_text ? fitting(own, dialect!.name) : own
    return {translation, dialect, client: MESSAGES.has(endpoint) ? nativeMessages : null}
  }
  if (supports(provider, endpoint)) return null
  const client = CLIENTS[endpoint]
  if (!client) return null
  const chat = dialect?.endpoints.chatComplete
  if (dialect && chat) {
    const read = dialect.reads_thinking ? chat : translationWithEffort(chat)
    return {translation: fitting(read, dialect.name), dialect, client}
  }
  return supports(provider, 'chatComplete') ? {translation: fitting(plainChat, null), dialect: null, client} : null
}

/**
 * True when a provider serves an endpoint with unchanged bodies. Serving all of OpenAI's endpoints does not include
 * those of other clients.
 */
export function supports({endpoints}: Provider, endpoint: EndpointName): boolean {
  return endpoints === 'all' ? !MESSAGES.has(endpoint) : endpoints.includes(endpoint)
}

/** True when the bodies of OpenAI's clients pass unchanged. */
export function isCompatible({dialect}: Provider): boolean {
  return dialect === 'openai'
}

/** Endpoints in Anthropic's words. */
const MESSAGES: ReadonlySet<EndpointName> = new Set(['messages', 'messagesCountTokens'])

/** Members that only our own dialects read are left out: others refuse what they do not know. */
const plainChat: Translation = {
  ...openaiChat,
  request: (request: Json, context) => openaiChat.request(withEffort(withoutOwnMembers(request)), context),
}

/** Each made once: every call needs its translation. */
const translations_with_effort = new WeakMap<Translation, Translation>()

function translationWithEffort(chat: Translation): Translation {
  const known = translations_with_effort.get(chat)
  if (known) return known
  const made: Translation = {...chat, request: (request, context) => chat.request(withEffort(request), context)}
  translations_with_effort.set(chat, made)
  return made
}
