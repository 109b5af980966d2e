import {createHash} from 'node:crypto'
import {z} from 'zod'
import {CheckFault} from '../fault.ts'
import {base, label, optionalSecret} from './credentials.ts'
import {BOTH, type PartnerCall, partner, unknownForm} from './partner.ts'
import {dig, entriesOf, pairs, textsIn} from './reading.ts'

const credentials = {
  resourceName: label('The resource’s name.'),
  apiKey: optionalSecret('Its key; else an Entra application.'),
  tenantId: label('Entra: the tenant.', false),
  clientId: label('Entra: the application.', false),
  clientSecret: optionalSecret('Entra: its secret.'),
  customHost: base('Where the API is, for a private link.', 'https://cognitiveservices.azure.com'),
}
type Call = PartnerCall<unknown, keyof typeof credentials>

const version = (fallback: string) =>
  z
    .string()
    .regex(/^\d{4}-\d\d-\d\d(?:-preview)?$/, 'must be a date')
    .default(fallback)
    .describe('Version of the API.')
const HOST = 'cognitiveservices.azure.com'
const SCOPE = `https://${HOST}/.default`
/** The part of a token's life for which it is used, so that none expires during a call. */
const MAX_TOKEN_AGE_S = 900

/** Source: Azure AI Content Safety REST API, Text Operations: Analyze Text. */
export const azureContentSafety = partner({
  id: 'azure.contentSafety',
  title: 'Azure AI Content Safety',
  about: 'Passes while every category stays below the severity and no blocklist is hit.',
  sides: BOTH,
  credentials,
  shape: {
    categories: z
      .array(z.enum(['Hate', 'SelfHarm', 'Sexual', 'Violence']))
      .min(1)
      .default(['Hate', 'SelfHarm', 'Sexual', 'Violence'])
      .describe('What to look for.'),
    blocklistNames: z.array(z.string().min(1)).default([]).describe('Blocklists of the resource.'),
    severity: z.int().min(1).max(7).default(2).describe('A severity from here on fails: 2, 4 or 6.'),
    apiVersion: version('2024-09-01'),
  },
  ask: async call => ({
    url: urlOf(call, 'contentsafety/text:analyze', call.parameters.apiVersion),
    headers: await authorized(call),
    body: {text: call.text, categories: call.parameters.categories, blocklistNames: call.parameters.blocklistNames},
  }),
  read([reply], {parameters}) {
    const analysis = dig(reply, 'categoriesAnalysis')
    if (analysis === undefined) throw unknownForm('Azure AI Content Safety')
    const high = entriesOf(analysis).filter(each => Number(dig(each, 'severity') ?? 0) >= parameters.severity)
    const hits = entriesOf(dig(reply, 'blocklistsMatch'))
    const labels = [...high.map(each => dig(each, 'category')), ...hits.map(each => dig(each, 'blocklistName'))]
    return {passes: high.length === 0 && hits.length === 0, labels: textsIn(labels)}
  },
})

/** Source: Azure AI Language REST API, Analyze Text, kind `PiiEntityRecognition`. */
export const azurePii = partner({
  id: 'azure.pii',
  title: 'Azure AI Language',
  about: 'Passes if the text holds no personal data. With `redact` what is found is masked, and the check passes.',
  sides: BOTH,
  credentials,
  shape: {
    redact: z.boolean().default(false).describe('Masks what is found.'),
    domain: z.enum(['none', 'phi']).default('none').describe('`phi`: health data.'),
    modelVersion: z
      .string()
      .regex(/^[\w-]{1,40}$/)
      .default('latest')
      .describe('Version of the model.'),
    language: z
      .string()
      .regex(/^[A-Za-z-]{2,10}$/)
      .default('en')
      .describe('The texts’ language.'),
    piiCategories: z.array(z.string().min(1)).default([]).describe('What to look for; empty: everything.'),
    apiVersion: version('2024-11-01'),
  },
  ask: async call => {
    const {domain, modelVersion, language, piiCategories, apiVersion} = call.parameters
    return {
      url: urlOf(call, 'language/:analyze-text', apiVersion),
      headers: await authorized(call),
      body: {
        kind: 'PiiEntityRecognition',
        parameters: {domain, modelVersion, ...(piiCategories.length ? {piiCategories} : {})},
        analysisInput: {documents: call.texts.map((text, index) => ({id: String(index), language, text}))},
      },
    }
  },
  read([reply], {texts, parameters}) {
    const documents = entriesOf(dig(reply, 'results', 'documents'))
    const byId = texts.map((_, index) => documents.find(each => dig(each, 'id') === String(index)))
    // One document that could not be judged, and nothing is known of the text.
    if (byId.includes(undefined)) throw unknownForm('Azure AI Language')
    const labels = byId.flatMap(each =>
      textsIn(entriesOf(dig(each, 'entities')).map(entity => dig(entity, 'category'))),
    )
    if (!labels.length || !parameters.redact) return {passes: labels.length === 0, labels}
    const redactions = pairs(
      texts,
      byId.map(each => dig(each, 'redactedText')),
    )
    return {passes: redactions !== null, labels, redactions: redactions ?? []}
  },
})

