import {z} from 'zod'
import type {Side} from '../../schema/guardrails.ts'
import {isObject} from '../json.ts'
import {secret} from './credentials.ts'
import {type PartnerCheck, partner, unknownForm} from './partner.ts'
import {bearer, namesOf} from './reading.ts'

/** Source: Pillar Security API, `POST /api/v1/scan/{prompt,response}`. */
function scan(name: string, side: Side, scanners: readonly [string, ...string[]]): PartnerCheck {
  const path = side === 'input' ? 'prompt' : 'response'
  return partner({
    id: `pillar.${name}`,
    title: `Pillar: ${path}`,
    about: 'Passes unless one of the scanners finds something.',
    sides: [side],
    credentials: {apiKey: secret('API key.')},
    shape: {
      scanners: z.array(z.enum(scanners)).min(1).describe('Which scanners.'),
    },
    ask: ({text, credentials, parameters}) => ({
      url: `https://api.pillarseclabs.com/api/v1/scan/${path}`,
      headers: bearer(credentials.apiKey),
      body: {message: text, scanners: Object.fromEntries(parameters.scanners.map(scanner => [scanner, true]))},
    }),
    read([reply], {parameters}) {
      const wanted: readonly string[] = parameters.scanners
      if (!isObject(reply) || !wanted.some(name => Object.hasOwn(reply, name))) throw unknownForm('Pillar')
      // A scanner that did not run, or found nothing, says null or false.
      const labels = namesOf(reply, value => value !== null && value !== false).filter(name => wanted.includes(name))
      return {passes: labels.length === 0, labels}
    },
  })
}

export const pillar: readonly PartnerCheck[] = [
  scan('scanPrompt', 'input', ['prompt_injection', 'pii', 'secrets', 'toxic_language', 'invisible_characters']),
  scan('scanResponse', 'output', ['pii', 'secrets', 'toxic_language']),
]
