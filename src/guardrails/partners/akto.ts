import {base, secret} from './credentials.ts'
import {BOTH, partner, unknownForm} from './partner.ts'
import {bearer, dig} from './reading.ts'

/** Source: Akto guardrails, `POST /api/validate/request`. */
export const akto = partner({
  id: 'akto.scan',
  title: 'Akto',
  about: 'Passes what Akto allows.',
  sides: BOTH,
  credentials: {
    apiKey: secret('API key.'),
    baseUrl: base('Where the API is.', 'https://1726615470-guardrails.akto.io'),
  },
  shape: {},
  ask: ({text, context, credentials}) => ({
    url: `${credentials.baseUrl}/api/validate/request`,
    headers: bearer(credentials.apiKey),
    body: {payload: JSON.stringify({prompt: text, model: context.model ?? 'unknown'})},
  }),
  read([reply]) {
    const allowed = dig(reply, 'Allowed')
    if (typeof allowed !== 'boolean') throw unknownForm('Akto')
    return {passes: allowed}
  },
})