/** Source: Azure AI Content Safety REST API, Text Operations: Shield Prompt. */
export const azureShieldPrompt = partner({
  id: 'azure.shieldPrompt',
  title: 'Azure Prompt Shields',
  about: 'Passes unless an attack on the prompt is found.',
  sides: ['input'],
  credentials,
  shape: {apiVersion: version('2024-09-01')},
  ask: async call => ({
    url: urlOf(call, 'contentsafety/text:shieldPrompt', call.parameters.apiVersion),
    headers: await authorized(call),
    body: {userPrompt: call.text, documents: []},
  }),
  read([reply]) {
    const is_attack = dig(reply, 'userPromptAnalysis', 'attackDetected')
    if (typeof is_attack !== 'boolean') throw unknownForm('Azure Prompt Shields')
    const is_any =
      is_attack || entriesOf(dig(reply, 'documentsAnalysis')).some(each => dig(each, 'attackDetected') === true)
    return {passes: !is_any, labels: is_any ? ['attack'] : []}
  },
})

/** Source: Azure AI Content Safety REST API, Text Operations: Detect Text Protected Material. */
export const azureProtectedMaterial = partner({
  id: 'azure.protectedMaterial',
  title: 'Azure protected material',
  about: 'Passes unless the answer has known protected material.',
  sides: ['output'],
  credentials,
  shape: {apiVersion: version('2024-09-01')},
  ask: async call => ({
    url: urlOf(call, 'contentsafety/text:detectProtectedMaterial', call.parameters.apiVersion),
    headers: await authorized(call),
    body: {text: call.text},
  }),
  read([reply]) {
    const detected = dig(reply, 'protectedMaterialAnalysis', 'detected')
    if (typeof detected !== 'boolean') throw unknownForm('Azure protected material')
    return {passes: !detected, labels: detected ? ['protected material'] : []}
  },
})

function urlOf({credentials: {resourceName, customHost}}: Call, path: string, apiVersion: string): string {
  const start = customHost === `https://${HOST}` ? `https://${resourceName}.${HOST}` : customHost
  return `${start}/${path}?api-version=${apiVersion}`
}

/**
 * A key, or a token for an Entra application (Microsoft identity platform, client credentials flow), kept for a quarter
 * of an hour.
 */
async function authorized({credentials, context, post}: Call): Promise<Readonly<Record<string, string>>> {
  const {apiKey, tenantId, clientId, clientSecret} = credentials
  if (apiKey) return {'ocp-apim-subscription-key': apiKey}
  if (!tenantId || !clientId || !clientSecret)
    throw new CheckFault(
      'The credential apiKey is missing, and tenantId, clientId and clientSecret are not given either.',
      'ConfigurationError',
    )
  const kept = `azure ${createHash('sha256').update([tenantId, clientId, clientSecret].join(' ')).digest('hex')}`
  const known = context.memory.get(kept)
  if (typeof known === 'string') return {authorization: `Bearer ${known}`}
  const reply = await post({
    url: `https://login.microsoftonline.com/${tenantId}/oauth2/v2.0/token`,
    headers: {'content-type': 'application/x-www-form-urlencoded'},
    body: new URLSearchParams({
      client_id: clientId,
      client_secret: clientSecret,
      scope: SCOPE,
      grant_type: 'client_credentials',
    }).toString(),
  })
  const token = dig(reply, 'access_token')
  const expires_s = dig(reply, 'expires_in')
  if (typeof token !== 'string' || !/^[\x21-\x7e]{1,16384}$/.test(token)) throw unknownForm('Microsoft Entra')
  const age_s = typeof expires_s === 'number' ? expires_s / 2 : 0
  if (age_s >= 1) context.memory.put(kept, token, Math.min(MAX_TOKEN_AGE_S, Math.floor(age_s)))
  return {authorization: `Bearer ${token}`}
}
