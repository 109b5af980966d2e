import {z} from 'zod'
import {base, secret} from './credentials.ts'
import {conversation} from './messages.ts'
import {BOTH, partner, unknownForm} from './partner.ts'
import {dig, namesOf} from './reading.ts'

const id = (what: string) =>
  z
    .string()
    .regex(/^[\x21-\x7e]{1,256}$/, 'must be visible ASCII')
    .optional()
    .describe(what)

/** Source: Lasso Security API v3, `POST /gateway/v3/classify`. */
export const lasso = partner({
  id: 'lasso.classify',
  title: 'Lasso Security',
  about: 'Passes unless a violation is detected.',
  sides: BOTH,
  aliases: ['lasso.scan'],
  credentials: {
    apiKey: secret('API key.'),
    apiBase: base('Where the API is.', 'https://server.lasso.security/gateway/v3'),
  },
  shape: {
    conversationId: id('Joins calls to a conversation.'),
    userId: id('The user.'),
  },
  ask: call => ({
    url: `${call.credentials.apiBase}/classify`,
    headers: {
      'lasso-api-key': call.credentials.apiKey,
      ...(call.parameters.conversationId ? {'lasso-conversation-id': call.parameters.conversationId} : {}),
      ...(call.parameters.userId ? {'lasso-user-id': call.parameters.userId} : {}),
    },
    body: {
      messages: call.is_input ? conversation(call) : [{role: 'assistant', content: call.text}],
      messageType: call.is_input ? 'PROMPT' : 'COMPLETION',
    },
  }),
  read([reply]) {
    const violated = dig(reply, 'violations_detected')
    if (typeof violated !== 'boolean') throw unknownForm('Lasso Security')
    return {passes: !violated, labels: namesOf(dig(reply, 'deputies'))}
  },
})
