import {describe, expect, test} from 'vitest'
import {bedrock} from '../../../src/providers/bedrock/index.ts'
import {InvalidResponseFault, type Json, UnsupportedInputFault} from '../../../src/providers/translation.ts'
import {contextOf, counted, follow, framed} from './fixtures.ts'

const complete = bedrock.endpoints.complete!
const METRICS = {
  'amazon-bedrock-invocationMetrics': {
    inputTokenCount: 5,
    outputTokenCount: 3,
    invocationLatency: 200,
    firstByteLatency: 100,
  },
}
const USED = {input_uncached_tokens: 5, output_text_tokens: 3}

/**
 * One family: what is asked, what it sends and answers, whole and in parts (Bedrock user guide, inference parameters).
 */
const families: readonly {
  model: string
  asked: Json
  sent: Json
  reply: Json
  usage: Json | null
  parts: readonly Json[]
  finish: string
  own: string
}[] = [
  {
    model: 'amazon.titan-text-express-v1',
    asked: {max_tokens: 9, temperature: 1.5, top_p: 0.5, stop: ['END']},
    sent: {
      inputText: 'One,',
      textGenerationConfig: {maxTokenCount: 9, temperature: 1, topP: 0.5, stopSequences: ['END']},
    },
    reply: {inputTextTokenCount: 5, results: [{tokenCount: 3, outputText: ' two three', completionReason: 'FINISH'}]},
    usage: USED,
    parts: [
      {outputText: ' two', index: 0, totalOutputTextTokenCount: null, completionReason: null, inputTextTokenCount: 5},
      {
        outputText: ' three',
        index: 0,
        totalOutputTextTokenCount: 3,
        completionReason: 'FINISH',
        inputTextTokenCount: null,
        ...METRICS,
      },
    ],
    finish: 'stop',
    own: 'FINISH',
  },
  {
    model: 'us.meta.llama3-3-70b-instruct-v1:0',
    asked: {max_tokens: 9, temperature: 0.5},
    sent: {prompt: 'One,', max_gen_len: 9, temperature: 0.5},
    reply: {generation: ' two three', prompt_token_count: 5, generation_token_count: 3, stop_reason: 'length'},
    usage: USED,
    parts: [
      {generation: ' two', prompt_token_count: 5, generation_token_count: 1, stop_reason: null},
      {generation: ' three', prompt_token_count: null, generation_token_count: 3, stop_reason: 'length', ...METRICS},
    ],
    finish: 'length',
    own: 'length',
  },
  {
    model: 'mistral.mistral-7b-instruct-v0:2',
    asked: {max_tokens: 9, top_k: 3, stop: 'END'},
    sent: {prompt: 'One,', max_tokens: 9, top_k: 3, stop: ['END']},
    reply: {outputs: [{text: ' two three', stop_reason: 'stop'}]},
    usage: null,
    parts: [
      {outputs: [{text: ' two', stop_reason: null}]},
      {outputs: [{text: ' three', stop_reason: 'stop'}], ...METRICS},
    ],
    finish: 'stop',
    own: 'stop',
  },
  {
    model: 'cohere.command-text-v14',
    asked: {max_tokens: 9, top_p: 0.3, n: 1},
    sent: {prompt: 'One,', max_tokens: 9, p: 0.3, num_generations: 1},
    reply: {id: 'a', prompt: 'One,', generations: [{id: 'b', text: ' two three', finish_reason: 'MAX_TOKENS'}]},
    usage: null,
    parts: [
      {text: ' two', index: 0, is_finished: false},
      {text: ' three', index: 0, is_finished: false},
      {finish_reason: 'MAX_TOKENS', index: 0, is_finished: true, ...METRICS},
    ],
    finish: 'length',
    own: 'MAX_TOKENS',
  },
]

function chunkFrames(parts: readonly Json[]): Buffer {
  return framed(parts.map(part => ({chunk: {bytes: Buffer.from(JSON.stringify(part)).toString('base64'), p: 'abc'}})))
}

