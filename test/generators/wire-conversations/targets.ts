import {variantOf} from '../../../src/providers/base-urls/base-url.ts'
import {translationFor} from '../../../src/providers/clients.ts'
import {withLimitMembers} from '../../../src/providers/limit-members.ts'
import {nativeMessages} from '../../../src/providers/messages/index.ts'
import {find} from '../../../src/providers/registry.ts'
import {type Json, type TranslationContext, UnsupportedInputFault} from '../../../src/providers/translation.ts'
import type {EndpointName} from '../../../src/schema/endpoints.ts'

/** A provider and a model, and the strict model that judges what leaves for it. */
export interface WireTarget {
  readonly slug: string
  readonly model: string
  readonly strict: string
}

export const WIRE_TARGETS: readonly WireTarget[] = [
  {slug: 'anthropic', model: 'claude-sonnet-4-5', strict: 'anthropic'},
  {slug: 'anthropic', model: 'claude-opus-4-7', strict: 'anthropic'},
  {slug: 'vertex-ai', model: 'anthropic.claude-sonnet-4-5@20250929', strict: 'anthropic'},
  {slug: 'bedrock', model: 'amazon.nova-pro-v1:0', strict: 'bedrock'},
  {slug: 'bedrock', model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0', strict: 'bedrock'},
  {slug: 'google', model: 'gemini-2.5-flash', strict: 'gemini'},
  {slug: 'google', model: 'gemini-3-pro-preview', strict: 'gemini'},
  {slug: 'vertex-ai', model: 'gemini-2.5-flash', strict: 'vertex'},
  {slug: 'cohere', model: 'command-a-03-2025', strict: 'cohere'},
  {slug: 'mistral-ai', model: 'mistral-large-latest', strict: 'mistral'},
  {slug: 'openai', model: 'gpt-5-mini', strict: 'openai'},
  {slug: 'azure-openai', model: 'gpt-5-mini', strict: 'openai'},
  {slug: 'groq', model: 'llama-3.3-70b-versatile', strict: 'groq'},
  {slug: 'deepseek', model: 'deepseek-chat', strict: 'deepseek'},
  {slug: 'vllm', model: 'qwen3', strict: 'vllm'},
]

const OPTIONS = {vertex_project_id: 'p', aws_region: 'us-east-1', azure_resource_name: 'r'}

/** The fate of a request: what leaves and what is reported of it, or the field for which it is refused before. */
export type Sent = {readonly body: Json; readonly reports: readonly string[]} | {readonly refused: string}

/** The way of a request of `endpoint` to a target; null where its bytes pass as they are, so that nothing is ours. */
export function wayTo({slug, model}: WireTarget, endpoint: EndpointName): ((request: Json) => Sent) | null {
  const provider = variantOf(find(slug)!, model, OPTIONS)
  const pair = translationFor(provider, endpoint)
  if (!pair || pair.client === nativeMessages) return null
  const {translation, client} = pair
  return request => {
    const reports: string[] = []
    const context: TranslationContext = {
      provider: slug,
      model,
      is_stream: request.stream === true,
      strict: !client,
      options: OPTIONS,
      call_id: 'call',
      created_s: 1,
      report: adaptation => void reports.push(adaptation),
    }
    try {
      const chat = client
        ? withLimitMembers(provider, client.toChat({...request, model}, context))
        : {...request, model}
      const {body} = translation.request(chat, context)
      // as it is written: members that are undefined are none
      return {body: JSON.parse(JSON.stringify(body)) as Json, reports}
    } catch (fault) {
      if (fault instanceof UnsupportedInputFault && fault.field !== '') return {refused: fault.message}
      throw fault
    }
  }
}
