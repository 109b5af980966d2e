import {object, parsed} from '../../base/json-object.ts'
import type {ProviderFault, TranslationContext} from '../translation.ts'

/** An error of a provider that speaks OpenAI's words. */
export function plainFault(_status: number, body: Buffer, {provider}: TranslationContext): ProviderFault {
  const {message, type, param, code} = object(object(parsed(body.toString())).error)
  const text = (value: unknown) => (typeof value === 'string' ? value : null)
  return {
    message: text(message) ?? `${provider} error: ${body.toString('utf8', 0, 500) || 'no message'}`,
    type: text(type),
    param: text(param),
    code: text(code),
  }
}
