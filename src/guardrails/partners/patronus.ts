import {z} from 'zod'
import {secret} from './credentials.ts'
import {type PartnerCheck, partner, unknownForm} from './partner.ts'
import {dig} from './reading.ts'

const credentials = {apiKey: secret('API key.')}

function evaluator(name: string, title: string, evaluator: string, criteria?: string): PartnerCheck {
  return partner({
    id: `patronus.${name}`,
    title: `Patronus: ${title}`,
    about: `Passes if the evaluator \`${criteria ?? evaluator}\` does.`,
    sides: ['output'],
    credentials,
    shape: {},
    ask: call => requestFor(call.credentials.apiKey, evaluator, criteria, call.context.request?.text ?? '', call.text),
    read: ([reply]) => ruled(reply),
  })
}

/** Source: Patronus AI API reference, `POST /v1/evaluate`. */
export const patronus: readonly PartnerCheck[] = [
  evaluator('phi', 'health data', 'phi'),
  evaluator('pii', 'personal data', 'pii'),
  evaluator('isConcise', 'concise', 'judge', 'patronus:is-concise'),
  evaluator('isHelpful', 'helpful', 'judge', 'patronus:is-helpful'),
  evaluator('isPolite', 'polite', 'judge', 'patronus:is-polite'),
  evaluator('noApologies', 'no apologies', 'judge', 'patronus:no-apologies'),
  evaluator('noGenderBias', 'no gender bias', 'judge', 'patronus:no-gender-bias'),
  evaluator('noRacialBias', 'no racial bias', 'judge', 'patronus:no-racial-bias'),
  evaluator('retrievalAnswerRelevance', 'relevance of the answer', 'retrieval-answer-relevance'),
  evaluator('retrievalHallucination', 'hallucination', 'hallucination', 'patronus:hallucination'),
  evaluator('toxicity', 'toxicity', 'toxicity'),
  partner({
    id: 'patronus.custom',
    title: 'Patronus: criteria of your own',
    about: 'Passes if the judge finds that the answer meets the criteria.',
    sides: ['output'],
    credentials,
    shape: {profile: z.string().min(1).max(255).describe('The criteria, as `patronus:is-concise`.')},
    parameter_aliases: {criteria: 'profile'},
    ask: call =>
      requestFor(
        call.credentials.apiKey,
        'judge',
        call.parameters.profile,
        call.context.request?.text ?? '',
        call.text,
      ),
    read: ([reply]) => ruled(reply),
  }),
]

function requestFor(key: string, evaluator: string, criteria: string | undefined, input: string, output: string) {
  return {
    url: 'https://api.patronus.ai/v1/evaluate',
    headers: {'x-api-key': key},
    body: {
      evaluators: [{evaluator, explain_strategy: 'always', ...(criteria ? {criteria} : {})}],
      evaluated_model_input: input,
      evaluated_model_output: output,
    },
  }
}

function ruled(reply: Parameters<typeof dig>[0]) {
  const result = dig(reply, 'results', 0)
  const passes = dig(result, 'evaluation_result', 'pass')
  if (dig(result, 'error_message') || typeof passes !== 'boolean') throw unknownForm('Patronus')
  return {passes}
}
