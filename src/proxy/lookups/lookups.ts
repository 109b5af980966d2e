import {LRUCache} from 'lru-cache'
import {Refusal} from '../../base/errors.ts'
import {clientAddressOf} from '../../base/ingress/client-address.ts'
import type {ClientRequest} from '../../base/ingress/request.ts'
import type {Seal} from '../../base/seal.ts'
import {looksLikeToken} from '../../identity/jwt/read.ts'
import type {Tokens} from '../../identity/jwt/tokens.ts'
import type {SignInNeeds} from '../../identity/sign-in-needs.ts'
import {createPolicyLookup} from '../../limits/policy-lookup.ts'
import {readPricingConfig} from '../../pricing/config.ts'
import type {Price} from '../../pricing/price.ts'
import {HOST_SETTINGS} from '../../providers/configurations.ts'
import {optionsOfSettings} from '../../providers/options.ts'
import {placedSettings} from '../../providers/places.ts'
import type {KeptSecretMappings} from '../../schema/secret-mappings.ts'
import type {FieldValues} from '../../secrets/port.ts'
import {findConfigForCall, openConfig} from '../../store/configs.ts'
import type {Db} from '../../store/database.ts'
import {type IntegrationCredentials, integrationModels, openCredentials} from '../../store/integrations.ts'
import {findPartialForCall, findPromptForCall} from '../../store/prompts-for-call.ts'
import {findProviderForCall, type ProviderForCall} from '../../store/providers.ts'
import {type Remembered, RowCache} from '../../store/remembered.ts'
import {openPlace} from '../../store/row-places.ts'
import type {IntegrationModelsTable} from '../../store/tables/catalog.ts'
import type {EntityLimit, KnownCaller, ManagedProvider, ModelPlace, ProviderModels, Uses} from '../services.ts'
import {ANY_CONFIG, readCaller} from './callers.ts'
import {textOf, texts} from './columns.ts'
import {filledCredentials} from './filled-credentials.ts'
import {readListedProviders} from './listed-providers.ts'
import type {RememberedNames} from './names.ts'
import {createTokenCallers} from './token-callers.ts'

/** The rows that calls need of the store, remembered until a change is announced. Everything is bounded. */
export interface Lookups
  extends Uses<
    | 'findCaller'
    | 'findCallerByCredential'
    | 'findProvider'
    | 'findPolicies'
    | 'findConfig'
    | 'findPrompt'
    | 'findPartial'
    | 'listedProviders'
  > {
  /** Callers, policies and lists of models; all else is read each time. */
  readonly remembered: readonly Remembered[]
}

export interface DirectoryOptions {
  readonly db: Db
  readonly seal: Seal
  /** False: no policy is found. */
  readonly has_policies: boolean
  /**
   * Knows whether other processes revoked something: read for every caller, since nothing that is remembered is used
   * without one.
   */
  readonly revocations?: RevocationsKnown
  /** Judges tokens; without it none is taken. */
  readonly tokens?: Tokens
  /** TRUSTED_PROXIES: refused credentials are noted with the address of the client behind these. */
  readonly trusted_proxies?: readonly string[]
  /** Judges keys whose people have to sign in now and then; without it none of them is taken. */
  readonly sign_in_needs?: Pick<SignInNeeds, 'check'>
  /** Hears the names of rows that calls use. */
  readonly names?: Pick<RememberedNames, 'ofConfig' | 'ofKey'>
  readonly kind: Uses<'kind'>['kind']
  readonly pricedModels: Uses<'pricedModels'>['pricedModels']
}

export interface RevocationsKnown {
  readonly holds: boolean
  /** Resolves when they are known; refuses where they were not for too long. */
  ready(): Promise<void>
}

const ALWAYS: RevocationsKnown = {holds: true, ready: async () => undefined}

const KNOWN_KEYS = 20_000
/** Of all workspaces whose lists are remembered together. */
const KNOWN_MODELS = 200_000
/** Few and short-lived, so that guesses neither fill the memory nor keep a new key out (core rule 22). */
const UNKNOWN_KEYS = {max: 1000, ttl: 2000}

