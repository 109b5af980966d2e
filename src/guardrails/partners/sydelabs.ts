import {z} from 'zod'
import {secret} from './credentials.ts'
import {BOTH, partner, unknownForm} from './partner.ts'
import {dig, entriesOf} from './reading.ts'

const threshold = (what: string) => z.number().min(0).max(1).default(0.5).describe(`A score above it fails: ${what}.`)

/** Source: SydeLabs SydeGuard API, `POST /api/v1/guard/generate-score`. */
export const sydelabs = partner({
  id: 'sydelabs.sydeguard',
  title: 'SydeGuard',
  about: 'Passes while every score stays at or below its threshold.',
  sides: BOTH,
  credentials: {apiKey: secret('API key.')},
  shape: {
    prompt_injection_threshold: threshold('prompt injection'),
    toxicity_threshold: threshold('toxicity'),
    evasion_threshold: threshold('evasion'),
  },
  ask: ({text, credentials}) => ({
    url: 'https://guard.sydelabs.ai/api/v1/guard/generate-score',
    headers: {'x-api-key': credentials.apiKey},
    body: {prompt: text},
  }),
  read([reply], {parameters}) {
    const scores = dig(reply, 'category_scores')
    if (!Array.isArray(scores)) throw unknownForm('SydeGuard')
    const most: Readonly<Record<string, number>> = {
      PROMPT_INJECT: parameters.prompt_injection_threshold,
      TOXIC: parameters.toxicity_threshold,
      EVASION: parameters.evasion_threshold,
    }
    const labels = entriesOf(scores).flatMap(each => {
      const [category, score] = [String(dig(each, 'category')), dig(each, 'score')]
      return Object.hasOwn(most, category) && typeof score === 'number' && score > most[category]! ? [category] : []
    })
    return {passes: labels.length === 0, labels}
  },
})