describe.each(families)('$model', ({model, asked, sent, reply, usage, parts, finish, own}) => {
  const body = {prompt: 'One,', ...asked}

  test('is asked in its own words', () => {
    const path = `/model/${encodeURIComponent(model)}`
    expect(complete.request(body, contextOf({model}))).toEqual({method: 'POST', path: `${path}/invoke`, body: sent})
    expect(complete.request(body, contextOf({model, is_stream: true})).path).toBe(`${path}/invoke-with-response-stream`)
  })

  test('is read whole', () => {
    const answer = complete.reply(reply, contextOf({model}), body)
    expect(answer.body).toMatchObject({
      id: 'cmpl-call-1',
      object: 'text_completion',
      model,
      provider: 'bedrock',
      choices: [{index: 0, text: ' two three', logprobs: null, finish_reason: finish}],
    })
    expect(counted(answer.usage)).toEqual(usage)
    expect(complete.reply(reply, contextOf({model, strict: false}), body).body).toMatchObject({
      choices: [{finish_reason: own}],
    })
  })

  test('is read in parts, with the usage that AWS counts at the end', () => {
    const context = contextOf({model, is_stream: true})
    const translator = complete.stream!.open(context, {...body, stream_options: {include_usage: true}})
    const chunks = follow(translator, [chunkFrames(parts)])
    const choices = chunks.flatMap(chunk => chunk.choices as readonly {text: string; finish_reason: string | null}[])
    expect(choices.map(({text}) => text).join('')).toBe(' two three')
    expect(choices.map(({finish_reason}) => finish_reason).filter(Boolean)).toEqual([finish])
    expect(chunks.at(-1)).toMatchObject({
      object: 'text_completion',
      choices: [],
      usage: {prompt_tokens: 5, completion_tokens: 3, total_tokens: 8},
    })
    expect(counted(translator.usage)).toEqual(USED)
    expect(translator).toMatchObject({finished: true, failed: null, text_bytes: 10})
  })

  test('a stream that is cut off is not finished and owes nothing', () => {
    const translator = complete.stream!.open(contextOf({model, is_stream: true}), {
      ...body,
      stream_options: {include_usage: true},
    })
    expect(follow(translator, [chunkFrames(parts.slice(0, 1))])).toHaveLength(1)
    expect(translator.finished).toBe(false)
  })

  test.each([null, [], 'x', {}, {message: 'overloaded'}, {results: [null]}, {outputs: 5}, {generations: [{text: 1}]}])(
    'an answer of %j is refused',
    said => {
      expect(() => complete.reply(said, contextOf({model}), body)).toThrow(InvalidResponseFault)
    },
  )

  test.each<[string, Json]>([
    ['no base64', {bytes: '%%%'}],
    ['no bytes', {}],
    ['a list', {bytes: Buffer.from('[]').toString('base64')}],
    ['another shape', {bytes: Buffer.from('{"a":1}').toString('base64')}],
  ])('a part with %s breaks the stream off', (_, chunk) => {
    const translator = complete.stream!.open(contextOf({model, is_stream: true}), body)
    expect(follow(translator, [framed([{chunk}])])).toEqual([])
    expect(translator.failed).toMatchObject({type: 'invalid_response', status: 502})
  })
})

test('Jurassic-2 counts by its lists of tokens', () => {
  const model = 'ai21.j2-mid-v1'
  const asked = {prompt: 'One,', max_tokens: 4, n: 2, stop: 'x', presence_penalty: 0.5}
  expect(complete.request(asked, contextOf({model})).body).toEqual({
    prompt: 'One,',
    maxTokens: 4,
    stopSequences: ['x'],
    numResults: 2,
    presencePenalty: {scale: 0.5},
  })
  const completion = (text: string, reason: string) => ({data: {text, tokens: [{}, {}]}, finishReason: {reason}})
  const reply = {
    id: 1,
    prompt: {text: 'One,', tokens: [{}, {}, {}]},
    completions: [completion(' two', 'endoftext'), completion(' deux', 'length')],
  }
  const {body, usage} = complete.reply(reply, contextOf({model}), asked)
  expect((body as Json).choices).toMatchObject([
    {index: 0, text: ' two', finish_reason: 'stop'},
    {index: 1, text: ' deux', finish_reason: 'length'},
  ])
  expect(counted(usage)).toEqual({input_uncached_tokens: 3, output_text_tokens: 4})
})

