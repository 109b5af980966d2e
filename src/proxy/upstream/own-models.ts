import {pricePerToken} from '../../pricing/per-token.ts'
import type {Price} from '../../pricing/price.ts'
import type {ModelLister} from '../../providers/models/index.ts'
import {hasOwnPages, modelList, shapeFor} from '../../providers/models/shapes.ts'
import type {ProviderOperation} from '../../providers/operation.ts'
import type {Call} from '../call/call.ts'
import {refusedBy} from '../call/model-access.ts'
import type {OfferedModel, ProxyServices} from '../services.ts'
import type {Target} from '../targets/target.ts'

/** The list of the one provider that a call names, held against the lists of models, in the words of the client. */
export function ownModels(lister: ModelLister, {call, target}: {call: Call; target: Target}, services: ProxyServices): ProviderOperation {
  const {provider, managed} = target
  return async (input, upstream) => {
    const {at_ms, headers, own} = call.incoming
    const shape = shapeFor({...own.values, ...headers})
    // the pages of another shape are not the provider's
    const listed = await lister(hasOwnPages(shape) ? {...input, query: new URLSearchParams()} : input, upstream)
    const entries = listed
      .filter(model => refusedBy(target, call.caller, model.id) === null)
      .map(model => {
        const [price, base] = [managed?.prices.get(model.id), managed?.base_models.get(model.id)]
        const pricing = pricingOf(
          provider.slug,
          {slug: model.id, ...(price && {price}), ...(base !== undefined && {base})},
          at_ms,
          services,
        )
        return {...model, kind: provider.slug, pricing}
      })
    return {json: modelList(shape, entries, input.query, {provider: provider.slug})}
  }
}

/** What a model costs, as lists tell it: by the integration's price, else the model's, else that of the model which it is made of. */
export function pricingOf(kind: string, {slug, base, price}: OfferedModel, at_ms: number, {prices}: ProxyServices) {
  const found: Price | undefined =
    price ?? prices.find(kind, slug, at_ms) ?? (base === undefined ? undefined : prices.find(kind, base, at_ms))
  return found && pricePerToken(found, at_ms)
}
