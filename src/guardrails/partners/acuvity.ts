import {z} from 'zod'
import {parseJson} from '../../base/json-object.ts'
import {CheckFault} from '../fault.ts'
import type {JsonValue} from '../json.ts'
import {secret} from './credentials.ts'
import {BOTH, partner, unknownForm} from './partner.ts'
import {bearer, dig, entriesOf, namesOf, pairs} from './reading.ts'

const threshold = z.number().min(0).max(1).default(0).describe('A score from here on counts.')
const on = (what: string) => z.boolean().default(false).describe(what)
const names = (what: string) => z.array(z.string().min(1)).default([]).describe(what)

/** Source: the Acuvity scan API, `ScanResponse` (docs.acuvity.ai). */
export const acuvity = partner({
  id: 'acuvity.scan',
  title: 'Acuvity',
  about: 'Passes unless one of the detectors that are switched on finds something.',
  sides: BOTH,
  credentials: {apiKey: secret('The app token; it says where the API is.')},
  shape: {
    prompt_injection: on('Looks for prompt injection.'),
    prompt_injection_threshold: threshold,
    jail_break: on('Looks for jailbreaks.'),
    jail_break_threshold: threshold,
    malicious_url: on('Looks for malicious URLs.'),
    malicious_url_threshold: threshold,
    toxic: on('Looks for toxic content.'),
    toxic_threshold: threshold,
    biased: on('Looks for bias.'),
    biased_threshold: threshold,
    harmful: on('Looks for harmful content.'),
    harmful_threshold: threshold,
    language: on('Fails a text in the language `language_values`.'),
    language_values: z.string().default('').describe('The language.'),
    pii: on('Looks for personal data.'),
    pii_redact: on('Redacts it.'),
    pii_categories: names('Which.'),
    secrets: on('Looks for secrets.'),
    secrets_redact: on('Redacts them.'),
    secrets_categories: names('Which.'),
  },
  parameter_aliases: {languagevals: 'language_values'},
  ask: ({texts, credentials: {apiKey}, parameters, is_input}) => ({
    url: `${apexOf(apiKey)}/_acuvity/scan`,
    headers: bearer(apiKey),
    body: {
      anonymization: 'FixedSize',
      messages: texts,
      redactions: redactionsOf(parameters),
      type: is_input ? 'Input' : 'Output',
    },
  }),
  read([reply], {texts, parameters}) {
    const extractions = entriesOf(dig(reply, 'extractions'))
    if (!extractions.length) throw unknownForm('Acuvity')
    const hard = extractions.flatMap(each => detected(each, parameters))
    const sensitive = extractions.flatMap(each => [
      ...(parameters.pii ? among(dig(each, 'PIIs') ?? dig(each, 'piIs'), parameters.pii_categories) : []),
      ...(parameters.secrets ? among(dig(each, 'secrets'), parameters.secrets_categories) : []),
    ])
    const redactions =
      redactionsOf(parameters).length && sensitive.length
        ? pairs(
            texts,
            extractions.map(each => dig(each, 'data')),
          )
        : []
    const is_clean = sensitive.length === 0 || (redactionsOf(parameters).length > 0 && redactions !== null)
    return {passes: hard.length === 0 && is_clean, labels: [...hard, ...sensitive], redactions: redactions ?? []}
  },
})

interface Options {
  readonly pii: boolean
  readonly pii_redact: boolean
  readonly pii_categories: readonly string[]
  readonly secrets: boolean
  readonly secrets_redact: boolean
  readonly secrets_categories: readonly string[]
}

function redactionsOf({
  pii,
  pii_redact,
  pii_categories,
  secrets,
  secrets_redact,
  secrets_categories,
}: Options): string[] {
  return [...(pii && pii_redact ? pii_categories : []), ...(secrets && secrets_redact ? secrets_categories : [])]
}

const SCORES = [
  ['prompt_injection', 'exploits', ['prompt_injection']],
  ['jail_break', 'exploits', ['jailbreak', 'jail_break']],
  ['malicious_url', 'malicious_url', ['malicious_url']],
  ['malicious_url', 'exploits', ['malicious_url']],
  ['toxic', 'topics', ['content/toxic']],
  ['biased', 'topics', ['content/biased', 'content/bias']],
  ['harmful', 'topics', ['content/harmful_content', 'content/harmful']],
] as const

function detected(extraction: JsonValue, parameters: Readonly<Record<string, unknown>>): string[] {
  const found: string[] = []
  for (const [name, key, keys] of SCORES) {
    const scores = dig(extraction, key)
    const least = parameters[`${name}_threshold`] as number
    const hit = (score: JsonValue) => typeof score === 'number' && score >= least
    if (parameters[name] && namesOf(scores, hit).some(each => (keys as readonly string[]).includes(each.toLowerCase())))
      found.push(name)
  }
  const language = parameters.language_values as string
  if (parameters.language && language && among(dig(extraction, 'languages'), [language]).length) found.push('language')
  return found
}

/** Of a map of names to scores the requested ones. */
function among(found: JsonValue | undefined, wanted: readonly string[]): string[] {
  const lower = wanted.map(name => name.toLowerCase())
  return namesOf(found, score => typeof score === 'number' && score > 0).filter(name =>
    lower.includes(name.toLowerCase()),
  )
}

/** The host of the API: a claim of the token. It is not verified here, for it is the customer's own. */
function apexOf(token: string): string {
  try {
    const claims = parseJson(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')) as JsonValue
    const apex = dig(claims, 'opaque', 'apex-url')
    if (typeof apex === 'string' && /^https:\/\/[a-z0-9.-]{1,253}(?::\d{1,5})?\/?$/i.test(apex))
      return apex.replace(/\/$/, '')
  } catch {}
  throw new CheckFault('The credential apiKey does not say where the API is.', 'ConfigurationError')
}
