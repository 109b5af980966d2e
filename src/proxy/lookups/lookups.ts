import {LRUCache} from 'lru-cache'
import type {Seal} from '../../base/seal.ts'
import {knownKey} from '../../identity/api-keys.ts'
import {keyWords, openModelList, workspaceWords} from '../../identity/model-lists.ts'
import type {Policies} from '../../limits/policies.ts'
import {readPricingConfig} from '../../pricing/config.ts'
import type {Price} from '../../pricing/price.ts'
import {HOST_SETTINGS} from '../../providers/configurations.ts'
import {optionsOfSettings} from '../../providers/options.ts'
import {placedSettings} from '../../providers/places.ts'
import {findKeyByHash} from '../../store/api-keys.ts'
import {defaultConfigId, findConfigForCall, openConfig} from '../../store/configs.ts'
import type {Db} from '../../store/database.ts'
import {integrationModels, openCredentials} from '../../store/integrations.ts'
import {findPartialForCall, findPromptForCall} from '../../store/prompts-for-call.ts'
import {findProviderForCall, type ProviderForCall} from '../../store/providers.ts'
import {type Remembered, RowCache} from '../../store/remembered.ts'
import {openPlace} from '../../store/row-places.ts'
import type {IntegrationModelsTable} from '../../store/tables/catalog.ts'
import {findWorkspace} from '../../store/workspaces.ts'
import type {Caller, EntityLimit, KnownCaller, ManagedProvider, ModelPlace, ProviderModels, Uses} from '../services.ts'
import {readListedProviders} from './listed-providers.ts'
import {type FoundPolicies, readPolicies} from './policies.ts'

/** The rows that calls need of the store, remembered until a change is announced. Everything is bounded. */
export interface Lookups
  extends Uses<
    'findCaller' | 'findProvider' | 'findPolicies' | 'findConfig' | 'findPrompt' | 'findPartial' | 'listedProviders'
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
const KNOWN_WORKSPACES = 2_000
/** Of all workspaces whose lists are remembered together. */
const KNOWN_MODELS = 200_000
/**
 * Stands for the configs of a workspace among the rows of an entry: one that becomes the default, or has the slug that
 * a policy names, has an id that nothing held knows.
 */
const ANY_CONFIG = 'any config'
/** Few and short-lived, so that guesses neither fill the memory nor keep a new key out (core rule 22). */
const UNKNOWN_KEYS = {max: 1000, ttl: 2000}

export function createLookups({
  db,
  seal,
  has_policies,
  kind,
  pricedModels,
  revocations = ALWAYS,
}: DirectoryOptions): Lookups {
  const callers = new RowCache<KnownCaller>({max: KNOWN_KEYS})
  const unknown = new LRUCache<string, true>(UNKNOWN_KEYS)
  const loading = new Map<string, Promise<Policies | null>>()
  const policies = new RowCache<FoundPolicies>({max: KNOWN_WORKSPACES})
  const listed = new RowCache<readonly ProviderModels[]>({
    maxSize: KNOWN_MODELS,
    sizeCalculation: providers => providers.reduce((sum, {models}) => sum + models.length, 1 + providers.length),
  })

  const loadCaller = async (key_hash: string): Promise<KnownCaller | null> => {
    const born = callers.generation
    const found = await readCaller(db, key_hash)
    if (found) callers.set(key_hash, found.known, {born, rows: found.rows})
    else if (born === callers.generation) unknown.set(key_hash, true)
    return found ? found.known : null
  }

  const remembered = (key_hash: string) =>
    callers.get(key_hash) ?? (unknown.has(key_hash) ? null : loadCaller(key_hash))

  const loadListed = async (workspace_id: string): Promise<readonly ProviderModels[]> => {
    const born = listed.generation
    const providers = await readListedProviders({db, seal, kind, modelsOf: pricedModels}, workspace_id)
    listed.set(workspace_id, providers, {born, rows: []})
    return providers
  }

  const loadPolicies = async (workspace_id: string): Promise<Policies | null> => {
    const born = policies.generation
    try {
      const found = await readPolicies(db, workspace_id)
      policies.set(workspace_id, found, {born, rows: found.names_configs ? [ANY_CONFIG] : []})
      return found.policies
    } finally {
      loading.delete(workspace_id)
    }
  }
  /** Read once, however many calls wait for them. */
  const loadOnce = (workspace_id: string): Promise<Policies | null> => {
    const load = loading.get(workspace_id) ?? loadPolicies(workspace_id)
    loading.set(workspace_id, load)
    return load
  }

  return {
    findPolicies(workspace_id) {
      if (!has_policies) return null
      const found = policies.get(workspace_id)
      return found ? found.policies : loadOnce(workspace_id)
    },
    findCaller: key_hash =>
      revocations.holds ? remembered(key_hash) : revocations.ready().then(() => remembered(key_hash)),
    findProvider: (workspace_id, slug) => readProvider(db, seal, workspace_id, slug),
    async findConfig(workspace_id, slug) {
      const row = await findConfigForCall(db, workspace_id, slug)
      return row ? {id: row.id, version_id: row.version_id, config: openConfig(seal, row)} : null
    },
    findPrompt: (caller, named, meant) => findPromptForCall(db, caller, named, meant),
    findPartial: (caller, ref) => findPartialForCall(db, caller, ref),
    listedProviders: workspace_id => listed.get(workspace_id) ?? loadListed(workspace_id),
    remembered: [
      {
        of: new Set(['api_keys', 'workspaces']),
        forget(ids) {
          unknown.clear() // the id of a new key is unknown here
          callers.forget(ids)
        },
      },
      {of: new Set(['configs']), forget: () => callers.forget([ANY_CONFIG])},
      {
        // as a whole: a new policy may be of any workspace, and a reset has no id
        of: new Set(['policies', 'policy_resets']),
        forget() {
          loading.clear()
          policies.forget(null)
        },
      },
      {
        of: new Set(['configs']),
        forget() {
          loading.clear()
          policies.forget([ANY_CONFIG])
        },
      },
      {
        // as a whole: a new provider may be of any workspace, and what an integration says of models has no id
        of: new Set(['providers', 'integrations', 'integration_models', 'integration_workspaces']),
        forget: () => listed.forget(null),
      },
    ],
  }
}

