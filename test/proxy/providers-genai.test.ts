import {ApiError, GoogleGenAI} from '@google/genai'
import {afterAll, afterEach, beforeAll, expect, test} from 'vitest'
import {geminiWords} from '../support/dialects/gemini.ts'
import {PROVIDER_KEY} from '../support/dialects/words.ts'
import {CALLED, startTwin, TEXT, type Twin} from '../support/dialects.ts'
import {startGateway, type TestGateway, WORKSPACE_KEY} from '../support/gateway.ts'

let gateway: TestGateway
let google: Twin
/** The SDK names the version that it was made for; all else is as our own calls have it. */
const words = {...geminiWords, path: (is_stream: boolean) => geminiWords.path(is_stream).replace('/v1beta/', '/v1/')}
beforeAll(async () => {
  google = await startTwin(words)
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  await gateway.provider('google', 'google', google.url)
})
afterAll(async () => {
  await gateway.close()
  await google.close()
})
afterEach(() => {
  expect(google.forget()).toEqual([])
})

/** The SDK puts its own version and path behind the base URL, and its own key into `x-goog-api-key`. */
const client = (base = '/v1/proxy') =>
  new GoogleGenAI({
    apiKey: 'of-the-client',
    httpOptions: {
      baseUrl: gateway.url + base,
      headers: {'x-gateway-api-key': WORKSPACE_KEY, 'x-gateway-provider': '@google'},
      retryOptions: {attempts: 1},
    },
  })
const asked = () => ({
  model: google.model,
  contents: 'Which river runs through Vienna?',
  config: {systemInstruction: 'Be brief.', maxOutputTokens: 100},
})
const used = {promptTokenCount: 31, candidatesTokenCount: 7, totalTokenCount: 38}

test.each(['/v1/proxy', '/v1'])('a text is generated below %s', async base => {
  const {text, usageMetadata, candidates} = await client(base).models.generateContent(asked())
  expect(text).toBe(TEXT.text)
  expect(candidates![0]!.finishReason).toBe('STOP')
  expect(usageMetadata).toMatchObject(used)
  expect(google.received[0]!.headers['x-goog-api-key']).toBe(PROVIDER_KEY)
  expect(google.understood[0]).toMatchObject({
    system: 'Be brief.',
    turns: [{role: 'user', text: asked().contents}],
    max_tokens: 100,
  })
  expect((await gateway.logs())[0]).toMatchObject({response_status_code: 200, is_success: true})
})

test('a text is streamed', async () => {
  const pieces = []
  let last: unknown
  for await (const {text, usageMetadata} of await client().models.generateContentStream(asked())) {
    pieces.push(text)
    last = usageMetadata
  }
  expect(pieces.length).toBeGreaterThan(1)
  expect(pieces.join('')).toBe(TEXT.text)
  expect(last).toMatchObject(used)
})

test('functions are called', async () => {
  const parameters = {type: 'object', properties: {city: {type: 'string'}}, required: ['city']}
  const config = {
    tools: [
      {functionDeclarations: [{name: 'weather', description: 'Weather of a city', parametersJsonSchema: parameters}]},
    ],
  }
  const {functionCalls, text} = await client().models.generateContent({...asked(), config})
  expect(functionCalls).toEqual(CALLED.calls.map(({id, name, arguments: args}) => ({id, name, args})))
  expect(text).toBe(CALLED.text)
})

test('an error of the provider is an ApiError with its status and words', async () => {
  google.play({status: 429, message: 'Quota is used up.'})
  const error = await client()
    .models.generateContent(asked())
    .catch((fault: unknown) => fault)
  google.play(null)
  expect(error).toBeInstanceOf(ApiError)
  expect(error).toMatchObject({status: 429, message: expect.stringContaining('Quota is used up.')})
})
