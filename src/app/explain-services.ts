import {OPERATIONS} from '../admin/registry.ts'
import type {AdminServices} from '../admin/services.ts'
import {readBaseUrl} from '../base/egress/base-url.ts'
import {Destinations} from '../base/egress/target.ts'
import {readTrusted} from '../base/egress/trust.ts'
import type {Log} from '../base/log.ts'
import {version} from '../base/runtime.ts'
import type {Seal} from '../base/seal.ts'
import {cost} from '../pricing/cost.ts'
import type {Prices} from '../pricing/prices.ts'
import {openLogins} from '../providers/auth/login.ts'
import {find as findKind} from '../providers/registry.ts'
import {createExplainer} from '../proxy/explain/explain.ts'
import {openReplayer} from '../proxy/explain/replay.ts'
import {createLookups} from '../proxy/lookups/lookups.ts'
import {createCircuits} from '../routing/breaker.ts'
import type {FieldValues, MappedField, MappedFields} from '../secrets/port.ts'
import type {Settings} from '../settings/index.ts'
import type {Store} from '../store/database.ts'
import type {Remembered} from '../store/remembered.ts'
import {placeDefaults} from './cloud-identity.ts'
import {administeredBy} from './server.ts'

export interface ExplainingParts {
  readonly settings: Settings
  readonly store: Store
  readonly seal: Seal
  readonly now: () => number
  readonly log: Log
  /** Those that calls are charged at. */
  readonly prices: Prices
}

/**
 * The part of a data plane that says what would become of calls: for a server, and for an operator's command without
 * one.
 */
export function openExplaining(
  parts: ExplainingParts,
): Required<Pick<AdminServices, 'explain' | 'replay'>> & {readonly remembered: readonly Remembered[]} {
  const services = servicesOf(parts)
  const explainer = createExplainer(services)
  return {
    explain: explainer.explain,
    replay: (config, caller) => openReplayer(config, caller, services),
    remembered: explainer.remembered,
  }
}

type ExplainServices = Parameters<typeof createExplainer>[0] & Parameters<typeof openReplayer>[2]

/** Services that can say where a call goes and what would leave. Those that would send or keep something throw. */
function servicesOf({settings, store, seal, now, prices, log}: ExplainingParts): ExplainServices {
  const known = createLookups({db: store.db, seal, has_policies: false, kind: findKind, pricedModels: () => []})
  const destinations = new Destinations(readTrusted(settings.trusted_custom_hosts))
  return {
    settings,
    version,
    prices: {
      find: (provider, model, at_ms) => prices.lookup(provider, model, at_ms),
      cost: (usage, price, at_ms) => cost(usage, price, {at: at_ms}),
      charges: () => false, // nothing is used up here
    },
    findProvider: known.findProvider,
    findConfig: known.findConfig,
    findPrompt: known.findPrompt,
    findPartial: known.findPartial,
    kind: findKind,
    destination: (text, asker) =>
      destinations.read(
        text,
        typeof asker === 'string'
          ? {kind: asker}
          : {kind: 'integration', id: asker.integration_id, host: readBaseUrl(asker.host).hostname},
      ),
    option_defaults: placeDefaults(settings),
    administered: administeredBy(OPERATIONS),
    masked: new Set(settings.organisation_headers_to_mask),
    ignored: new Set(settings.custom_headers_to_ignore),
    now,
    steady: () => 0, // no duration is taken
    log,
    // saved guardrails are not run here, and are not looked up
    guardrails: null,
    // the breakers of calls are those of the data plane; these are never read
    circuits: createCircuits(),
    dispatcher: sendsNothing,
    fileStore: sendsNothing,
    logins: openLogins({fetch: sendsNothing, now_ms: now}),
    secrets: {valuesOf: standIns, refused: async () => null},
  }
}

/** In the place of secrets, which are not fetched to explain. */
function standIns({fields}: MappedFields): FieldValues {
  const standIn = ({target_field, value_format}: MappedField) =>
    value_format === 'json' || target_field.endsWith('_json') ? {} : STAND_IN
  return {
    byField: new Map(fields.map(field => [field.target_field, standIn(field)])),
    references: new Map(),
    texts: [STAND_IN],
  }
}

const STAND_IN = 'of-a-secret-reference'

function sendsNothing(): never {
  throw new Error('An explanation sends nothing.')
}