interface FoundCaller {
  readonly known: KnownCaller
  /** Ids of the rows that it is made of. */
  readonly rows: readonly string[]
}

async function readCaller(db: Db, key_hash: string): Promise<FoundCaller | null> {
  const row = await findKeyByHash(db, key_hash)
  if (!row) return null
  const known = knownKey(row)
  if (row.workspace_id === null) return {known: {...known, caller: null}, rows: [row.id]}
  const workspace = await findWorkspace(db, row.organisation_id, row.workspace_id)
  const key_defaults = parsed(row.defaults)
  const workspace_defaults = parsed(workspace?.defaults ?? null)
  const of = {organisation_id: row.organisation_id, workspace_id: row.workspace_id}
  const limits: EntityLimit[] = [
    {
      ...of,
      entity: 'key' as const,
      id: row.id,
      name: row.name,
      usage: row.usage_limits,
      rates: row.rate_limits,
      last_reset_at: row.last_reset_at,
    },
    {
      ...of,
      entity: 'workspace' as const,
      id: of.workspace_id,
      name: workspace?.name ?? '',
      usage: workspace?.usage_limits ?? null,
      rates: workspace?.rate_limits ?? null,
      last_reset_at: null,
    },
  ].filter(({usage, rates}) => usage !== null || rates !== null)
  const lists = [
    openModelList(keyWords(row.name), row.models),
    openModelList(workspaceWords(workspace?.name ?? ''), workspace?.models),
  ]
  const models = lists.filter(list => list !== null)
  const own_config_id = textOf(key_defaults.config_id) ?? textOf(workspace_defaults.config_id)
  const caller: Caller = {
    kind: 'api_key',
    id: row.id,
    ...of,
    workspace_slug: workspace?.slug ?? '',
    user_id: row.user_id,
    metadata: {...texts(key_defaults.metadata), ...texts(workspace_defaults.metadata)},
    config_id: own_config_id ?? (await defaultConfigId(db, of.workspace_id)),
    allow_config_override: key_defaults.allow_config_override !== false,
    limits,
    models: models.length ? models : null,
  }
  return {known: {...known, caller}, rows: [row.id, of.workspace_id, ...(own_config_id === null ? [ANY_CONFIG] : [])]}
}

async function readProvider(db: Db, seal: Seal, workspace_id: string, slug: string): Promise<ManagedProvider | null> {
  const row = await findProviderForCall(db, workspace_id, slug)
  if (!row?.integration.enabled || row.integration.status !== 'active') return null
  const {integration} = row
  const own = openCredentials(seal, integration)
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
  const models = await integrationModels(db, integration.id)
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
  const of = {organisation_id: row.organisation_id, workspace_id}
  const limits: EntityLimit[] = [
    {
      ...of,
      entity: 'integration' as const,
      id: `${integration.id}/${workspace_id}`,
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
    is_mapped: integration.secret_mappings !== '[]',
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

function parsed(column: string | null): Record<string, unknown> {
  return column === null ? {} : (JSON.parse(column) as Record<string, unknown>)
}

function texts(value: unknown): Record<string, string> {
  if (!value || typeof value !== 'object') return {}
  return Object.fromEntries(
    Object.entries(value).filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
  )
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
