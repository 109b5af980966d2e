import {Refusal} from '../../base/errors.ts'
import {pricePerToken} from '../../pricing/per-token.ts'
import type {Price} from '../../pricing/price.ts'
import type {ModelLister} from '../../providers/models/index.ts'
import {hasOwnPages, type ModelEntry, modelList, oneModel, shapeFor} from '../../providers/models/shapes.ts'
import type {OperationInput, ProviderOperation, Upstream} from '../../providers/operation.ts'
import type {Call} from '../call/call.ts'
import {refusedBy} from '../call/model-access.ts'
import type {OfferedModel, Uses} from '../services.ts'
import type {Target} from '../targets/target.ts'

type Services = Uses<'prices'>

/** The list of the one provider that a call names, held against the lists of models, in the words of the client. */
export function ownModels(
  lister: ModelLister,
  {call, target}: {call: Call; target: Target},
  services: Services,
): ProviderOperation {
  return async (input, upstream) => {
    const shape = shapeOf(call)
    // the pages of another shape are not the provider's
    const listed = hasOwnPages(shape) ? {...input, query: new URLSearchParams()} : input
    const entries = await allowedModels(lister, {call, target}, listed, upstream, services)
    return {json: modelList(shape, entries, input.query, {provider: target.provider.slug})}
  }
}

async function allowedModels(
  lister: ModelLister,
  {call, target}: {call: Call; target: Target},
  input: OperationInput,
  upstream: Upstream,
  services: Services,
): Promise<readonly ModelEntry[]> {
  const {provider, managed} = target
  const {at_ms} = call
  const listed = await lister(input, upstream)
  return listed
    .filter(model => refusedBy(target, call.caller, model.id) === null)
    .map(model => {
      const [price, base] = [managed?.prices.get(model.id), managed?.base_models.get(model.id)]
      const offered = {slug: model.id, ...(price && {price}), ...(base !== undefined && {base})}
      return {...model, kind: provider.slug, pricing: pricingOf(provider.slug, offered, at_ms, services)}
    })
}

/** One model of such a list. */
export function ownModel(
  lister: ModelLister,
  {call, target, id}: {call: Call; target: Target; id: string},
  services: Services,
): ProviderOperation {
  return async (input, upstream) => {
    const entries = await allowedModels(
      lister,
      {call, target},
      {...input, query: new URLSearchParams()},
      upstream,
      services,
    )
    const entry = entries.find(each => each.id === id)
    if (!entry) throw new Refusal('model.unknown', {model: id.slice(0, 1024)})
    return {json: oneModel(shapeOf(call), entry)}
  }
}

function shapeOf({incoming: {headers, own}}: Call) {
  return shapeFor({...own.values, ...headers})
}

/** The price of a model for lists: the integration's, else the model's, else that of the model which it is made of. */
export function pricingOf(kind: string, {slug, base, price}: OfferedModel, at_ms: number, {prices}: Services) {
  const found: Price | undefined =
    price ?? prices.find(kind, slug, at_ms) ?? (base === undefined ? undefined : prices.find(kind, base, at_ms))
  return found && pricePerToken(found, at_ms)
}
