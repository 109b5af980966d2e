import {Refusal} from '../../base/errors.ts'
import {hasOperation} from '../../providers/base-urls/base-url.ts'
import {modelFor, type Target} from '../targets/target.ts'
import type {Call} from './call.ts'

/** Refuses (412) a model that the provider's list does not allow (reference: model not allowed). */
export function checkModel(target: Target, call: Pick<Call, 'body' | 'incoming' | 'operation'>): void {
  const {managed, provider} = target
  const {incoming} = call
  if (hasOperation(provider, incoming.route.endpoint)) return // which asks of each model it comes across
  const wanted = askedModel(call, target)
  if (wanted === null && (!managed?.models || incoming.route.endpoint?.body === 'none')) return
  checkAllowed({managed, provider}, wanted)
}

/**
 * The requested model at a target, without a provider's slug; null when none is named. A model in the path is the one that is executed,
 * whatever body or config name beside it.
 */
export function askedModel(
  {body, operation}: Pick<Call, 'body' | 'operation'>,
  {model, params, provider}: Pick<Target, 'model' | 'params' | 'provider'>,
): string | null {
  if (operation?.path_model) return operation.path_model
  if (model !== null) return model
  const named = 'model' in body && body.model !== null ? body.model : params.default_params?.model
  return typeof named === 'string' ? modelFor(provider, named) : null
}

/** The same of a model by its name; where there are allowed ones, null is none of them. */
export function checkAllowed({managed, provider}: Pick<Target, 'managed' | 'provider'>, wanted: string | null): void {
  if (!managed?.models && !managed?.disabled.size) return
  const allowed = wanted !== null && !managed.disabled.has(wanted) && (managed.models?.has(wanted) ?? true)
  if (!allowed) throw new Refusal('model.not_allowed', {model: wanted ?? '(none named)', provider: managed.slug || provider.slug})
}
