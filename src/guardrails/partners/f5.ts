import {z} from 'zod'
import {base, secret} from './credentials.ts'
import {BOTH, partner, unknownForm} from './partner.ts'
import {bearer, dig, pairs} from './reading.ts'

/** Source: F5 AI Guardrails (CalypsoAI) API, `POST /backend/v1/scans`. */
export const f5 = partner({
  id: 'f5-guardrails.scan',
  title: 'F5 AI Guardrails',
  about: 'Passes what the project’s scanners clear. With `redact` what they redact is replaced.',
  sides: BOTH,
  credentials: {apiKey: secret('API token.'), calypsoUrl: base('Where the API is.', 'https://us1.calypsoai.app')},
  shape: {
    projectId: z.string().min(1).max(255).describe('The project.'),
    redact: z.boolean().default(false).describe('Replaces what is redacted.'),
  },
  ask: ({texts, credentials, parameters}) =>
    texts.map(text => ({
      url: `${credentials.calypsoUrl}/backend/v1/scans`,
      headers: bearer(credentials.apiKey),
      body: {input: text, project: parameters.projectId},
    })),
  read(replies, {texts, parameters}) {
    const outcomes = replies.map(reply => dig(reply, 'result', 'outcome'))
    if (outcomes.some(outcome => typeof outcome !== 'string')) throw unknownForm('F5 AI Guardrails')
    const labels = outcomes.filter(outcome => outcome !== 'cleared').map(String)
    const is_redacted = parameters.redact && outcomes.every(outcome => outcome === 'cleared' || outcome === 'redacted')
    const redactions =
      is_redacted && labels.length
        ? pairs(
            texts,
            replies.map((reply, index) => (outcomes[index] === 'cleared' ? texts[index] : dig(reply, 'redactedInput'))),
          )
        : []
    return {passes: labels.length === 0 || (is_redacted && redactions !== null), labels, redactions: redactions ?? []}
  },
})
