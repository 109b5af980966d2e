import Anthropic from '@anthropic-ai/sdk'
import {GoogleGenAI} from '@google/genai'
import OpenAI from 'openai'
import {argumentsFor} from './fill.ts'
import {GOOGLE_CALLS, VERTEX_CALLS} from './google-calls.ts'
import {googleMethods} from './google-methods.ts'
import {callMethod, methodsOf} from './methods.ts'

/** A vendor's own client, as the sweep drives it. */
export interface Driven {
  readonly client: string
  /** Kind of provider, and the slug of its integration here. */
  readonly kind: string
  /** What is in front of the client's paths at the vendor, and so at the gateway. */
  readonly methods: readonly string[]
  /** Calls a method of a client that was made for `origin`. */
  call(origin: string, key: string, headers: Record<string, string>, method: string): Promise<unknown>
  /** What leaves where the gateway writes a request line otherwise than the client. */
  leaves(path: string): string
}

const as_sent = (path: string) => path
/** Named by no price list as ending soon: the clients would warn. */
const MODELS = {openai: 'gpt-4o', anthropic: 'claude-opus-4-8'}

const openai: Driven = generated('openai', (origin, apiKey, defaultHeaders) => {
  return new OpenAI({
    apiKey,
    adminAPIKey: apiKey,
    baseURL: `${origin}/v1`,
    maxRetries: 0,
    timeout: 10_000,
    defaultHeaders,
  })
})
const anthropic: Driven = generated('anthropic', (origin, apiKey, defaultHeaders) => {
  return new Anthropic({apiKey, baseURL: origin, maxRetries: 0, timeout: 10_000, defaultHeaders})
})
/**
 * Below `/v1` of the gateway its version is not the client's: where a path says none, Google's is the one that has all
 * operations.
 */
const google: Driven = ofGoogle(
  'google',
  GOOGLE_CALLS,
  path => path.replace(/^\/v1\//, '/v1beta/'),
  apiKey => ({apiKey}),
)
const vertex: Driven = ofGoogle('vertex-ai', {...GOOGLE_CALLS, ...VERTEX_CALLS}, as_sent, key => ({
  vertexai: true,
  project: 'p',
  location: 'us-central1',
  googleAuthOptions: {
    authClient: {getRequestHeaders: async () => new Headers({authorization: `Bearer ${key}`})} as never,
  },
}))

export const DRIVEN: readonly Driven[] = [openai, anthropic, google, vertex]

function generated(
  client: keyof typeof MODELS,
  open: (origin: string, key: string, headers: Record<string, string>) => object,
): Driven {
  const methods = new Map(methodsOf(open('http://127.0.0.1', 'key', {})).map(each => [each.name, each]))
  return {
    client,
    kind: client,
    methods: [...methods.keys()],
    call: (origin, key, headers, name) =>
      callMethod(open(origin, key, headers), name, argumentsFor(methods.get(name)!, MODELS[client])),
    leaves: as_sent,
  }
}

function ofGoogle(
  kind: string,
  calls: typeof GOOGLE_CALLS,
  leaves: Driven['leaves'],
  login: (key: string) => ConstructorParameters<typeof GoogleGenAI>[0],
): Driven {
  const open = (baseUrl: string, key: string, headers: Record<string, string>) =>
    new GoogleGenAI({...login(key), httpOptions: {baseUrl, headers, retryOptions: {attempts: 1}}})
  return {
    client: `google-genai ${kind}`,
    kind,
    methods: googleMethods(open('http://127.0.0.1', 'key', {})),
    call: async (origin, key, headers, name) => callMethod(open(origin, key, headers), name, calls[name] ?? []),
    leaves,
  }
}
