import {Refusal} from '../base/errors.ts'
import type {Call} from './call.ts'
import {splitModel, type Target} from './target.ts'

/** Refuses (412) a model that the provider's list does not allow (reference: model not allowed). */
export function checkModel({managed, model, provider}: Target, {body, incoming}: Pick<Call, 'body' | 'incoming'>): void {
  if (!managed?.models && !managed?.disabled.size) return
  const asked = model ?? ('model' in body && body.model !== null ? splitModel(body.model)[1] : null)
  if (asked === null && (managed.models === null || incoming.route.endpoint?.body === 'none')) return
  const allowed = asked !== null && !managed.disabled.has(asked) && (managed.models?.has(asked) ?? true)
  if (!allowed) throw new Refusal('model.not_allowed', {model: asked ?? '(none named)', provider: managed.slug || provider.slug})
}
