import {type Logins, openLogins} from '../../../src/providers/auth/login.ts'
import {baseUrl, loginOf, pathFor, usualHeaders, variantOf} from '../../../src/providers/base-urls/base-url.ts'
import {translationFor} from '../../../src/providers/clients.ts'
import type {OutgoingHeaders} from '../../../src/providers/headers.ts'
import type {Options} from '../../../src/providers/options.ts'
import type {EndpointRequest} from '../../../src/providers/provider.ts'
import {find} from '../../../src/providers/registry.ts'
import type {Json, Translated, TranslationContext} from '../../../src/providers/translation.ts'
import type {EndpointName} from '../../../src/schema/endpoints.ts'
import {ENDPOINTS} from '../../../src/schema/endpoints.ts'

export interface Asked {
  readonly endpoint?: EndpointName
  /** For pass-through. */
  readonly path?: string
  readonly query?: string
  readonly method?: string
  readonly body?: Json | null
  readonly options?: Options
  readonly key?: string | null
  readonly custom_host?: string
  readonly logins?: Logins
}

export interface Sent {
  readonly method: string
  readonly url: string
  readonly headers: OutgoingHeaders
  readonly body: Json | Buffer | null
}

/** 2026-01-02 03:04:05 UTC. */
export const NOW_MS = Date.UTC(2026, 0, 2, 3, 4, 5)

export const noLogins = openLogins({
  now_ms: () => NOW_MS,
  fetch: async ({url}) => {
    throw new Error(`nothing is to be fetched here: ${url}`)
  },
})

/** What would leave for a provider: its row, its words, its place and its login put together, and no socket opened. */
export async function sent(slug: string, asked: Asked): Promise<Sent> {
  const {
    endpoint = 'chatComplete',
    options = {},
    key = 'k',
    body = null,
    query = '',
    custom_host,
    logins = noLogins,
  } = asked
  const model = typeof body?.model === 'string' ? body.model : ''
  const provider = variantOf(find(slug)!, model, options)
  const unified = ENDPOINTS.find(({name}) => name === endpoint)
  const reach: EndpointRequest = {
    endpoint,
    path: asked.path ?? unified!.path,
    query,
    model,
    is_stream: body?.stream === true,
    ...(custom_host === undefined ? {} : {base_path: new URL(custom_host).pathname.replace(/\/$/, '')}),
  }
  const words = endpoint === 'proxy' || body === null ? null : translationFor(provider, endpoint)
  const context: TranslationContext = {
    provider: slug,
    model,
    is_stream: reach.is_stream,
    strict: true,
    options,
    call_id: 'call',
    created_s: 1,
  }
  const translated = words?.translation.request(body!, context) ?? null
  const named = model === '' ? body : {...body, model: provider.modelIn?.(model, options) ?? model}
  const base = custom_host ?? baseUrl(provider, options, reach)?.url
  if (base === undefined) throw new Error(`${slug} has no place`)
  const path = translated ? translated.path : pathFor(provider, reach, options)
  const method = translated?.method ?? asked.method ?? unified?.method ?? 'POST'
  const said = translated ? translated.body : named
  const headers: OutgoingHeaders = {
    ...usualHeaders(provider, options),
    ...contentType(translated, said),
    ...translated?.headers,
  }
  const url = new URL(base + path)
  const login = loginOf(provider, options)
  if (!login) provider.auth.sign(headers, key, options)
  else {
    const bytes = said === null ? null : Buffer.isBuffer(said) ? said : Buffer.from(JSON.stringify(said))
    const request = {method, host: url.host, path: url.pathname + url.search, headers, body: bytes}
    Object.assign(headers, await login.authorize(request, key, options, logins))
  }
  return {method, url: base + path, headers, body: defined(said)}
}

function contentType(translated: Translated | null, body: unknown): OutgoingHeaders {
  return body === null || translated?.headers?.['content-type'] ? {} : {'content-type': 'application/json'}
}

/** As it is written out: members without a value are not. */
function defined(body: Json | Buffer | null): Json | Buffer | null {
  return body === null || Buffer.isBuffer(body) ? body : JSON.parse(JSON.stringify(body))
}
