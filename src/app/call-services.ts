import {join} from 'node:path'
import {OPERATIONS} from '../admin/registry.ts'
import {after, soon} from '../base/delay.ts'
import {readBaseUrl} from '../base/egress/base-url.ts'
import {credentialFetch} from '../base/egress/credentials.ts'
import {systemLookup} from '../base/egress/lookup.ts'
import type {Egress} from '../base/egress/pools.ts'
import type {Log} from '../base/log.ts'
import {version} from '../base/runtime.ts'
import type {Seal} from '../base/seal.ts'
import {createFlights} from '../cache/coalesce.ts'
import type {SemanticCache} from '../cache/semantic/semantic-cache.ts'
import {checkMemory} from '../guardrails/check-services.ts'
import type {Limits} from '../limits/index.ts'
import type {Cache} from '../ports/cache/index.ts'
import {bundledModels} from '../pricing/catalogue.ts'
import {cost} from '../pricing/cost.ts'
import type {PriceCache} from '../pricing/price-cache.ts'
import {type Logins, openLogins} from '../providers/auth/login.ts'
import {find as findKind} from '../providers/registry.ts'
import {openGuards} from '../proxy/lookups/guardrails.ts'
import {KeptJudgements} from '../proxy/lookups/judged-files.ts'
import type {Lookups} from '../proxy/lookups/lookups.ts'
import {SeenObjects} from '../proxy/lookups/seen-objects.ts'
import type {CallMetrics, ProxyServices} from '../proxy/services.ts'
import type {Circuits} from '../routing/breaker.ts'
import {createStickyMemory} from '../routing/choose.ts'
import type {Settings} from '../settings/index.ts'
import type {DataDir} from '../store/data-dir.ts'
import type {Store} from '../store/database.ts'
import {LocalFileStore} from '../store/local-file-store.ts'
import type {Records} from '../workers/records.ts'
import {cloudIdentity, credentialOrigins, placeDefaults} from './cloud-identity.ts'
import {deferredBook} from './deferred-charges.ts'
import type {SecretManagers} from './secrets.ts'
import {administeredBy, corsHeaders} from './server.ts'

/** The opened parts of a data plane that its calls use. */
export interface CallParts {
  readonly settings: Settings
  readonly directory: DataDir
  readonly store: Store
  readonly seal: Seal
  readonly log: Log
  readonly now: () => number
  /** The clock of the machine, by which others judge signatures and tokens. */
  readonly wall: () => number
  /** Measures durations in milliseconds; it is never set. */
  readonly steady: () => number
  readonly memory: PriceCache
  readonly records: Records
  readonly limits: Limits
  readonly metrics: CallMetrics
  readonly known: Lookups
  readonly egress: Egress
  readonly cache: Cache
  readonly circuits: Circuits
  /** Opens the semantic cache, once. */
  readonly semantic: (logins: Logins) => Promise<SemanticCache>
  readonly secrets: SecretManagers
}

/** The whole set of services of calls. */
export function callServices({
  settings,
  directory,
  store,
  seal,
  log,
  now,
  wall,
  steady,
  memory,
  records,
  limits,
  metrics,
  known,
  egress,
  cache,
  circuits,
  semantic,
  secrets,
}: CallParts): ProxyServices {
  const logins = openLogins({
    fetch: credentialFetch(egress, credentialOrigins(settings)),
    now_ms: wall,
    identity: cloudIdentity(settings),
    aws_domain: settings.aws_endpoint_domain,
    azure_authority: settings.azure_authority_host,
  })
  return {
    settings,
    version,
    log,
    recorder: records.recorder,
    takesCalls: () => records.takesCalls(),
    prices: {
      find: (provider, model, at_ms) => memory.find(provider, model, at_ms),
      cost: (usage, price, at_ms) => cost(usage, price, {at: at_ms}),
      charges: provider => memory.charges(provider),
    },
    limits,
    metrics,
    findCaller: known.findCaller,
    findCallerByCredential: known.findCallerByCredential,
    findProvider: known.findProvider,
    findPolicies: known.findPolicies,
    findConfig: known.findConfig,
    findPrompt: known.findPrompt,
    findPartial: known.findPartial,
    listedProviders: known.listedProviders,
    pricedModels: bundledModels,
    kind: findKind,
    destination: (text, asker) =>
      egress.destination(
        text,
        typeof asker === 'string'
          ? {kind: asker}
          : {kind: 'integration', id: asker.integration_id, host: readBaseUrl(asker.host).hostname},
      ),
    logins,
    secrets,
    option_defaults: placeDefaults(settings),
    seal,
    deferred: deferredBook(store),
    fileStore: (workspace_id, provider) =>
      new LocalFileStore(join(directory.folder, 'files', workspace_id, provider), now),
    dispatcher: (destination, workspace_id) => egress.pool(destination, workspace_id),
    administered: administeredBy(OPERATIONS),
    cors: corsHeaders(settings),
    cache: {
      cache,
      flights: createFlights({after, onFault: fault => log.error({fault}, 'a call that waited for another failed')}),
      onFault: fault => log.error({fault}, 'the cache failed a call'),
    },
    semantic: () => semantic(logins),
    guardrails: settings.guardrails_enabled
      ? openGuards({db: store.db, seal, around: {egress, lookup: systemLookup, memory: checkMemory(), now_ms: wall}})
      : null,
    sticky: createStickyMemory(),
    seen: new SeenObjects(),
    judged: new KeptJudgements(store, now, log),
    circuits,
    random: Math.random,
    after,
    soon,
    steady,
    masked: new Set(settings.organisation_headers_to_mask),
    ignored: new Set(settings.custom_headers_to_ignore),
    now,
  }
}
