import {withoutCredentials} from '../../providers/places.ts'
import type {OutgoingHeaders} from '../../providers/provider.ts'
import type {ModelPlace, Uses} from '../services.ts'
import {isSameHost} from './place.ts'
import type {Target} from './target.ts'

type Services = Uses<'destination'>

/** Targets as they are for one model, remembered with the target that all its calls share. */
const placed = new WeakMap<Target, Map<string, Target>>()

/** The target of a call of `model`: the same, unless the integration gives that model a host or headers of its own. */
export function atModel(target: Target, model: string | null, services: Services): Target {
  const place = model === null ? undefined : target.managed?.model_places?.get(model)
  if (!place || target.provider.transport) return target
  const known = placed.get(target) ?? new Map<string, Target>()
  placed.set(target, known)
  const found = known.get(model!) ?? placedAt(target, place, services)
  known.set(model!, found)
  return found
}

/** Headers of the model win over those of the integration; its host, over the integration's. */
function placedAt(target: Target, place: ModelPlace, services: Services): Target {
  const {managed, credential_of, is_callers_host} = target
  if (credential_of === 'caller') return is_callers_host ? target : withHost(target, place, services)
  const headers = {...target.headers, ...place.headers}
  if (place.custom_host === null || isSameHost(place.custom_host, managed!.custom_host)) return {...target, headers}
  if (place.names_place) return withHost({...target, headers}, place, services)
  return withHost(withoutIntegration(target, place.headers), place, services)
}

/**
 * The author of the host may not send the integration's credentials there: the model's own headers are all that is
 * sent.
 */
function withoutIntegration(target: Target, own: Readonly<OutgoingHeaders>): Target {
  const of_integration = target.managed!.headers
  const others = Object.entries(target.headers).filter(([name]) => !(name in of_integration))
  const options = withoutCredentials(target.options) as Readonly<Record<string, string>>
  return {...target, key: null, headers: {...Object.fromEntries(others), ...own}, options, credential_of: 'caller'}
}

function withHost(target: Target, {custom_host: host, names_place}: ModelPlace, services: Services): Target {
  if (host === null) return target
  const {integration_id} = target.managed!
  return {
    ...target,
    destination: services.destination(host, names_place ? {integration_id, host} : 'caller'),
    is_custom: true,
  }
}