export function createLookups({
  db,
  seal,
  has_policies,
  kind,
  pricedModels,
  tokens,
  trusted_proxies = [],
  sign_in_needs,
  names,
  revocations = ALWAYS,
}: DirectoryOptions): Lookups {
  const by_token = tokens && createTokenCallers(db, tokens, trusted_proxies)
  const callers = new RowCache<KnownCaller>({max: KNOWN_KEYS})
  const unknown = new LRUCache<string, true>(UNKNOWN_KEYS)
  const policies = createPolicyLookup({db, target: 'llm', enabled: has_policies})
  const listed = new RowCache<readonly ProviderModels[]>({
    maxSize: KNOWN_MODELS,
    sizeCalculation: providers => providers.reduce((sum, {models}) => sum + models.length, 1 + providers.length),
  })

  const loadCaller = async (key_hash: string): Promise<KnownCaller | null> => {
    const born = callers.generation
    const read = await readCaller(db, key_hash)
    if (read) {
      callers.set(key_hash, read.found, {born, rows: read.rows})
      names?.ofKey(read.key.id, read.key.name)
    } else if (born === callers.generation) unknown.set(key_hash, true)
    return read ? read.found : null
  }

  const remembered = (key_hash: string) =>
    callers.get(key_hash) ?? by_token?.byHash(key_hash) ?? (unknown.has(key_hash) ? null : loadCaller(key_hash))

  const ofKey = (key_hash: string, client: ClientRequest) =>
    signedIn(remembered(key_hash), sign_in_needs, client, trusted_proxies)

  const ofToken = (token: string, client: ClientRequest): KnownCaller | Promise<KnownCaller> => {
    if (!by_token) throw new Refusal('token.disabled')
    return by_token.find(token, client)
  }

  const loadListed = async (workspace_id: string): Promise<readonly ProviderModels[]> => {
    const born = listed.generation
    const providers = await readListedProviders({db, seal, kind, modelsOf: pricedModels}, workspace_id)
    listed.set(workspace_id, providers, {born, rows: []})
    return providers
  }

  return {
    findPolicies: policies.find,
    findCaller: (key_hash, client) =>
      revocations.holds ? ofKey(key_hash, client) : revocations.ready().then(() => ofKey(key_hash, client)),
    findCallerByCredential(credential, client) {
      if (!looksLikeToken(credential)) return undefined
      return revocations.holds
        ? ofToken(credential, client)
        : revocations.ready().then(() => ofToken(credential, client))
    },
    findProvider: (workspace_id, slug) => readProvider(db, seal, workspace_id, slug),
    async findConfig(workspace_id, slug) {
      const row = await findConfigForCall(db, workspace_id, slug)
      if (row) names?.ofConfig(row.id, row.name)
      return row ? {id: row.id, version_id: row.version_id, config: openConfig(seal, row)} : null
    },
    findPrompt: (caller, named, meant) => findPromptForCall(db, caller, named, meant),
    findPartial: (caller, ref) => findPartialForCall(db, caller, ref),
    listedProviders: workspace_id => listed.get(workspace_id) ?? loadListed(workspace_id),
    remembered: [
      ...(by_token?.remembered ?? []),
      {
        // an organisation has the setting by which keys of people need a sign-in
        of: new Set(['api_keys', 'workspaces', 'organisations']),
        forget(ids) {
          unknown.clear() // the id of a new key is unknown here
          callers.forget(ids)
        },
      },
      {of: new Set(['configs']), forget: () => callers.forget([ANY_CONFIG])},
      ...policies.remembered,
      {
        // as a whole: a new provider may be of any workspace, and what an integration says of models has no id
        of: new Set(['providers', 'integrations', 'integration_models', 'integration_workspaces']),
        forget: () => listed.forget(null),
      },
    ],
  }
}

/** The caller, unless his key needs a sign-in. At once where that is known. */
function signedIn(
  found: KnownCaller | null | Promise<KnownCaller | null>,
  needs: DirectoryOptions['sign_in_needs'],
  client: ClientRequest,
  trusted_proxies: readonly string[],
): KnownCaller | null | Promise<KnownCaller | null> {
  if (found instanceof Promise) return found.then(known => signedIn(known, needs, client, trusted_proxies))
  if (!found?.needs_sign_in) return found
  if (!needs) throw new Error('keys that need a sign-in are not judged here')
  const checking = needs.check(found.needs_sign_in, clientAddressOf(client, trusted_proxies))
  return checking ? checking.then(() => found) : found
}

async function readProvider(db: Db, seal: Seal, workspace_id: string, slug: string): Promise<ManagedProvider | null> {
  const row = await findProviderForCall(db, workspace_id, slug)
  if (!row?.integration.enabled || row.integration.status !== 'active') return null
  const {integration} = row
  const own = openCredentials(seal, integration)
  const facts = factsOf(row, await integrationModels(db, integration.id), seal)
  if (integration.secret_mappings === '[]') return openedProvider(row, own, facts, seal)
  const fields = {
    organisation_id: integration.organisation_id,
    workspace_id,
    fields: JSON.parse(integration.secret_mappings) as KeptSecretMappings,
  }
  const fill = (values: FieldValues): ManagedProvider =>
    openedProvider(
      unplaced(row, fields.fields),
      filledCredentials(integration.ai_provider_id, own, values),
      facts,
      seal,
    )
  return {...openedProvider(row, own, facts, seal), mapped: {fields, fill}}
}

