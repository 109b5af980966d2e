import {z} from 'zod'
import {optionalSecret} from './credentials.ts'
import {BOTH, type PartnerCall, type PartnerCheck, partner, unknownForm} from './partner.ts'
import {bearer, dig, entriesOf, masked, namesOf, pairs} from './reading.ts'

const credentials = {apiKey: optionalSecret('API key, where one is asked for.')}

/** Source: promptfoo guardrails API, `POST /v1/{guard,pii,harm}`. */
function judge(name: 'guard' | 'harm', about: string): PartnerCheck {
  return partner({
    id: `promptfoo.${name}`,
    title: `promptfoo: ${name}`,
    about,
    sides: BOTH,
    credentials,
    shape: {},
    ask: call => call.texts.map(text => requestFor(call, name, text)),
    read: replies => {
      const results = replies.map(reply => dig(reply, 'results', 0))
      if (results.some(result => typeof dig(result, 'flagged') !== 'boolean')) throw unknownForm('promptfoo')
      return {
        passes: results.every(result => dig(result, 'flagged') === false),
        labels: results.flatMap(result => namesOf(dig(result, 'categories'))),
      }
    },
  })
}

export const promptfoo: readonly PartnerCheck[] = [
  judge('guard', 'Passes unless a prompt injection or a jailbreak is flagged.'),
  partner({
    id: 'promptfoo.pii',
    title: 'promptfoo: pii',
    about: 'Passes unless personal data is flagged. With `redact` it is masked, and the check passes.',
    sides: BOTH,
    credentials,
    shape: {redact: z.boolean().default(false).describe('Masks what is found.')},
    ask: call => call.texts.map(text => requestFor(call, 'pii', text)),
    read(replies, {texts, parameters}) {
      const results = replies.map(reply => dig(reply, 'results', 0))
      if (results.some(result => typeof dig(result, 'flagged') !== 'boolean')) throw unknownForm('promptfoo')
      const is_clean = results.every(result => dig(result, 'flagged') === false)
      const spans = results.map(result =>
        entriesOf(dig(result, 'payload', 'pii')).map(each => ({
          start: dig(each, 'start'),
          end: dig(each, 'end'),
          label: String(dig(each, 'entity_type') ?? 'pii'),
        })),
      )
      const labels = is_clean ? [] : [...new Set(['pii', ...spans.flat().map(({label}) => label)])]
      if (is_clean || !parameters.redact) return {passes: is_clean, labels}
      const is_known = results.every((result, index) => dig(result, 'flagged') === false || spans[index]!.length > 0)
      const redactions = is_known
        ? pairs(
            texts,
            texts.map((text, index) => masked(text, spans[index]!) ?? undefined),
          )
        : null
      return {passes: redactions !== null, labels, redactions: redactions ?? []}
    },
  }),
  judge('harm', 'Passes unless harmful content is flagged.'),
]

function requestFor({credentials: {apiKey}}: PartnerCall<unknown, 'apiKey'>, name: string, text: string) {
  return {url: `https://api.promptfoo.dev/v1/${name}`, headers: apiKey ? bearer(apiKey) : {}, body: {input: text}}
}