describe('a model without a body of its own is asked by Converse', () => {
  const context = contextOf({model: 'arn:aws:bedrock:us-east-1:111122223333:application-inference-profile/abc'})
  const asked = {prompt: ['One,'], max_tokens: 3, stream_options: {include_usage: true}}
  const usage = {inputTokens: 5, outputTokens: 3, totalTokens: 8}

  test('whole', () => {
    const {path, body} = complete.request(asked, context)
    expect(path).toMatch(/\/converse$/)
    expect(body).toEqual({messages: [{role: 'user', content: [{text: 'One,'}]}], inferenceConfig: {maxTokens: 3}})
    const reply = {output: {message: {role: 'assistant', content: [{text: ' two'}]}}, stopReason: 'max_tokens', usage}
    const answer = complete.reply(reply, context, asked)
    expect(answer.body).toMatchObject({
      object: 'text_completion',
      choices: [{text: ' two', finish_reason: 'length'}],
      usage: {total_tokens: 8},
    })
    expect(counted(answer.usage)).toEqual(USED)
  })

  test('streamed', () => {
    const translator = complete.stream!.open(context, asked)
    const delta = {contentBlockDelta: {contentBlockIndex: 0, delta: {text: ' two'}}}
    const chunks = follow(translator, [
      framed([
        {messageStart: {role: 'assistant'}},
        delta,
        {messageStop: {stopReason: 'max_tokens'}},
        {metadata: {usage}},
      ]),
    ])
    expect(chunks).toMatchObject([
      {object: 'text_completion', choices: [{text: ' two', finish_reason: null}]},
      {choices: [{text: '', finish_reason: 'length'}]},
      {choices: [], usage: {total_tokens: 8}},
    ])
    expect(counted(translator.usage)).toEqual(USED)
    expect(translator).toMatchObject({finished: true, failed: null})
  })
})

test.each<[string, string, Json]>([
  ['two prompts', 'amazon.titan-text-lite-v1', {prompt: ['a', 'b']}],
  ['token numbers', 'amazon.titan-text-lite-v1', {prompt: [1, 2]}],
  ['no prompt', 'amazon.titan-text-lite-v1', {}],
  ['a suffix', 'amazon.titan-text-lite-v1', {prompt: 'a', suffix: 'z'}],
  ['an echo', 'amazon.titan-text-lite-v1', {prompt: 'a', echo: true}],
  ['the best of five', 'amazon.titan-text-lite-v1', {prompt: 'a', best_of: 5}],
  ['log probabilities', 'amazon.titan-text-lite-v1', {prompt: 'a', logprobs: 2}],
  ['two completions', 'meta.llama3-8b-instruct-v1:0', {prompt: 'a', n: 2}],
  ['stop words of Llama', 'meta.llama3-8b-instruct-v1:0', {prompt: 'a', stop: ['b']}],
])('%s cannot be asked', (_, model, asked) => {
  expect(() => complete.request(asked, contextOf({model}))).toThrow(UnsupportedInputFault)
})

test('Jurassic-2 does not stream', () => {
  expect(() => complete.request({prompt: 'a'}, contextOf({model: 'ai21.j2-ultra-v1', is_stream: true}))).toThrow(
    UnsupportedInputFault,
  )
})

test('an exception in a stream of parts is told', () => {
  const translator = complete.stream!.open(contextOf({model: 'amazon.titan-text-lite-v1'}), {})
  expect(follow(translator, [framed([{'!throttlingException': {message: 'slow'}}])])).toEqual([])
  expect(translator.failed).toMatchObject({message: 'bedrock error: slow', status: 429})
})
