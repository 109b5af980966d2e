import type {Json} from '../../../src/providers/translation.ts'
import {type Answer, json} from '../provider.ts'
import {anthropicStrict} from './anthropic.ts'
import {bedrockStrict} from './bedrock.ts'
import {cohereStrict} from './cohere.ts'
import {deepseekStrict} from './deepseek.ts'
import {geminiStrict} from './gemini.ts'
import {groqStrict} from './groq.ts'
import {mistralStrict} from './mistral.ts'
import {openaiStrict} from './openai.ts'
import {refusals, type StrictDialect} from './rule.ts'
import {vertexStrict} from './vertex.ts'
import {vllmStrict} from './vllm.ts'

export {refusals, type StrictDialect} from './rule.ts'

/** The providers whose refusals are known, by the name of their dialect. */
export const STRICT: readonly StrictDialect[] = [
  anthropicStrict,
  bedrockStrict,
  geminiStrict,
  vertexStrict,
  cohereStrict,
  mistralStrict,
  openaiStrict,
  groqStrict,
  deepseekStrict,
  vllmStrict,
]

/** A fake provider that refuses as this one does, and lets `answer` answer the rest. `model`: the one of the path. */
export function strictAnswer(strict: StrictDialect, answer: Answer, model = strict.model): Answer {
  return (received, response, request) => {
    const found = refusals(strict, JSON.parse(received.body.toString()) as Json, model)
    if (found.length === 0) return answer(received, response, request)
    json(response, {error: {type: 'invalid_request_error', message: found.join('; ')}}, 400)
  }
}
