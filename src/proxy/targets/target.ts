import type {Destination} from '../../base/egress/target.ts'
import {Refusal} from '../../base/errors.ts'
import type {Edits} from '../../base/json.ts'
import {isShort, MAX_MODEL_BYTES} from '../../base/stored-text.ts'
import {baseUrl} from '../../providers/base-urls/base-url.ts'
import {type Options, optionIn, optionsFor, WrongOptionFault} from '../../providers/options.ts'
import type {EndpointRequest, OutgoingHeaders, Provider} from '../../providers/provider.ts'
import type {CacheRule, PlanTarget, TargetSpec} from '../../routing/plan.ts'
import type {FieldValues, MappedFields} from '../../secrets/port.ts'
import {asUntranslatable} from '../inbound/error-response.ts'
import type {InboundRequest} from '../inbound/request.ts'
import type {Caller, ManagedProvider, MappedCredentials, Uses} from '../services.ts'
import {resolveGuardrails, type TargetGuardrails} from './guardrails.ts'
import {placeOf, type TargetPlace, withoutPlace} from './place.ts'

/** The services that resolve a target. */
export type TargetServices = Uses<'destination' | 'findProvider' | 'guardrails' | 'kind' | 'option_defaults'>

/** The members of a request that choose its target. */
export interface TargetSelectors {
  readonly provider: string | undefined
  readonly virtual_key: string | undefined
  readonly config: string | undefined
  readonly custom_host: string | undefined
  /** The headers' options for a provider's place and login. */
  readonly options: Options
}

/**
 * One leaf of a plan as a place to ask, worked out once for all calls that say the same: what is left is the body and
 * the client's token.
 */
export interface Target {
  readonly provider: Provider
  readonly managed: ManagedProvider | null
  readonly config_id: string | null
  /** Null for a provider that answers in this process, and for one whose address depends on the request (`placed`). */
  readonly destination: Destination | null
  /** True when `destination` is a host that the caller, the config or the integration names. */
  readonly is_custom: boolean
  /** The provider's key, when it is ours to send; null: the client's own token. */
  readonly key: string | null
  /** Headers of the integration and the config, lower case. */
  readonly headers: Readonly<OutgoingHeaders>
  /** The owner of the credentials that are sent: the gateway's own identity is for those of an integration alone. */
  readonly credential_of: TargetPlace['credential_of']
  /** True where its host is one that the caller names. */
  readonly is_callers_host: boolean
  /** Headers that had no effect, as the client reads it. */
  readonly warning: string | null
  /** The config's changes to a JSON body; the model apart. */
  readonly params: Pick<TargetSpec, 'default_params' | 'override_params' | 'drop_params'>
  /** `override_params` as changes to the bytes. */
  readonly edits: Edits | null
  /** The model the config sets, without a provider's slug. */
  readonly model: string | null
  readonly request_timeout_ms: number | null
  readonly forward_headers: readonly string[]
  /** False when the node sets it so. */
  readonly strict: boolean
  readonly cache: CacheRule | null
  /** The guardrails of its requests and answers; null for none. */
  readonly guards: TargetGuardrails | null
  /** The options of the place: region, project, api version ... */
  readonly options: Readonly<Record<string, string>>
  readonly option_path: string
  /** True when its provider is the one that the call names, whose token is then the call's own. */
  readonly is_passthrough: boolean
  /** Its fields that come from secret references; null where none do. */
  readonly secrets: TargetSecrets | null
}

/** The fields of a target that come from secret references. */
export interface TargetSecrets {
  readonly fields: MappedFields
  /** Those that the target holds; null: it is not open, and nothing may leave for it (`openTarget`). */
  readonly values: FieldValues | null
  /** The same target with these. */
  fill(values: FieldValues): Target
}

/**
 * Works out the target of a leaf. `slug` is the `@slug` of the body's model, when it has one (docs/configs.md,
 * Targets).
 */
