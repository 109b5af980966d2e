import {object, parsed} from '../../base/json-object.ts'
import type {ProviderFault, TranslationContext} from '../translation.ts'
import {withCause} from '../unified/fault.ts'

/** An error of a provider that speaks OpenAI's words. */
export function plainFault(_status: number, body: Buffer, {provider}: TranslationContext): ProviderFault {
  const error = object(object(parsed(body.toString())).error)
  const {type, param, code} = error
  const message = text(withCause(error))
  return {
    message: message ?? `${provider} error: ${body.toString('utf8', 0, 500) || 'no message'}`,
    type: text(type),
    param: text(param),
    code: text(code) ?? (message !== null && TOO_LONG.test(message) ? 'context_length_exceeded' : null),
  }
}

/** The words of Anthropic, OpenAI, Mistral and vLLM for a prompt that is too long, of which OpenAI has a code. */
const TOO_LONG = /prompt is too long|maximum context length|exceeds? (?:the )?(?:model's )?context/i

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
