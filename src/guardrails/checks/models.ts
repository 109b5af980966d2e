import {z} from 'zod'
import {check, failed, judged, not} from '../check.ts'
import {CheckFault} from '../fault.ts'

export const modelWhitelist = check({
  id: 'default.modelWhitelist',
  title: 'Model allow list',
  about: 'Passes if the requested model is in the list. `@slug/model` matches as a whole and as `model`.',
  sides: ['input'],
  shape: {models: z.array(z.string().min(1)).min(1).describe('The models.'), not},
  parameter_aliases: {inverse: 'not'},
  run(_, {models, not}, {model}) {
    if (!model) return failed(new CheckFault('The request names no model.'))
    const is_listed = isAmong(model, models)
    return judged(
      is_listed,
      {explanation: `The model ${shown(model)} is ${is_listed ? '' : 'not '}in the list.`, not},
      not,
    )
  },
})

export const modelRules = check({
  id: 'default.modelRules',
  title: 'Model rules',
  about:
    'Passes if the requested model is in the lists for the metadata values of the call. If the call has none of these values, the defaults apply. `*` is any model.',
  sides: ['input'],
  shape: {
    rules: z
      .strictObject({
        defaults: z.array(z.string().min(1)).default([]).describe('Models for calls that no metadata rule is for.'),
        metadata: z
          .record(z.string(), z.record(z.string(), z.array(z.string().min(1))))
          .default({})
          .describe('Metadata key → value → models.'),
      })
      .describe('Which models for whom.'),
    not,
  },
  run(_, {rules, not}, {model, metadata}) {
    if (!model) return failed(new CheckFault('The request names no model.'))
    const matched = Object.entries(rules.metadata).flatMap(([key, byValue]) => {
      const value = Object.hasOwn(metadata, key) ? metadata[key]! : undefined
      return value !== undefined && Object.hasOwn(byValue, value) ? [{key, models: byValue[value]!}] : []
    })
    const models = matched.length ? matched.flatMap(rule => rule.models) : rules.defaults
    if (!models.length) return failed(new CheckFault('No rule names a model for this call.'))
    const is_allowed = models.includes('*') || isAmong(model, models)
    const by = matched.length ? `metadata ${matched.map(({key}) => key).join(', ')}` : 'defaults'
    return judged(
      is_allowed,
      {explanation: `The model ${shown(model)} is ${is_allowed ? '' : 'not '}allowed by ${by}.`, not},
      not,
    )
  },
})

function isAmong(model: string, models: readonly string[]): boolean {
  const plain = /^@[^/]+\/(.+)$/s.exec(model)?.[1]
  return models.includes(model) || (plain !== undefined && models.includes(plain))
}

function shown(model: string): string {
  return JSON.stringify(model.slice(0, 100))
}
