import {expect, test} from 'vitest'
import type {Json, TranslationContext} from '../../../src/providers/translation.ts'
import {chatOf, contextOf, counted, short} from './fixtures.ts'

/** What the events come to, in short, and the translator after them. */
function received(events: readonly Json[], more: Partial<TranslationContext> = {}) {
  const translator = chatOf().stream.open(contextOf({is_stream: true, ...more}), {})
  const chunks = [...events.flatMap(data => translator.event({name: null, data})), ...translator.end()]
  return {chunks: chunks.map(short), translator}
}

function event(parts: readonly Json[], more: Json = {}): Json {
  return {candidates: [{content: {parts}, ...more}]}
}

const call = {functionCall: {id: 'f', name: 'f', args: {}}}
const picture = {inlineData: {mimeType: 'image/png', data: 'AAAA'}}

test('a reason to finish holds when later events have none', () => {
  const {chunks, translator} = received([event([{text: 'a'}], {finishReason: 'MAX_TOKENS'}), event([])])
  expect(chunks).toEqual([
    [0, {role: 'assistant', content: 'a'}, null],
    [0, {}, 'length'],
  ])
  expect(translator.finished).toBe(true)
})

test('counts told in parts are put together', () => {
  const {translator} = received([
    {...event([{text: 'a'}]), usageMetadata: {promptTokenCount: 9, cachedContentTokenCount: 4}},
    {...event([], {finishReason: 'STOP'}), usageMetadata: {candidatesTokenCount: 2}},
  ])
  expect(counted(translator.usage)).toEqual({input_uncached_tokens: 5, cache_read_tokens: 4, output_text_tokens: 2})
})

test('log probabilities without a text are passed on', () => {
  const {chunks} = received([
    event([{text: 'a'}]),
    event([], {finishReason: 'STOP', logprobsResult: {chosenCandidates: [{token: '', logProbability: -1}]}}),
  ])
  expect(chunks[1]).toEqual([
    0,
    {},
    null,
    {logprobs: {content: [{token: '', logprob: -1, bytes: [], top_logprobs: []}], refusal: null}},
  ])
})

test('a call or a picture ends a block, in the plain form too', () => {
  const parts = [{text: 'a'}, call, {text: 'b'}, picture, {text: 'c'}]
  const expected = ['a', 'b', 'c'].map((text, index) => ({index, delta: {text}}))
  const {chunks} = received(
    parts.map(part => event([part])),
    {strict: false},
  )
  expect(chunks.flatMap(([, delta]) => (delta as Json).content_blocks ?? [])).toEqual(expected)
  const {body} = chatOf().reply({candidates: [{content: {parts}}]}, contextOf({strict: false}), {})
  const [{message, finish_reason}] = (body as {choices: [{message: Json; finish_reason: string}]}).choices
  expect(message.content_blocks).toEqual(['a', 'b', 'c'].map(text => ({type: 'text', text})))
  // Google gave no reason of its own to show.
  expect(finish_reason).toBe('tool_calls')
})

test('sound in several parts is one sound', () => {
  const sound = (data: string) => ({inlineData: {mimeType: 'audio/L16;rate=24000', data}})
  const {body} = chatOf().reply(event([sound('AA=='), sound('AQI=')], {finishReason: 'STOP'}), contextOf(), {})
  expect((body as {choices: [{message: {audio: Json}}]}).choices[0].message.audio.data).toBe('AAEC')
})

test('a stream whose candidates have not all ended is cut off', () => {
  const both = {
    candidates: [
      {index: 0, content: {parts: [{text: 'a'}]}, finishReason: 'STOP'},
      {index: 1, content: {parts: [{text: 'b'}]}},
    ],
  }
  const {chunks, translator} = received([both])
  expect(chunks.map(chunk => chunk[2])).toEqual([null, null])
  expect(translator.finished).toBe(false)
})

test('usage goes to those alone who ask for it, at the end', () => {
  const said = {
    ...event([{text: 'a'}], {finishReason: 'STOP'}),
    usageMetadata: {promptTokenCount: 4, candidatesTokenCount: 2, thoughtsTokenCount: 3},
  }
  const translator = chatOf().stream.open(contextOf({is_stream: true}), {stream_options: {include_usage: true}})
  const chunks = [...translator.event({name: null, data: said}), ...translator.end()]
  expect(chunks.slice(0, -1).filter(chunk => 'usage' in chunk)).toEqual([])
  expect(chunks.at(-1)).toMatchObject({
    choices: [],
    usage: {prompt_tokens: 4, completion_tokens: 5, total_tokens: 9, completion_tokens_details: {reasoning_tokens: 3}},
  })
  expect(received([said]).chunks).not.toContain('usage')
})
