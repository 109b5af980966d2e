import {Refusal} from '../../base/errors.ts'
import {isOnList} from '../../identity/model-lists.ts'
import {hasOperation} from '../../providers/base-urls/base-url.ts'
import {executionOf} from '../../providers/execution.ts'
import type {Caller, ManagedProvider, ObjectModels} from '../services.ts'
import {modelFor, type Target} from '../targets/target.ts'
import type {Call} from './call.ts'
import {isIndirect, modelsOfObjects, runsFile} from './indirect.ts'
import {furtherModels} from './request-models.ts'

/**
 * Refuses (412) a call that names a model which a list does not allow, the one that answers or any other that the
 * provider may execute for it, or that runs one and does not say which (docs/models.md, Restrict models).
 */
export function checkModel(
  target: Target,
  call: Pick<Call, 'body' | 'incoming' | 'caller' | 'operation' | 'is_passthrough'>,
  seen?: ObjectModels,
): void {
  const {managed, provider} = target
  const {incoming, caller} = call
  if (!hasLists(managed, caller)) return
  if (hasOperation(provider, incoming.route.endpoint)) return // which asks of each model it comes across
  const wanted = runsFile(call, target) ? null : askedModel(call, target)
  const further = furtherModels(call, target)
  checkModels(target, call, wanted === null ? further : [wanted, ...further])
  if (wanted !== null || further.length > 0 || executionOf(provider, incoming.method, incoming.route.path) === 'none')
    return
  const is_indirect = isIndirect(call, target)
  const objects = is_indirect && seen ? modelsOfObjects(call, target, seen) : null
  if (objects) return checkModels(target, call, objects)
  // Models that are switched off are names: who names none is not held to them.
  if (!managed?.models && !caller.models) return
  if (is_indirect) throw new Refusal('model.indirect', {whose: whoseList(target, caller)})
  throw nameless(target, caller)
}

/**
 * Refuses (412) the first of `models` that the provider's list, its disabled models, the key's list or the workspace's
 * does not allow. Each is the name that the provider is sent: without the slug in front (`modelFor`).
 */
export function checkModels(
  target: Pick<Target, 'managed' | 'provider'>,
  {caller}: {readonly caller: Pick<Caller, 'models'>},
  models: readonly string[],
): void {
  if (!hasLists(target.managed, caller)) return
  for (const model of models) {
    const whose = refusedBy(target, caller, model)
    if (whose !== null) throw notAllowed(model, whose)
  }
}

/**
 * The same of what runs the one model that it names: a row of a batch, a session. None named is none of those allowed.
 */
export function checkNamed(
  target: Pick<Target, 'managed' | 'provider'>,
  call: {readonly caller: Pick<Caller, 'models'>},
  model: string | null,
): void {
  if (model) checkModels(target, call, [model])
  else if (hasLists(target.managed, call.caller)) throw nameless(target, call.caller)
}

/** The owner of a list that refuses a model; null for none. */
export function refusedBy(
  target: {readonly managed: ModelsOfProvider | null; readonly provider: {readonly slug: string}},
  caller: Pick<Caller, 'models'>,
  model: string,
): string | null {
  const {managed} = target
  if (managed && (managed.disabled.has(model) || managed.models?.has(model) === false)) return ofProvider(target)
  return caller.models?.find(list => !isOnList(list, model, managed?.slug ?? null))?.whose ?? null
}

type ModelsOfProvider = Pick<ManagedProvider, 'slug' | 'models' | 'disabled'>

/**
 * The requested model at a target, without a provider's slug; null when none is named. A model in the path is the one
 * that is executed, whatever body or config name beside it.
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

/** True when any list covers calls of this caller there. */
export function hasLists(managed: ModelsOfProvider | null, {models}: Pick<Caller, 'models'>): boolean {
  return models !== null || (managed !== null && (managed.models !== null || managed.disabled.size > 0))
}

function ofProvider({
  managed,
  provider,
}: {
  readonly managed: {slug: string} | null
  readonly provider: {slug: string}
}): string {
  return `the provider ${managed?.slug || provider.slug}`
}

function nameless(target: Pick<Target, 'managed' | 'provider'>, caller: Pick<Caller, 'models'>): Refusal {
  return notAllowed('(none named)', whoseList(target, caller))
}

/** Of a call that some list covers. */
function whoseList(target: Pick<Target, 'managed' | 'provider'>, {models}: Pick<Caller, 'models'>): string {
  return models && !target.managed?.models ? models[0]!.whose : ofProvider(target)
}

function notAllowed(model: string, whose: string): Refusal {
  return new Refusal('model.not_allowed', {model: model.slice(0, 1024), whose})
}
