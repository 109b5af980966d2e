import {z} from 'zod'
import {base, secret} from './credentials.ts'
import {conversation} from './messages.ts'
import {BOTH, partner, unknownForm} from './partner.ts'
import {dig} from './reading.ts'

/** Source: Aporia guardrails REST API, `POST /{project}/validate`. */
export const aporia = partner({
  id: 'aporia.validateProject',
  title: 'Aporia',
  about: 'Passes what the project’s policies let through unchanged.',
  sides: BOTH,
  credentials: {apiKey: secret('API key.'), apiEndpoint: base('Where the API is.', 'https://gr-prd.aporia.com')},
  shape: {
    projectID: z
      .string()
      .regex(/^[\w-]{1,100}$/, 'must be letters, digits, - and _')
      .describe('The project.'),
  },
  ask: call => ({
    url: `${call.credentials.apiEndpoint}/${call.parameters.projectID}/validate`,
    headers: {'x-aporia-api-key': call.credentials.apiKey},
    body: {
      messages: conversation(call).slice(0, call.is_input ? undefined : -1),
      ...(call.is_input ? {} : {response: call.text}),
      validation_target: call.is_input ? 'prompt' : 'response',
      explain: true,
    },
  }),
  read([reply]) {
    const action = dig(reply, 'action')
    if (typeof action !== 'string') throw unknownForm('Aporia')
    return {passes: action === 'passthrough', labels: action === 'passthrough' ? [] : [action]}
  },
})
