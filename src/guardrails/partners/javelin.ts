import {z} from 'zod'
import {isObject, type JsonObject} from '../json.ts'
import {host, label, secret} from './credentials.ts'
import {BOTH, partner, unknownForm} from './partner.ts'
import {dig, entriesOf} from './reading.ts'

/** Source: Javelin guardrails API, `POST /v1/guardrails/apply`. */
export const javelin = partner({
  id: 'javelin.guardrails',
  title: 'Javelin',
  about: 'Passes unless one of the application’s guardrails rejects.',
  sides: BOTH,
  credentials: {
    apiKey: secret('API key.'),
    domain: host('The API’s host.', 'api-dev.javelin.live'),
    application: label('The application.'),
  },
  shape: {
    guardrails: z
      .array(z.strictObject({name: z.string().min(1), config: z.record(z.string(), z.unknown()).optional()}))
      .default([])
      .describe('Which guardrails, with their configs; empty: the application’s.'),
    threshold: z.number().min(0).max(1).optional().describe('A threshold for all.'),
  },
  ask: ({text, credentials, parameters: {guardrails, threshold}}) => ({
    url: `https://${credentials.domain}/v1/guardrails/apply`,
    headers: {'x-javelin-apikey': credentials.apiKey, 'x-javelin-application': credentials.application},
    body: {
      input: {text},
      ...(guardrails.length ? {guardrails: guardrails as unknown as readonly JsonObject[]} : {}),
      ...(threshold === undefined ? {} : {config: {threshold}}),
    },
  }),
  read([reply]) {
    const assessments = dig(reply, 'assessments')
    if (!Array.isArray(assessments) || !assessments.every(isObject)) throw unknownForm('Javelin')
    const labels = entriesOf(assessments).flatMap(each =>
      Object.entries(each as JsonObject).flatMap(([name, of]) => (dig(of, 'request_reject') === true ? name : [])),
    )
    return {passes: labels.length === 0, labels}
  },
})
