import {z} from 'zod'
import {sign} from '../../base/sigv4.ts'
import {isObject, type JsonValue} from '../json.ts'
import {label, optionalSecret, secret} from './credentials.ts'
import {BOTH, partner, unknownForm} from './partner.ts'
import {dig, entriesOf, pairs, textsIn} from './reading.ts'

/** Source: Amazon Bedrock API reference, `ApplyGuardrail`. */
export const bedrock = partner({
  id: 'bedrock.guard',
  title: 'Amazon Bedrock Guardrails',
  about: 'Passes unless the guardrail blocks. With `redact` what it anonymizes is replaced.',
  sides: BOTH,
  credentials: {
    awsAccessKeyId: secret('Access key id.'),
    awsSecretAccessKey: secret('Secret access key.'),
    awsSessionToken: optionalSecret('Session token, of temporary credentials.'),
    awsRegion: label('Region.'),
  },
  shape: {
    guardrailId: z
      .string()
      .regex(/^[\w:/.-]{1,2048}$/, 'must be the id or ARN of a guardrail')
      .describe('The guardrail.'),
    guardrailVersion: z
      .string()
      .regex(/^(?:\d{1,8}|DRAFT)$/, 'must be a number or DRAFT')
      .describe('Its version.'),
    redact: z.boolean().default(false).describe('Replaces what the guardrail anonymizes.'),
  },
  ask({texts, credentials, parameters, is_input, context}) {
    const {guardrailId, guardrailVersion} = parameters
    const host = `bedrock-runtime.${credentials.awsRegion}.amazonaws.com`
    const path = `/guardrail/${encodeURIComponent(guardrailId)}/version/${guardrailVersion}/apply`
    const signed = (body: string) => {
      const {host: _, ...headers} = sign({
        ...{
          method: 'POST',
          host,
          path,
          body,
          service: 'bedrock',
          region: credentials.awsRegion,
          now_ms: context.now_ms(),
        },
        headers: {'content-type': 'application/json'},
        credentials: {
          access_key_id: credentials.awsAccessKeyId,
          secret_access_key: credentials.awsSecretAccessKey,
          session_token: credentials.awsSessionToken || null,
        },
      })
      return headers
    }
    return {
      url: `https://${host}${path}`,
      headers: signed,
      body: {source: is_input ? 'INPUT' : 'OUTPUT', content: texts.map(text => ({text: {text}}))},
    }
  },
  read([reply], {texts, parameters}) {
    const action = dig(reply, 'action')
    if (action !== 'NONE' && action !== 'GUARDRAIL_INTERVENED') throw unknownForm('Amazon Bedrock Guardrails')
    if (action === 'NONE') return {passes: true}
    const found = entriesOf(dig(reply, 'assessments')).flatMap(each => actions(each))
    const labels = found.map(({label}) => label)
    if (found.some(({action}) => action === 'BLOCKED')) return {passes: false, labels}
    if (!parameters.redact) return {passes: true, labels}
    const redactions = pairs(texts, textsIn(entriesOf(dig(reply, 'outputs')).map(each => dig(each, 'text'))))
    return {passes: redactions !== null, labels, redactions: redactions ?? []}
  },
})

const DEEPEST = 8

/** The actions of an assessment, at any depth: an action, and the type or name beside it. */
function actions(value: JsonValue, depth = 0): {readonly action: string; readonly label: string}[] {
  if (depth > DEEPEST) return []
  if (Array.isArray(value)) return value.flatMap(each => actions(each, depth + 1))
  if (!isObject(value)) return []
  const {action, type, name} = value
  const own =
    typeof action === 'string' && action !== 'NONE'
      ? [{action, label: typeof type === 'string' ? type : typeof name === 'string' ? name : 'word'}]
      : []
  return [...own, ...Object.values(value).flatMap(each => actions(each, depth + 1))]
}
