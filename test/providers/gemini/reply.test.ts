import fc from 'fast-check'
import {expect, test} from 'vitest'
import {InvalidResponseFault, type Json} from '../../../src/providers/translation.ts'
import {CASES, chatOf, contextOf, followed, parsedEvent} from './fixtures.ts'

const asked = {messages: [{role: 'user', content: 'Hi'}]}
const chat = chatOf()

function reply(said: unknown, strict = true): Json {
  return chat.reply(said, contextOf({strict}), asked).body as Json
}

function choices(body: Json): readonly (Json & {message: Json; finish_reason: string})[] {
  return body.choices as readonly (Json & {message: Json; finish_reason: string})[]
}

test.each([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['SAFETY', 'content_filter'],
  ['RECITATION', 'stop'],
  ['LANGUAGE', 'content_filter'],
  ['BLOCKLIST', 'content_filter'],
  ['PROHIBITED_CONTENT', 'content_filter'],
  ['SPII', 'content_filter'],
  ['IMAGE_SAFETY', 'content_filter'],
  ['MALFORMED_FUNCTION_CALL', 'stop'],
  ['FINISH_REASON_UNSPECIFIED', 'stop'],
  ['OTHER', 'stop'],
  ['SOMETHING_NEW', 'stop'],
  ['constructor', 'stop'],
])('%s ends as %s, with strict off as it is, plain and streamed', (finishReason, finish) => {
  const said = {candidates: [{content: {parts: [{text: 'a'}]}, finishReason}]}
  const events = Buffer.from(`data: ${JSON.stringify(said)}\n\n`)
  for (const [strict, expected] of [
    [true, finish],
    [false, finishReason],
  ] as const) {
    expect(choices(reply(said, strict))[0]!.finish_reason).toBe(expected)
    expect(choices(followed([events], contextOf({strict}), asked).chunks.at(-1)!)[0]!.finish_reason).toBe(expected)
  }
})

test('calls end as tool_calls unless they are cut short', () => {
  const said = (finishReason: string) => ({
    candidates: [{content: {parts: [{functionCall: {name: 'f', args: {}}}]}, finishReason}],
  })
  expect(choices(reply(said('STOP')))[0]!.finish_reason).toBe('tool_calls')
  expect(choices(reply(said('MAX_TOKENS')))[0]!.finish_reason).toBe('length')
})

test.each([
  ['nothing', null],
  ['text', '<html>502 Bad Gateway</html>'],
  ['a list', []],
  ['an empty object', {}],
  ['no candidate', {candidates: [], usageMetadata: {promptTokenCount: 1}}],
  ['candidates that are none', {candidates: 'x'}],
  ['an empty candidate', {candidates: [{}]}],
  ['a candidate that is none', {candidates: [null]}],
  ['content that is none', {candidates: [{content: 'x', finishReason: 'STOP'}]}],
  ['parts that are none', {candidates: [{content: {parts: 'x'}, finishReason: 'STOP'}]}],
  ['a part that is none', {candidates: [{content: {parts: ['x']}, finishReason: 'STOP'}]}],
  ['a text that is none', {candidates: [{content: {parts: [{text: 7}]}, finishReason: 'STOP'}]}],
  [
    'a call without a name',
    {candidates: [{content: {parts: [{text: 'a'}, {functionCall: {args: {}}}]}, finishReason: 'STOP'}]},
  ],
  [
    'a call with strange arguments',
    {candidates: [{content: {parts: [{functionCall: {name: 'f', args: '{}'}}]}, finishReason: 'STOP'}]},
  ],
  [
    'a picture without bytes',
    {candidates: [{content: {parts: [{inlineData: {mimeType: 'image/png'}}]}, finishReason: 'STOP'}]},
  ],
  [
    'arguments nested beyond what can be written',
    {candidates: [{content: {parts: [{functionCall: {name: 'f', args: {a: deep(100_000)}}}]}}]},
  ],
])('%s is no answer, and no chunk either', (_, said) => {
  expect(() => reply(said)).toThrow(InvalidResponseFault)
  const translator = chat.stream.open(contextOf({is_stream: true}), asked)
  const told = [...translator.event({name: null, data: said}), ...translator.end()]
  expect(translator.finished).toBe(false)
  expect(told.flatMap(chunk => choices(chunk).map(each => each.finish_reason)).filter(each => each !== null)).toEqual(
    [],
  )
})

test.each([
  [{error: {code: 400, message: 'Bad key', status: 'INVALID_ARGUMENT'}}],
  [[{error: {code: 400, message: 'Bad key', status: 'INVALID_ARGUMENT'}}]],
])('an error with status 200 is none of an answer: %j', said => {
  expect(() => reply(said)).toThrow('google error: Bad key')
})

