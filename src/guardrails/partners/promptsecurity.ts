import {z} from 'zod'
import type {Side} from '../../schema/guardrails.ts'
import {host, secret} from './credentials.ts'
import {type PartnerCheck, partner, unknownForm} from './partner.ts'
import {dig, entriesOf, pairs, textsIn} from './reading.ts'

/** Source: Prompt Security API, `POST /api/protect`. */
function protect(name: string, side: Side): PartnerCheck {
  const key = side === 'input' ? 'prompt' : 'response'
  return partner({
    id: `promptsecurity.${name}`,
    title: `Prompt Security: ${key}`,
    about: 'Passes unless the action is to block. A text that is modified is replaced.',
    sides: [side],
    credentials: {apiKey: secret('App id.'), apiDomain: host('The API’s host.')},
    shape: {user: z.string().min(1).max(255).optional().describe('The user, told to Prompt Security.')},
    ask: ({texts, credentials, parameters: {user}}) =>
      texts.map(text => ({
        url: `https://${credentials.apiDomain}/api/protect`,
        headers: {'app-id': credentials.apiKey},
        body: {[key]: text, ...(user ? {user} : {})},
      })),
    read(replies, {texts}) {
      const results = replies.map(reply => dig(reply, 'result', key))
      const actions = results.map(result => dig(result, 'action'))
      if (actions.some(action => typeof action !== 'string')) throw unknownForm('Prompt Security')
      const labels = textsIn(results.flatMap(result => entriesOf(dig(result, 'violations'))))
      if (actions.includes('block')) return {passes: false, labels}
      const redactions = pairs(
        texts,
        results.map((result, index) => dig(result, 'modified_text') ?? texts[index]),
      )
      // The service wants a change, and gives no text to put in place: the text is blocked.
      const is_known = results.every(
        (result, index) => actions[index] !== 'modify' || typeof dig(result, 'modified_text') === 'string',
      )
      return {passes: redactions !== null && is_known, labels, redactions: redactions ?? []}
    },
  })
}

export const promptsecurity: readonly PartnerCheck[] = [
  protect('protectPrompt', 'input'),
  protect('protectResponse', 'output'),
]
