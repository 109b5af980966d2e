import fc from 'fast-check'
import {expect, test} from 'vitest'
import {bedrock} from '../../../src/providers/bedrock/index.ts'
import {
  InvalidResponseFault,
  type Json,
  type StreamEvent,
  type Translation,
  type TranslationContext,
  UnsupportedInputFault,
} from '../../../src/providers/translation.ts'
import {contextOf, fixtures} from './fixtures.ts'

const MODELS = [
  'us.anthropic.claude-sonnet-4-20250514-v1:0',
  'amazon.titan-text-express-v1',
  'amazon.titan-embed-image-v1',
  'amazon.nova-2-lite-v1:0',
  'meta.llama3-8b-instruct-v1:0',
  'mistral.mistral-7b-instruct-v0:2',
  'cohere.command-text-v14',
  'cohere.embed-english-v3',
  'ai21.j2-mid-v1',
  'stability.sd3-large-v1:0',
]
const endpoints = Object.entries(bedrock.endpoints) as [string, Translation][]
const context = fc
  .record({model: fc.constantFrom(...MODELS), strict: fc.boolean(), is_stream: fc.boolean()})
  .map((said): TranslationContext => contextOf({...said, options: {aws_region: 'us-east-1'}}))

/** What may stand where something else was expected. */
const odd = fc.oneof(
  fc.constantFrom(null, true, 0, -1, 1e308, '', 'x', [], {}, [null], {type: 'text'}, '__proto__'),
  fc.jsonValue({maxDepth: 2}),
)

/** Well-formed things, of which some part is another thing. */
function spoiled(originals: readonly unknown[]) {
  return fc
    .tuple(fc.constantFrom(...originals), fc.array(fc.nat(), {maxLength: 6}), odd, fc.boolean())
    .map(([original, path, value, is_removed]) => {
      const copy = {root: JSON.parse(JSON.stringify(original)) as unknown}
      let holder: Record<string, unknown> = copy
      let key = 'root'
      for (const step of path) {
        const here = holder[key]
        if (typeof here !== 'object' || here === null) break
        const keys = Object.keys(here)
        if (keys.length === 0) break
        holder = here as Record<string, unknown>
        key = keys[step % keys.length]!
      }
      if (is_removed && key !== 'root') delete holder[key]
      else holder[key] = value
      return JSON.parse(JSON.stringify(copy.root)) as unknown // a hole in a list becomes null, as it would on the wire
    })
}

const ASKED = [
  ...fixtures.map(({asked}) => asked),
  {prompt: 'a', stop: ['b'], n: 1, suffix: '', echo: false},
  {input: [{text: 'a', image: {base64: 'AAAA'}}], dimensions: 3},
  {prompt: 'a', size: '512x512', n: 1, quality: 'hd'},
  {query: 'a', documents: ['b', {text: 'c'}], top_n: 1, return_documents: true},
]
const REPLIES = [
  ...fixtures.flatMap(({reply}) => (reply ? [reply] : [])),
  {inputTextTokenCount: 1, results: [{tokenCount: 1, outputText: 'a', completionReason: 'FINISH'}]},
  {generation: 'a', prompt_token_count: 1, generation_token_count: 1, stop_reason: 'stop'},
  {outputs: [{text: 'a', stop_reason: 'stop'}]},
  {generations: [{text: 'a', finish_reason: 'COMPLETE'}]},
  {prompt: {tokens: [1]}, completions: [{data: {text: 'a', tokens: [1]}, finishReason: {reason: 'stop'}}]},
  {embedding: [1, 2], inputTextTokenCount: 1},
  {embeddings: {float: [[1]]}},
  {images: ['AA=='], finish_reasons: [null]},
  {artifacts: [{base64: 'AA==', finishReason: 'SUCCESS'}]},
  {results: [{index: 0, relevanceScore: 0.5}]},
]

test('whatever is asked, it is translated to what can be written, or refused by its place', () => {
  fc.assert(
    fc.property(fc.constantFrom(...endpoints), spoiled(ASKED), context, ([, translation], asked, where) => {
      fc.pre(typeof asked === 'object' && asked !== null && !Array.isArray(asked))
      const sent = outcome(() => translation.request(asked as Json, where), UnsupportedInputFault)
      if (sent === null) return
      expect(sent.path).toMatch(
        /^\/(model\/[\w.%-]+\/(converse|converse-stream|count-tokens|invoke|invoke-with-response-stream)|rerank)$/,
      )
      expect(JSON.parse(JSON.stringify(sent.body))).toBeTypeOf('object')
    }),
    {numRuns: 3000},
  )
})