/** A host that a manager names is trusted no further than one that a caller names. */
function unplaced(row: ProviderForCall, fields: KeptSecretMappings): ProviderForCall {
  const names_host = fields.some(({target_field}) => HOST_SETTINGS.includes(target_field.replace(/^\w+\./, '')))
  return names_host ? {...row, integration: {...row.integration, trusts_host: false}} : row
}

type ProviderFacts = Pick<
  ManagedProvider,
  'expires_at' | 'models' | 'disabled' | 'prices' | 'base_models' | 'model_places' | 'limits'
>

/** A provider with the credentials of its integration, and the settings of the rows above that. */
function openedProvider(
  row: ProviderForCall,
  own: IntegrationCredentials,
  facts: ProviderFacts,
  seal: Seal,
): ManagedProvider {
  const {integration} = row
  const kind = integration.ai_provider_id
  const placed = openPlace(
    seal,
    {table: 'providers', row: row.id, organisation_id: row.organisation_id},
    row.model_config_sealed,
  )
  const {settings: configurations, keeps_credentials} = placedSettings(
    kind,
    own.configurations,
    placed,
    row.names_place,
  )
  return {
    id: row.id,
    slug: row.slug,
    integration_id: integration.id,
    kind,
    key: keeps_credentials ? own.key : null,
    custom_host: textOf(configurations.custom_host),
    trusts_host:
      keeps_credentials && (integration.trusts_host || (row.names_place && HOST_SETTINGS.some(name => name in placed))),
    headers: headersOf(configurations),
    options: optionsOfSettings(configurations),
    mapped: null,
    ...facts,
  }
}

function factsOf(row: ProviderForCall, models: readonly IntegrationModelsTable[], seal: Seal): ProviderFacts {
  const {integration} = row
  const enabled = models.filter(model => model.enabled === 1)
  const prices = new Map<string, Price>()
  const base_models = new Map<string, string>()
  for (const model of models) {
    if (model.base_model_slug !== null) base_models.set(model.slug, model.base_model_slug)
    if (model.pricing_config)
      prices.set(
        model.slug,
        readPricingConfig(JSON.parse(model.pricing_config), {
          provider: integration.ai_provider_id,
          model: model.slug,
          source: 'custom',
        }),
      )
  }
  const of = {organisation_id: row.organisation_id, workspace_id: row.workspace_id}
  const limits: EntityLimit[] = [
    {
      ...of,
      entity: 'integration' as const,
      id: `${integration.id}/${row.workspace_id}`,
      name: integration.slug,
      usage: integration.usage_limits,
      rates: integration.rate_limits,
      last_reset_at: integration.last_reset_at,
    },
    {
      ...of,
      entity: 'provider' as const,
      id: row.id,
      name: row.slug,
      usage: row.usage_limits,
      rates: row.rate_limits,
      last_reset_at: row.last_reset_at,
    },
  ].filter(({usage, rates}) => usage !== null || rates !== null)
  return {
    expires_at: row.status === 'expired' ? (row.expires_at ?? new Date(0).toISOString()) : row.expires_at,
    models: integration.allow_all_models ? null : new Set(enabled.map(model => model.slug)),
    disabled: new Set(models.filter(model => model.enabled === 0).map(model => model.slug)),
    prices,
    base_models,
    model_places: placesIn(models, row, seal),
    limits,
  }
}

/** The places of models that have a host or headers of their own; null for none. */
function placesIn(
  models: readonly IntegrationModelsTable[],
  {integration}: ProviderForCall,
  seal: Seal,
): ManagedProvider['model_places'] {
  const places = new Map<string, ModelPlace>()
  for (const {slug, configurations_sealed, names_place} of models) {
    if (configurations_sealed === null) continue
    const of = {
      table: 'integration_models',
      row: `${integration.id}/${slug}`,
      organisation_id: integration.organisation_id,
    } as const
    const placed = openPlace(seal, of, configurations_sealed)
    places.set(slug, {
      custom_host: textOf(placed.custom_host),
      headers: headersOf(placed),
      names_place: names_place === 1,
    })
  }
  return places.size ? places : null
}

function headersOf(configurations: Readonly<Record<string, unknown>>): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(texts(configurations.custom_headers))) headers[name.toLowerCase()] = value
  const organization = textOf(configurations.openai_organization)
  const project = textOf(configurations.openai_project)
  if (organization) headers['openai-organization'] = organization
  if (project) headers['openai-project'] = project
  return headers
}
