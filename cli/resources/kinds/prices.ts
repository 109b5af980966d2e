import {PricingConfigFault, readPricingConfig} from '../../../src/pricing/config.ts'
import {toPublicPricing} from '../../../src/pricing/view.ts'
import {find} from '../../../src/providers/registry.ts'
import {unchecked} from '../../client.ts'
import {everyRow, NO_SECRETS, type ResourceKind, specOf} from '../kind.ts'

/** As the gateway shows it, so that equal charges have equal text. */
const fields: ResourceKind['fields'] = {
  pricing_config: {
    normal: value => {
      try {
        const price = readPricingConfig(value, {provider: 'any', model: 'any', source: 'set'})
        const {pay_as_you_go, batch_config} = toPublicPricing(price, 0)
        return {pay_as_you_go, ...(batch_config && {batch_config})}
      } catch {
        return value
      }
    },
  },
}

const pathOf = (slug: string) => ({
  provider: slug.slice(0, slug.indexOf('/')),
  model: slug.slice(slug.indexOf('/') + 1),
})

/** Prices that were set by hand, above all other sources; `slug` is `provider/model`. */
export const price: ResourceKind = {
  name: 'price',
  folder: 'prices',
  lives_in: 'organisation',
  needs: [],
  remark: 'A manually set price. Its slug is `PROVIDER/MODEL`.',
  create: 'pricing.set',
  fields,
  secrets: NO_SECRETS,
  async read({gateway}) {
    const rows = await everyRow(gateway, 'pricing.list')
    return rows
      .filter(({source}) => source === 'set')
      .map(({provider, model, pay_as_you_go, batch_config}) => {
        const slug = `${provider}/${model}`
        const pricing_config = {pay_as_you_go, ...(batch_config !== undefined && {batch_config})}
        return {kind: 'price', workspace: null, slug, id: slug, spec: specOf(fields, {pricing_config})}
      })
  },
  body: ({spec}) => spec,
  async make({gateway}, {slug, spec}) {
    await gateway.call('pricing.set', {params: pathOf(slug), body: unchecked(spec)})
    return undefined
  },
  async change({gateway}, {slug, spec}) {
    await gateway.call('pricing.set', {params: pathOf(slug), body: unchecked(spec)})
  },
  async remove({gateway}, {slug}) {
    await gateway.call('pricing.unset', {params: pathOf(slug), body: {}})
  },
  async faults({slug, spec}) {
    const {provider, model} = pathOf(slug)
    if (!slug.includes('/') || find(provider)?.slug !== provider)
      return ['the slug is the slug of a kind of provider, a slash, and the model']
    try {
      readPricingConfig(spec.pricing_config, {provider, model, source: 'set'})
      return []
    } catch (error) {
      if (!(error instanceof PricingConfigFault)) throw error
      return [`pricing_config${error.path ? `.${error.path}` : ''}: ${error.reason}`]
    }
  },
}
