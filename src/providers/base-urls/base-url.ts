import {uriPart} from '../../base/uri-part.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import type {RequestAuth} from '../auth/login.ts'
import type {OutgoingHeaders} from '../headers.ts'
import {checkOptions, type Options} from '../options.ts'
import type {EndpointRequest, Provider} from '../provider.ts'

/** The provider that serves this model with these options: the row itself, or its variant. */
export function variantOf(provider: Provider, model: string, options: Options): Provider {
  return provider.variant?.(model, options) ?? provider
}

/**
 * The provider's own base URL; null when the caller must name a host. `is_named` tells that an option is that URL, so
 * that it is judged as a custom host is. Throws `MissingOptionFault` and `WrongOptionFault`, which reach the client as
 * 400.
 */
export function baseUrl(
  provider: Provider,
  options: Options,
  reach?: EndpointRequest,
): {readonly url: string; readonly is_named: boolean} | null {
  checkOptions(options)
  const {baseUrlOf: place, base_url, host_option} = provider
  const url = place?.(options, reach) ?? base_url
  return url === null ? null : {url, is_named: host_option !== undefined && Boolean(options[host_option])}
}

/** Path and query below the base URL for a body that goes as it came. */
export function pathFor(provider: Provider, reach: EndpointRequest, options: Options): string {
  const {endpoint, path, query} = reach
  return provider.pathOf?.(reach, options) ?? (provider.paths?.[endpoint] ?? path) + query
}

/**
 * `path` without the part of it that repeats the end of the base's own path: clients that know their vendor write
 * `/openai/v1/…` below a base that has it, or `/v1/…` below one that ends so.
 */
export function withoutRepeat(base_path: string, path: string): string {
  for (const end of endsOf(base_path))
    if (path.startsWith(end)) return withoutRepeat(base_path, path.slice(end.length - 1))
  return path
}

/**
 * The ends of a base's path that a client may repeat, each with a slash behind it. Bases are few: they are worked out
 * once.
 */
const ends_by_base = new Map<string, readonly string[]>()
const MAX_BASES = 1_000

function endsOf(base_path: string): readonly string[] {
  const known = ends_by_base.get(base_path)
  if (known) return known
  const segments = base_path.split('/').filter(Boolean)
  const ends = segments.map((_, from) => `/${segments.slice(from).join('/')}`).filter(end => PREFIX.test(end))
  const made = ends.map(end => `${end}/`)
  if (ends_by_base.size < MAX_BASES) ends_by_base.set(base_path, made)
  return made
}

/**
 * The unified path that `path` is at a kind without deployments: clients made for Azure write the model as one, and
 * their version of the API (`/openai/deployments/MODEL/chat/completions?api-version=…`). Null for any other path, and
 * at kinds that have deployments.
 */
export function withoutDeployment({slug}: Provider, path: string): string | null {
  return HAS_DEPLOYMENTS.has(slug) ? null : (DEPLOYMENT.exec(path)?.[1] ?? null)
}
const HAS_DEPLOYMENTS: ReadonlySet<string> = new Set(['azure-openai', 'azure-ai'])
/** Names of models have slashes, which some of these clients leave as they are. */
const DEPLOYMENT =
  /^(?:\/openai\/deployments\/[^?]+?|\/deployments\/[^/?]+)(\/(?:chat\/completions|completions|embeddings|responses|images\/(?:generations|edits)|audio\/(?:speech|transcriptions|translations)))(?:\?api-version=[\w.-]*)?$/

/**
 * Routes of engines beside `/v1` (llama.cpp's server, Ollama, vLLM, SGLang, TGI, LM Studio, KoboldCpp): their own
 * operations, and their health.
 */
const BESIDE_V1 =
  /^\/(?:api|props|slots|metrics|health|ping|version|info|load|tokenize|detokenize|apply-template|infill|completion|embedding|generate|generate_stream|get_model_info|get_server_info|server_info|lora-adapters)(?:[/?]|$)/

/** The path of the base for `path`: that of an engine may be written with `/v1`, which its own routes do not have. */
export function baseFor({is_engine}: Provider, base_path: string, path: string): string {
  return is_engine && BESIDE_V1.test(path) ? base_path.replace(/\/v1$/, '') : base_path
}

/** Parts of a path that name no operation: versions, and `openai` before OpenAI's paths. */
const PREFIX = /^(?:\/[\w.-]+)*(?:\/v\d+(?:(?:alpha|beta)\d*)?|\/openai)$/

/** The headers every call carries. */
export function usualHeaders(provider: Provider, options: Options): OutgoingHeaders {
  return {...provider.headers, ...provider.headersOf?.(options)}
}

/** The login that the options choose; null where the key goes as `auth` says. */
export function loginOf({login}: Provider, options: Options): RequestAuth | null {
  return login?.chosen(options) ? login : null
}

/** True when an endpoint of the table takes calls of the provider's own kind. */
export function hasOperation({operations}: Provider, endpoint: {readonly name: EndpointName} | undefined): boolean {
  return endpoint !== undefined && operations?.endpoints[endpoint.name] !== undefined
}

/** True when a call without a key cannot be made. */
export function needsKey(provider: Provider, options: Options): boolean {
  const {auth} = provider
  return auth.required && !auth.carries?.(options) && loginOf(provider, options) === null
}

/** `?a=1` with `name=value` added, unless it names it already. */
export function withParameter(query: string, name: string, value: string): string {
  const has = query
    .slice(1)
    .split('&')
    .some(part => part.split('=', 1)[0] === name)
  return has ? query : `${query === '' ? '?' : `${query}&`}${name}=${uriPart(value)}`
}