export async function resolveTarget(
  leaf: PlanTarget,
  selectors: TargetSelectors,
  slug: string | null,
  {
    incoming,
    caller,
    config_id,
    services,
  }: {incoming: InboundRequest; caller: Caller; config_id: string | null; services: TargetServices},
): Promise<Target> {
  const {target} = leaf
  const {prefix} = incoming.own
  const {model: set_model, ...set_params} = target.override_params ?? {}
  const set_slug = typeof set_model === 'string' ? splitModel(set_model)[0] : null
  const header = nameOf(selectors.provider) ?? nameOf(selectors.virtual_key, true)
  const scopes = header && (set_slug ?? slug) !== null ? await scopesOf(header, caller, services) : NO_SCOPES
  const slugOf = (found: string | null) => (found !== null && scopes.includes(found) ? null : nameOf(found, true))
  const name =
    (target.passthrough ? passedThrough(selectors, slugOf(slug)) : null) ??
    nameOf(target.virtual_key, true) ??
    nameOf(target.provider) ??
    slugOf(set_slug) ??
    slugOf(slug) ??
    header
  if (!name) throw new Refusal('provider.missing', {prefix})
  const managed = name.managed ? await findManaged(name.slug, caller, services) : null
  const provider = kindOf(managed?.kind ?? name.slug, services)
  const guards = await resolveGuardrails(target, leaf.path, caller, services)
  const beside: BesideManaged = {leaf, selectors, provider, params: set_params, set_model, config_id, guards, services}
  return managed?.mapped ? unopened(managed, managed.mapped, beside) : targetAt(managed, beside)
}

/** All that makes a target but the integration. */
interface BesideManaged {
  readonly leaf: PlanTarget
  readonly selectors: TargetSelectors
  readonly provider: Provider
  readonly params: Readonly<Record<string, unknown>>
  readonly set_model: unknown
  readonly config_id: string | null
  readonly guards: TargetGuardrails | null
  readonly services: TargetServices
}

/** A target whose fields are yet to be filled: each value makes another, place and login included. */
function unopened(managed: ManagedProvider, {fields, fill}: MappedCredentials, beside: BesideManaged): Target {
  const filled = (values: FieldValues): Target => ({
    ...targetAt(fill(values), beside),
    secrets: {fields, values, fill: filled},
  })
  return {...targetAt(managed, beside), secrets: {fields, values: null, fill: filled}}
}

function targetAt(managed: ManagedProvider | null, beside: BesideManaged): Target {
  const {leaf, selectors, provider, set_model, config_id, guards, services} = beside
  const {target} = leaf
  const place = placeOf(managed, {
    kind: provider.slug,
    node: target,
    header_host: selectors.custom_host,
    header_options: selectors.options,
    defaults: services.option_defaults,
    is_saved: config_id !== null,
  })
  const {custom_host, options} = place
  checkedOptions(provider, options)
  const params = managed ? withoutPlace(beside.params, provider.slug) : beside.params
  const edits = Object.entries(params).map(([key, value]) => [key, JSON.stringify(value)] as const)
  return {
    provider,
    managed,
    config_id,
    destination: provider.transport ? null : destinationOf(place, managed, provider, services),
    is_custom: custom_host !== undefined,
    key: place.key,
    headers: place.headers,
    credential_of: place.credential_of,
    is_callers_host: place.is_callers_host,
    warning: place.warning,
    params: {...pick(target), ...(edits.length ? {override_params: params} : {})},
    edits: edits.length ? new Map(edits) : null,
    model: typeof set_model === 'string' ? modelFor(provider, set_model) : null,
    request_timeout_ms: target.request_timeout ?? null,
    forward_headers: target.forward_headers ?? [],
    strict: target.strict_open_ai_compliance !== false,
    cache: target.cache ?? null,
    guards,
    options,
    option_path: leaf.path,
    is_passthrough: target.passthrough === true,
    secrets: null,
  }
}

/** Refuses a managed provider that is past its time. Judged on every call, whatever is remembered. */
export function checkManaged({managed}: Target, now_ms: number): void {
  if (managed?.expires_at && Date.parse(managed.expires_at) <= now_ms) {
    throw new Refusal('provider.expired', {provider: managed.slug, expires_at: managed.expires_at})
  }
}

/** An option that a provider cannot take is refused at every entrance, also when the provider itself is not called. */
function checkedOptions({slug}: Provider, options: Options) {
  try {
    for (const name of optionsFor(slug)) optionIn(options, name)
  } catch (fault) {
    throw fault instanceof WrongOptionFault ? asUntranslatable(fault, slug) : fault
  }
}

