import {z} from 'zod'
import {secret} from './credentials.ts'
import {BOTH, partner, unknownForm} from './partner.ts'
import {bearer, dig, entriesOf, namesOf} from './reading.ts'

const CATEGORIES = [
  'sexual',
  'hate_and_discrimination',
  'violence_and_threats',
  'dangerous_and_criminal_content',
  'selfharm',
  'health',
  'financial',
  'law',
  'pii',
] as const

/** Source: Mistral AI API, `POST /v1/moderations`. */
export const mistral = partner({
  id: 'mistral.moderateContent',
  title: 'Mistral moderation',
  about: 'Passes unless one of the categories is flagged.',
  sides: BOTH,
  credentials: {apiKey: secret('API key.')},
  shape: {
    categories: z
      .array(z.enum(CATEGORIES))
      .min(1)
      .default([...CATEGORIES])
      .describe('What fails.'),
    model: z.string().min(1).max(255).default('mistral-moderation-latest').describe('The model.'),
  },
  ask: ({texts, credentials, parameters}) => ({
    url: 'https://api.mistral.ai/v1/moderations',
    headers: bearer(credentials.apiKey),
    body: {model: parameters.model, input: texts},
  }),
  read([reply], {texts, parameters}) {
    const results = entriesOf(dig(reply, 'results'))
    if (results.length < texts.length) throw unknownForm('Mistral moderation')
    const wanted: readonly string[] = parameters.categories
    const labels = results.flatMap(each => namesOf(dig(each, 'categories'))).filter(name => wanted.includes(name))
    return {passes: labels.length === 0, labels}
  },
})
