import {z} from 'zod'
import {not} from '../check.ts'
import type {JsonValue} from '../json.ts'
import {base, optionalSecret} from './credentials.ts'
import {BOTH, type PartnerCall, type PartnerCheck, partner, unknownForm} from './partner.ts'
import {bearer, dig, entriesOf, namesOf, pairs, textsIn} from './reading.ts'

const credentials = {
  baseUrl: base('Where your classifiers are.'),
  apiKey: optionalSecret('What they are asked with, as a bearer token.'),
}
type Call = PartnerCall<unknown, keyof typeof credentials>

const names = (what: string) => z.array(z.string().min(1).max(255)).default([]).describe(what)

/**
 * Checks that need a model, which you host (docs/guardrails.md, Partners). Each asks `POST {baseUrl}/<path>` with
 * `{input}`.
 */
export const gateway: readonly PartnerCheck[] = [
  partner({
    id: 'gateway.moderateContent',
    title: 'Moderation',
    about: 'Passes unless one of the categories is flagged, by an API of the form of OpenAI’s moderations.',
    sides: BOTH,
    credentials,
    shape: {categories: names('What fails; empty: whatever is flagged.'), not},
    ask: call => requestFor(call, 'moderations', call.text),
    read([reply], {parameters: {categories, not}}) {
      const flagged = dig(reply, 'results', 0, 'categories')
      if (flagged === undefined) throw unknownForm('Moderation')
      const labels = namesOf(flagged).filter(name => !categories.length || categories.includes(name))
      return {passes: (labels.length === 0) !== not, labels}
    },
  }),
  partner({
    id: 'gateway.language',
    title: 'Language',
    about: 'Passes if the text is in one of the languages, as a text classifier says.',
    sides: BOTH,
    credentials,
    shape: {
      language: z
        .union([
          z
            .string()
            .min(1)
            .transform(one => [one]),
          z.array(z.string().min(1)).min(1),
        ])
        .describe('Codes, as `en`.'),
      not,
    },
    ask: call => requestFor(call, 'language', call.text),
    read([reply], {parameters: {language, not}}) {
      const label = best(reply, 'Language')
      return {passes: language.map(code => code.toLowerCase()).includes(label.toLowerCase()) !== not, labels: [label]}
    },
  }),
  partner({
    id: 'gateway.pii',
    title: 'Personal data',
    about: 'Passes if no personal data is found. With `redact` it is replaced, and the check passes.',
    sides: BOTH,
    credentials,
    shape: {
      redact: z.boolean().default(false).describe('Replaces what is found.'),
      categories: names('What to look for; empty: everything.'),
      not,
    },
    ask: call => call.texts.map(text => requestFor(call, 'pii', text)),
    read(replies, {texts, parameters: {redact, categories, not}}) {
      const results = replies.map(reply => dig(reply, 0) ?? reply)
      if (results.some(result => !Array.isArray(dig(result, 'entities')))) throw unknownForm('Personal data')
      const labelsOf = (result: JsonValue) =>
        entriesOf(dig(result, 'entities'))
          .flatMap(each => namesOf(dig(each, 'labels'), score => typeof score === 'number' && score > 0))
          .filter(name => !categories.length || categories.includes(name))
      const labels = results.flatMap(labelsOf)
      if (!redact || !labels.length) return {passes: (labels.length === 0) !== not, labels}
      const redactions = pairs(
        texts,
        results.map((result, index) => (labelsOf(result).length ? dig(result, 'processed_text') : texts[index])),
      )
      return {passes: redactions !== null, labels, redactions: redactions ?? []}
    },
  }),
  partner({
    id: 'gateway.gibberish',
    title: 'Gibberish',
    about: 'Passes if a text classifier says `clean`.',
    sides: BOTH,
    credentials,
    shape: {not},
    ask: call => requestFor(call, 'gibberish', call.text),
    read([reply], {parameters: {not}}) {
      const label = best(reply, 'Gibberish')
      return {passes: (label === 'clean') !== not, labels: [label]}
    },
  }),
]

function requestFor({credentials: {baseUrl, apiKey}}: Call, path: string, text: string) {
  return {url: `${baseUrl}/${path}`, headers: apiKey ? bearer(apiKey) : {}, body: {input: text}}
}

/** The label with the highest score, of `[{label, score}]` or a list of that, as text classifiers answer. */
function best(reply: JsonValue | undefined, who: string): string {
  const first = dig(reply, 0)
  const found = entriesOf(Array.isArray(first) ? first : reply)
  const [top] = [...found].sort((one, other) => Number(dig(other, 'score')) - Number(dig(one, 'score')))
  const [label] = textsIn([dig(top, 'label')])
  if (label === undefined) throw unknownForm(who)
  return label
}
