import {telemetryName} from '../../providers/telemetry-names.ts'
import {ENDPOINTS} from '../../schema/endpoints.ts'

/** Operations of the conventions by our endpoints; others go by the endpoint's name. */
const OPERATIONS: Readonly<Record<string, string>> = {
  chatComplete: 'chat',
  messages: 'chat',
  createModelResponse: 'chat',
  promptComplete: 'chat',
  realtime: 'chat',
  complete: 'text_completion',
  embed: 'embeddings',
  imageGenerate: 'generate_content',
  imageEdit: 'generate_content',
  imageVariation: 'generate_content',
  createSpeech: 'generate_content',
  createTranscription: 'generate_content',
  createTranslation: 'generate_content',
  'tools/call': 'execute_tool',
}

export const operationOf = (endpoint: string): string =>
  Object.hasOwn(OPERATIONS, endpoint) ? OPERATIONS[endpoint]! : endpoint

/** Operations that run a model. */
export const isInference = (endpoint: string): boolean =>
  endpoint !== 'tools/call' && Object.hasOwn(OPERATIONS, endpoint)

const ROUTES: ReadonlyMap<string, string> = new Map(ENDPOINTS.map(({name, path}) => [name, `/v1${path}`]))

/** The path of a unified route; few, whatever clients send. Undefined for others. */
export const routeOf = (endpoint: string): string | undefined => ROUTES.get(endpoint)

export const providerName = (provider: string): string | null => (provider === '' ? null : telemetryName(provider))
