import type {CheckContext} from './check.ts'
import type {JsonObject} from './json.ts'

/** The facts of a call that a service of the user's gets. The client's headers are not in it. */
export function callOf(context: CheckContext): JsonObject {
  const {side, request, response} = context
  return {
    request: {
      json: request?.body ?? null,
      text: request?.text ?? '',
      isStreamingRequest: context.is_streaming,
      isTransformed: context.is_request_transformed,
    },
    response: {
      json: response?.body ?? null,
      text: response?.text ?? '',
      statusCode: context.response_status,
      isTransformed: false,
    },
    provider: context.provider,
    requestType: context.endpoint,
    metadata: context.metadata,
    eventType: side === 'input' ? 'beforeRequestHook' : 'afterRequestHook',
  }
}
