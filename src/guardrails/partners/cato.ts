import {z} from 'zod'
import {isObject} from '../json.ts'
import {base, secret} from './credentials.ts'
import {conversation} from './messages.ts'
import {BOTH, partner, type Redaction, unknownForm} from './partner.ts'
import {bearer, dig, entriesOf} from './reading.ts'

const header = (what: string) =>
  z
    .string()
    .regex(/^[\x20-\x7e]{1,256}$/, 'must be visible ASCII')
    .optional()
    .describe(what)

/** Source: Cato AI security API, `POST /fw/v1/analyze`. */
export const cato = partner({
  id: 'cato.analyze',
  title: 'Cato Networks',
  about: 'Passes unless Cato asks to block. What it anonymizes is replaced.',
  sides: BOTH,
  credentials: {apiKey: secret('API key.'), apiBase: base('Where the API is.', 'https://api.aisec.catonetworks.com')},
  shape: {
    userEmail: header('The user, told to Cato.'),
    keyAlias: header('The name of the gateway’s key, told to Cato.'),
    shouldAnonymizeMonitorAction: z.boolean().optional().describe('Anonymizes what is only monitored, too.'),
  },
  ask(call) {
    const {userEmail, keyAlias, shouldAnonymizeMonitorAction} = call.parameters
    return {
      url: `${call.credentials.apiBase}/fw/v1/analyze`,
      headers: {
        ...bearer(call.credentials.apiKey),
        'x-cato-call-id': call.context.trace.trace_id,
        ...(userEmail ? {'x-cato-user-email': userEmail} : {}),
        ...(keyAlias ? {'x-cato-gateway-key-alias': keyAlias} : {}),
      },
      body: {
        messages: conversation(call).map(({role, content}) => ({role, content: [{type: 'text', text: content}]})),
        ...(shouldAnonymizeMonitorAction === undefined
          ? {}
          : {should_anonymize_monitor_action: shouldAnonymizeMonitorAction}),
      },
    }
  },
  read([reply], call) {
    const action = dig(reply, 'required_action')
    const type = dig(action, 'action_type') ?? 'monitor_action'
    if (!isObject(reply) || typeof type !== 'string') throw unknownForm('Cato Networks')
    if (type === 'block_action') return {passes: false, labels: ['block']}
    if (type !== 'anonymize_action') return {passes: true}
    const chat = dig(action, 'chat_redaction_result') ?? dig(reply, 'redacted_chat')
    const redacted = entriesOf(dig(chat, 'all_redacted_messages')).map(each => dig(each, 'content'))
    const last = dig(chat, 'redacted_new_message', 'content') ?? redacted.at(-1)
    const redactions: Redaction[] = typeof last === 'string' ? [{from: call.text, to: last}] : []
    return {passes: redactions.length > 0, labels: ['anonymize'], redactions}
  },
})
