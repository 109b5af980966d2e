import {z} from 'zod'
import {check, judged} from '../check.ts'
import {type AddPrefix, prefixed} from '../prefix.ts'

export const addPrefix = check({
  id: 'default.addPrefix',
  title: 'Add prefix',
  about: 'Adds a text before the first message of a role, and creates such a message if there is none. Always passes.',
  sides: ['input'],
  kind: 'mutator',
  shape: {
    prefix: z.string().min(1).describe('The text.'),
    applyToRole: z.enum(['user', 'system', 'assistant']).default('user').describe('Whose message.'),
    addToExisting: z
      .boolean()
      .default(true)
      .describe('Adds to the first message of the role; `false`: puts a message of its own before it.'),
    onlyIfEmpty: z.boolean().default(false).describe('Does nothing where a message of the role has a text.'),
  },
  run(view, parameters: AddPrefix) {
    const made = view.withBody(prefixed(view, parameters))
    const is_changed = made.body !== view.body
    const explanation = is_changed ? 'The prefix was added.' : 'No prefix was needed.'
    return {
      ...judged(true, {explanation, applyToRole: parameters.applyToRole}),
      ...(is_changed ? {transformed: {apply: now => now.withBody(prefixed(now, parameters))}} : {}),
    }
  },
})
