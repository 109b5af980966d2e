import {z} from 'zod'
import {base, secret} from './credentials.ts'
import {BOTH, partner, unknownForm} from './partner.ts'
import {bearer, dig, entriesOf, masked, pairs, textsIn} from './reading.ts'

/** Source: Lakera Guard API reference, `POST /v2/guard`. */
export const lakera = partner({
  id: 'lakera.guard',
  title: 'Lakera Guard',
  about:
    'Passes what Lakera does not flag. With `redact` a text flagged for personal data alone is masked, and passes.',
  sides: BOTH,
  credentials: {apiKey: secret('API key.'), apiBase: base('Where the API is.', 'https://api.lakera.ai')},
  shape: {
    projectID: z.string().min(1).max(255).optional().describe('The project whose policy counts.'),
    redact: z.boolean().default(false).describe('Masks personal data.'),
  },
  parameter_aliases: {project_id: 'projectID'},
  ask: ({texts, credentials, parameters: {projectID}, is_input, context}) => ({
    url: `${credentials.apiBase}/v2/guard`,
    headers: bearer(credentials.apiKey),
    body: {
      messages: texts.map(content => ({role: is_input ? 'user' : 'assistant', content})),
      payload: true,
      breakdown: true,
      ...(projectID ? {project_id: projectID} : {}),
      ...(context.metadata._user ? {metadata: {user_id: context.metadata._user}} : {}),
    },
  }),
  read([reply], {texts, parameters}) {
    const flagged = dig(reply, 'flagged')
    if (typeof flagged !== 'boolean') throw unknownForm('Lakera Guard')
    if (!flagged) return {passes: true}
    const labels = textsIn(
      entriesOf(dig(reply, 'breakdown')).flatMap(each =>
        dig(each, 'detected') === true ? [dig(each, 'detector_type')] : [],
      ),
    )
    if (!parameters.redact || !labels.length || !labels.every(label => label.startsWith('pii')))
      return {passes: false, labels}
    const spans = entriesOf(dig(reply, 'payload'))
    const redactions = pairs(
      texts,
      texts.map(
        (text, index) =>
          masked(
            text,
            spans
              .filter(span => (dig(span, 'message_id') ?? 0) === index)
              .map(span => ({
                start: dig(span, 'start'),
                end: dig(span, 'end'),
                label: String(dig(span, 'detector_type') ?? 'pii').replace(/^pii\//, ''),
              })),
          ) ?? undefined,
      ),
    )
    const is_masked = redactions !== null && spans.length > 0 && redactions.some(({from, to}) => from !== to)
    return {passes: is_masked, labels, redactions: is_masked ? redactions : []}
  },
})
