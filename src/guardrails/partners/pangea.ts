import {z} from 'zod'
import {isObject, type JsonObject} from '../json.ts'
import {host, secret} from './credentials.ts'
import {BOTH, partner, unknownForm} from './partner.ts'
import {bearer, dig, namesOf, pairs} from './reading.ts'

const credentials = {apiKey: secret('API token.'), domain: host('The domain of the service, as `aws.us.pangea.cloud`.')}
/** Detectors that only redact fail nothing by themselves. */
const HARMFUL = ['prompt_injection', 'malicious_entity']

/** Source: Pangea AI Guard API, `POST /v1/text/guard`. */
export const pangeaTextGuard = partner({
  id: 'pangea.textGuard',
  title: 'Pangea AI Guard',
  about: 'Passes unless the recipe blocks, or a prompt injection or a malicious entity is detected.',
  sides: BOTH,
  credentials,
  shape: {
    recipe: z.string().min(1).max(255).optional().describe('The recipe.'),
    debug: z.boolean().optional().describe('Has the answer say more.'),
    overrides: z.record(z.string(), z.unknown()).optional().describe('Settings in place of the recipe’s.'),
  },
  ask: ({text, credentials, parameters: {recipe, debug, overrides}}) => ({
    url: `https://ai-guard.${credentials.domain}/v1/text/guard`,
    headers: bearer(credentials.apiKey),
    body: {
      text,
      ...(recipe === undefined ? {} : {recipe}),
      ...(debug === undefined ? {} : {debug}),
      ...(overrides === undefined ? {} : {overrides: overrides as JsonObject}),
    },
  }),
  read([reply]) {
    const result = dig(reply, 'result')
    if (dig(reply, 'status') !== 'Success' || !isObject(result)) throw unknownForm('Pangea AI Guard')
    const labels = namesOf(dig(result, 'detectors'), each => dig(each, 'detected') === true)
    return {passes: dig(result, 'blocked') !== true && !labels.some(label => HARMFUL.includes(label)), labels}
  },
})

/** Source: Pangea Redact API, `POST /v1/redact`. */
export const pangeaPii = partner({
  id: 'pangea.pii',
  title: 'Pangea Redact',
  about: 'Passes if there is nothing to redact. With `redact` it is replaced, and the check passes.',
  sides: BOTH,
  credentials,
  shape: {redact: z.boolean().default(false).describe('Replaces what is found.')},
  ask: ({texts, credentials}) =>
    texts.map(text => ({
      url: `https://redact.${credentials.domain}/v1/redact`,
      headers: bearer(credentials.apiKey),
      body: {text, return_result: true},
    })),
  read(replies, {texts, parameters}) {
    const counts = replies.map(reply => dig(reply, 'result', 'count'))
    if (counts.some(count => typeof count !== 'number')) throw unknownForm('Pangea Redact')
    const is_clean = counts.every(count => count === 0)
    if (is_clean || !parameters.redact) return {passes: is_clean, labels: is_clean ? [] : ['pii']}
    const redactions = pairs(
      texts,
      replies.map((reply, index) => (counts[index] === 0 ? texts[index] : dig(reply, 'result', 'redacted_text'))),
    )
    return {passes: redactions !== null, labels: ['pii'], redactions: redactions ?? []}
  },
})