test('in a stream, what is no answer is told as a fault', () => {
  const translator = chat.stream.open(contextOf({is_stream: true}), asked)
  translator.event({name: null, data: {candidates: [{content: {parts: [{text: 'a'}]}}]}})
  expect(translator.event({name: null, data: {candidates: [{content: {parts: [{functionCall: {}}]}}]}})).toEqual([])
  expect(translator.failed).toEqual({
    message: 'Invalid response received from google: a function call has no name',
    type: null,
    param: null,
    code: null,
    status: null,
  })
  expect(translator.text_bytes).toBe(1)
})

test('the marks that other streams end with say nothing', () => {
  const translator = chat.stream.open(contextOf({is_stream: true}), asked)
  expect([...translator.event({name: null, data: '[DONE]'}), ...translator.event({name: null, data: ''})]).toEqual([])
  expect([translator.failed, translator.finished, translator.usage, translator.model, translator.text_bytes]).toEqual([
    null,
    false,
    null,
    null,
    0,
  ])
})

test('counts that are none, or more than their whole, never make a false sum', () => {
  const usageMetadata = {
    promptTokenCount: 10,
    cachedContentTokenCount: 50,
    candidatesTokenCount: 0,
    promptTokensDetails: [{modality: 'AUDIO', tokenCount: 900}, null, {modality: '__proto__', tokenCount: 3}],
    candidatesTokensDetails: 'x',
    totalTokenCount: 1e300,
  }
  const {usage} = chat.reply({candidates: [{finishReason: 'STOP'}], usageMetadata}, contextOf(), asked)
  expect(usage).toMatchObject({
    cache_read_tokens: 10,
    input_uncached_tokens: 0,
    audio_in_tokens: 0,
    output_text_tokens: 0,
    output_reasoning_tokens: 0,
  })
  for (const impossible of [{candidatesTokenCount: -4}, {thoughtsTokenCount: 'x'}, {promptTokenCount: 1e300}]) {
    const given = {candidates: [{finishReason: 'STOP'}], usageMetadata: {...usageMetadata, ...impossible}}
    expect(chat.reply(given, contextOf(), asked).usage).toBeNull()
  }
  expect(
    chat.reply({candidates: [{finishReason: 'STOP'}], usageMetadata: {trafficType: 'X'}}, contextOf(), asked).usage,
  ).toBeNull()
})

test('a reply with anything replaced in it by anything is no answer or a whole one, plain and streamed', () => {
  const replies = CASES.filter(({said}) => said).map(({said}) => JSON.stringify(said))
  const strange = fc.oneof(
    fc.constant(null),
    fc.constant('x'),
    fc.constant(-1),
    fc.constant([]),
    fc.constant({}),
    fc.constant(true),
    fc.jsonValue({maxDepth: 1}),
  )
  fc.assert(
    fc.property(fc.constantFrom(...replies), fc.nat(), strange, fc.boolean(), (text, at, value, strict) => {
      const said = replaced(JSON.parse(text), at, value)
      try {
        choices(reply(said, strict)).forEach(isWhole)
      } catch (error) {
        if (!(error instanceof InvalidResponseFault)) throw error
      }
      const event = parsedEvent(null, JSON.stringify(said))
      const translator = chat.stream.open(contextOf({is_stream: true, strict}), asked)
      const told = [...translator.event(event), ...translator.event(event), ...translator.end()]
      if (translator.failed) expect(translator.finished).toBe(false)
      for (const chunk of told)
        expect(chunk).toMatchObject({object: 'chat.completion.chunk', choices: expect.any(Array)})
    }),
    {numRuns: 1000},
  )
})

function isWhole({message, finish_reason}: Json & {message: Json}) {
  expect(finish_reason).toEqual(expect.any(String))
  expect(message.role).toBe('assistant')
  expect(message.content === null || typeof message.content === 'string').toBe(true)
  for (const call of (message.tool_calls ?? []) as {
    id: string
    type: string
    function: {name: string; arguments: string}
  }[]) {
    expect(call).toMatchObject({
      id: expect.stringMatching(/./),
      type: 'function',
      function: {name: expect.stringMatching(/./)},
    })
    expect(JSON.parse(call.function.arguments)).toEqual(expect.any(Object))
  }
}

/** `value` in place of the node that `at` falls on, counted through the whole. */
function replaced(root: unknown, at: number, value: unknown): unknown {
  const holders: [Record<string, unknown>, string][] = []
  const visit = (node: unknown) => {
    if (typeof node !== 'object' || node === null) return
    for (const [key, child] of Object.entries(node)) {
      holders.push([node as Record<string, unknown>, key])
      visit(child)
    }
  }
  visit(root)
  const [holder, key] = holders[at % holders.length]!
  holder[key] = value
  return root
}

function deep(depth: number): unknown {
  let value: unknown = 1
  for (let at = 0; at < depth; at++) value = [value]
  return value
}
