import {type CountedEndpoint, countPrompt} from '../../providers/engines/prompt-counters.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import {type JsonBody, LONG_BODY_BYTES, wholeOf} from '../inbound/body.ts'
import type {OperationContext} from './multi-request.ts'
import {type SubRequestServices, SubRequests} from './sub-requests.ts'
import type {RequestTranslation} from './translate.ts'

const COUNTED: ReadonlySet<EndpointName> = new Set(['messages', 'chatComplete', 'complete'] satisfies CountedEndpoint[])

/**
 * Counts the prompt of a call at its engine, in the words in which it left; null for one that the engine has no counter
 * for, or that is long.
 */
export function promptCounter(
  of: OperationContext,
  words: RequestTranslation | null,
  services: SubRequestServices,
): ((within_ms: number) => Promise<number | null>) | null {
  const {call, provider, model} = of
  const {endpoint, body, is_passthrough} = call
  if (is_passthrough || body.kind !== 'json' || body.bytes.length > LONG_BODY_BYTES) return null
  if (!words && !COUNTED.has(endpoint)) return null
  return within_ms => {
    const request = words ? words.chat_request : wholeOf(body as JsonBody)
    const as = words ? 'chatComplete' : (endpoint as CountedEndpoint)
    const upstream = new SubRequests(of, new AbortController().signal, services)
    return countPrompt(provider.prompt_counters!, {endpoint: as, request, model: model ?? '', within_ms}, upstream)
  }
}
