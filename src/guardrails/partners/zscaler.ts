import {z} from 'zod'
import {base, secret} from './credentials.ts'
import {BOTH, partner, unknownForm} from './partner.ts'
import {bearer, dig, namesOf} from './reading.ts'

const ACTIONS: ReadonlySet<unknown> = new Set(['ALLOW', 'BLOCK', 'DETECT'])

/** Source: Zscaler AI Guard Detection as a Service, `POST /v1/detection/execute-policy`. */
export const zscaler = partner({
  id: 'zscaler.guard',
  title: 'Zscaler AI Guard',
  about: 'Passes unless the policy’s action is to block.',
  sides: BOTH,
  aliases: ['zscaler.scan', 'zscaler.main-function', 'zscaler-ai-guard.main-function'],
  credentials: {
    apiKey: secret('DAS application key.'),
    apiBase: base('Where the API is.', 'https://api.us1.zseclipse.net'),
  },
  timeout_ms: 10_000,
  shape: {
    policyId: z
      .union([z.string().regex(/^[\w-]{1,100}$/, 'must be the id of a policy'), z.int().min(1).transform(String)])
      .describe('The detections policy.'),
  },
  ask: ({text, credentials, parameters: {policyId}, is_input}) => ({
    url: `${credentials.apiBase}/v1/detection/execute-policy`,
    headers: bearer(credentials.apiKey),
    body: {
      policyId: /^\d{1,15}$/.test(policyId) ? Number(policyId) : policyId,
      direction: is_input ? 'IN' : 'OUT',
      content: text,
    },
  }),
  read([reply]) {
    const action = dig(reply, 'action')
    const status = dig(reply, 'statusCode') ?? 200
    if (!ACTIONS.has(action) || status !== 200) throw unknownForm('Zscaler AI Guard')
    return {
      passes: action !== 'BLOCK',
      labels: namesOf(dig(reply, 'detectorResponses'), each => dig(each, 'action') === 'BLOCK'),
    }
  },
})