test('whatever is answered, it is a whole answer or refused', () => {
  fc.assert(
    fc.property(fc.constantFrom(...endpoints), spoiled(REPLIES), context, ([name, translation], reply, where) => {
      const answer = outcome(() => translation.reply(reply, where, ASKED.at(-1)!), InvalidResponseFault)
      if (answer === null) return
      const body = answer.body as Json
      const list = body.choices ?? body.data ?? body.results
      if (name !== 'messages' && name !== 'messagesCountTokens') expect(Array.isArray(list), name).toBe(true)
      for (const amount of Object.values({...answer.usage, units: 0, unknown: 0, tier: 0, speed: 0, mode: 0}))
        expect(Number.isSafeInteger(amount) && amount >= 0).toBe(true)
    }),
    {numRuns: 3000},
  )
})

const EVENTS: readonly StreamEvent[] = [
  {name: 'messageStart', data: {role: 'assistant'}},
  {name: 'contentBlockStart', data: {contentBlockIndex: 1, start: {toolUse: {toolUseId: 'a', name: 'b'}}}},
  {name: 'contentBlockDelta', data: {contentBlockIndex: 0, delta: {text: 'a'}}},
  {name: 'contentBlockDelta', data: {contentBlockIndex: 1, delta: {toolUse: {input: '{}'}}}},
  {name: 'contentBlockDelta', data: {contentBlockIndex: 2, delta: {reasoningContent: {text: 'a', signature: 'b'}}}},
  {name: 'contentBlockStop', data: {contentBlockIndex: 1}},
  {name: 'messageStop', data: {stopReason: 'end_turn'}},
  {name: 'metadata', data: {usage: {inputTokens: 1, outputTokens: 1, cacheDetails: [{ttl: '5m', inputTokens: 1}]}}},
  {name: 'chunk', data: {bytes: Buffer.from('{"outputText":"a","completionReason":"FINISH"}').toString('base64')}},
  {name: 'throttlingException', data: {message: 'a'}},
]

test('whatever a stream says, its chunks are whole, and it ends at most once', () => {
  // Those of Messages are Anthropic's own (test/providers/anthropic/native.test.ts).
  const streams = endpoints.flatMap(([name, {stream}]) => (stream && name !== 'messages' ? [stream] : []))
  fc.assert(
    fc.property(
      fc.constantFrom(...streams),
      fc.array(spoiled(EVENTS), {maxLength: 12}),
      context,
      (stream, events, where) => {
        const translator = stream.open(where, {stream_options: {include_usage: true}})
        let is_over = false
        for (const event of events) {
          const {name = null, data} = (typeof event === 'object' && event !== null ? event : {}) as {
            name?: unknown
            data?: unknown
          }
          const chunks = translator.event({name: typeof name === 'string' ? name : null, data})
          if (is_over) expect(chunks).toEqual([])
          for (const chunk of chunks)
            expect(chunk).toMatchObject({model: where.model, provider: 'bedrock', choices: expect.any(Array)})
          is_over ||= translator.failed !== null
        }
        expect(translator.end().length).toBeLessThanOrEqual(1)
      },
    ),
    {numRuns: 2000},
  )
})

test('whatever a fault’s body is, it is told in a sentence', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array({maxLength: 200}).map(Buffer.from),
        odd.map(said => Buffer.from(JSON.stringify(said))),
      ),
      body => {
        const {message, type} = bedrock.fault(500, body, contextOf())
        expect(message).toMatch(/^bedrock error: ./)
        expect(type === null || /^\w+$/.test(type)).toBe(true)
      },
    ),
  )
})

test('names that every object has are names like any other', () => {
  const {body} = bedrock.endpoints.chatComplete!.request(
    {
      messages: [{role: 'user', content: 'a'}],
      reasoning_effort: 'constructor',
      service_tier: 'toString',
      tools: [
        {type: 'function', function: {name: '__proto__', parameters: JSON.parse('{"__proto__": {"polluted": 1}}')}},
      ],
    },
    contextOf({model: 'anthropic.claude-3-haiku-20240307-v1:0'}),
  )
  expect(body).not.toHaveProperty('serviceTier')
  expect(body).not.toHaveProperty('additionalModelRequestFields')
  expect(JSON.stringify(body)).toContain('{"__proto__":{"polluted":1}}')
  expect({}).not.toHaveProperty('polluted')
})

/** What `act` gives; null when it throws `allowed`. Anything else that is thrown is a fault of ours. */
function outcome<T>(act: () => T, allowed: new (...words: never[]) => Error): T | null {
  try {
    return act()
  } catch (error) {
    if (error instanceof allowed) return null
    throw error
  }
}