function pick({default_params, drop_params}: TargetSpec): Pick<TargetSpec, 'default_params' | 'drop_params'> {
  return {...(default_params && {default_params}), ...(drop_params?.length && {drop_params})}
}

async function findManaged(slug: string, caller: Caller, services: TargetServices): Promise<ManagedProvider> {
  const managed = await services.findProvider(caller.workspace_id, slug)
  if (!managed)
    throw new Refusal('provider.unknown', {
      provider: `@${slug.slice(0, 255)}`,
      hint: ' List those of this workspace with GET /v1/providers.',
    })
  return managed
}

function kindOf(slug: string, services: TargetServices): Provider {
  const provider = services.kind(slug)
  if (!provider)
    throw new Refusal('provider.unknown', {
      provider: slug.slice(0, 255),
      hint: ` A managed provider is named @${slug.slice(0, 64)}.`,
    })
  if (!provider.available) throw new Refusal('provider.unavailable', {provider: slug})
  return provider
}

function destinationOf(
  {custom_host, is_callers_host}: TargetPlace,
  managed: ManagedProvider | null,
  provider: Provider,
  services: Uses<'destination'>,
): Destination | null {
  if (!custom_host)
    return provider.base_url && !provider.baseUrlOf && !provider.variant
      ? services.destination(provider.base_url, 'builtin')
      : null
  const trusted =
    managed?.trusts_host && managed.custom_host && !is_callers_host
      ? {integration_id: managed.integration_id, host: managed.custom_host}
      : 'caller'
  return services.destination(custom_host, trusted)
}

/** The destination of a call whose place depends on its options, model or endpoint. */
export function resolveDestination(
  {managed, options}: Target,
  provider: Provider,
  reach: EndpointRequest,
  prefix: string,
  services: Uses<'destination'>,
): Destination {
  const found = baseUrl(provider, options, reach)
  if (!found) {
    const remedy = managed
      ? `Set custom_host in the integration of @${managed.slug}.`
      : `Give one as ${prefix}-custom-host.`
    throw new Refusal('provider.no_host', {provider: provider.slug, remedy})
  }
  if (!found.is_named) return services.destination(found.url, 'builtin')
  return services.destination(
    found.url,
    managed?.trusts_host ? {integration_id: managed.integration_id, host: found.url} : 'caller',
  )
}

/** The provider is the one that the call names: its header, else the slug of its model (docs/configs.md, Keys). */
function passedThrough({provider}: TargetSelectors, of_model: ProviderName | null): ProviderName | null {
  return (provider?.[0] === '@' ? nameOf(provider) : null) ?? of_model
}

interface ProviderName {
  readonly slug: string
  readonly managed: boolean
}

const NO_SCOPES: readonly string[] = []

/** The prefixes of model names there: no slug, when the provider is named beside the model. */
async function scopesOf(
  {slug, managed}: ProviderName,
  {workspace_id}: Caller,
  services: TargetServices,
): Promise<readonly string[]> {
  const kind = managed ? (await services.findProvider(workspace_id, slug))?.kind : slug
  return (kind === undefined ? undefined : services.kind(kind)?.model_scopes) ?? NO_SCOPES
}

function nameOf(name: string | null | undefined, managed = false): ProviderName | null {
  if (!name) return null
  return name[0] === '@' ? {slug: name.slice(1), managed: true} : {slug: name, managed}
}

/**
 * `@slug/rest` apart at the first slash; the rest may hold slashes and colons. No slug without the at sign. Refuses
 * (400) a model that is too long to be one: every way to a target leads by here.
 */
export function splitModel(text: string): [slug: string | null, model: string] {
  const slash = text[0] === '@' ? text.indexOf('/') : -1
  const model = slash < 0 ? text : text.slice(slash + 1)
  if (!isShort(model, MAX_MODEL_BYTES)) throw new Refusal('model.too_long', {limit_bytes: MAX_MODEL_BYTES})
  return slash < 0 ? [null, model] : [text.slice(1, slash), model]
}

/**
 * The model that `said` names at a provider: without the slug in front, unless the slug is part of the model's own name
 * there.
 */
export function modelFor({model_scopes}: Provider, text: string): string {
  const [slug, model] = splitModel(text)
  return slug !== null && model_scopes?.includes(slug) ? text : model
}
