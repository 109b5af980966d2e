import {expect, test} from 'vitest'
import {rawUsageOf, usageOf} from '../../../src/providers/vendor-operations/raw-usage.ts'
import {totals} from '../../../src/schema/usage.ts'

const read = (json: object) => usageOf(rawUsageOf(json as never)!)!
const camel = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(camel)
    : typeof value === 'object' && value !== null
      ? Object.fromEntries(
          Object.entries(value).map(([key, each]) => [
            key.replace(/_[a-z]/g, pair => pair[1]!.toUpperCase()),
            camel(each),
          ]),
        )
      : value

const USAGE = {
  ...{
    total_input_tokens: 1000,
    total_tool_use_tokens: 200,
    total_cached_tokens: 300,
    total_output_tokens: 90,
    total_thought_tokens: 40,
  },
  total_tokens: 1330,
  input_tokens_by_modality: [
    {modality: 'text', tokens: 600},
    {modality: 'audio', tokens: 400},
  ],
  cached_tokens_by_modality: [{modality: 'audio', tokens: 100}],
  tool_use_tokens_by_modality: [{modality: 'image', tokens: 150}],
  output_tokens_by_modality: [{modality: 'audio', tokens: 30}],
  grounding_tool_count: [{type: 'google_search', count: 2}],
}

test.each([
  ['as the Gemini API writes it', {usage: USAGE}],
  ['in camel case, as Vertex AI writes it', {usage: camel(USAGE)}],
  ['in the event that ends a stream', {interaction: {usage: USAGE}}],
])('doors 15: usage of an interaction is read by modality %s', (_, json) => {
  const usage = read(json)
  expect(usage).toMatchObject({
    ...{
      input_uncached_tokens: 450,
      audio_in_tokens: 300,
      image_in_tokens: 150,
      audio_cache_read_tokens: 100,
      cache_read_tokens: 200,
    },
    ...{output_text_tokens: 60, audio_out_tokens: 30, output_reasoning_tokens: 40, units: {web_search: 2}},
  })
  expect(usage.unknown).toBeUndefined()
  expect(totals(usage).total_tokens).toBe(1330)
})

test('doors 15: what its total has beyond the parts is nothing that anybody knows, and its tier is read', () => {
  expect(read({usage: {...USAGE, total_tokens: 1331}}).unknown).toEqual(['total_tokens'])
  expect(read({interaction: {usage: USAGE, service_tier: 'deferred'}}).tier).toBe('deferred')
})

test('doors 15: a Live session calls its candidates the response', () => {
  const usageMetadata = {
    ...{promptTokenCount: 100, responseTokenCount: 50, totalTokenCount: 150, serviceTier: 'priority'},
    responseTokensDetails: [{modality: 'AUDIO', tokenCount: 45}],
  }
  expect(read({usageMetadata})).toMatchObject({
    input_uncached_tokens: 100,
    audio_out_tokens: 45,
    output_text_tokens: 5,
    tier: 'priority',
  })
  expect(read({usageMetadata}).unknown).toBeUndefined()
})
