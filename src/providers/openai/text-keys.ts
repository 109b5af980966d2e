import type {EndpointName} from '../../schema/endpoints.ts'

/** Keys whose strings are what the model wrote. A key is tried when those before it held nothing. */
const CHAT_TEXT = ['content', 'arguments', 'reasoning_content', 'reasoning', 'refusal']
const TEXT: Readonly<Partial<Record<EndpointName, readonly string[]>>> = {
  chatComplete: CHAT_TEXT,
  complete: ['text'],
  createModelResponse: ['delta'],
  messages: ['text', 'thinking', 'partial_json'],
  createTranscription: ['delta'],
  proxy: [...CHAT_TEXT, 'text', 'delta'],
}

export function textKeysOf(endpoint: EndpointName): readonly string[] {
  return TEXT[endpoint] ?? []
}
