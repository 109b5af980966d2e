import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {estimateTokens, readReply, requestUnits} from '../../../src/providers/openai/reply.ts'
import {emptyUsage, totals} from '../../../src/schema/usage.ts'
import {fixtures} from './fixtures.ts'

describe.each(fixtures('reply.json'))('$name', ({endpoint, bytes, facts}) => {
  test('is read for its usage and its model', () => {
    expect(readReply(endpoint, bytes)).toEqual({
      usage: facts.usage && {...emptyUsage(), ...facts.usage},
      hops: null,
      model: facts.model,
    })
  })
})

test('large vectors are read for their two facts alone', () => {
  const embedding = Array.from({length: 20_000}, (_, at) => at / 7)
  const reply = {
    object: 'list',
    data: [{object: 'embedding', index: 0, embedding}],
    model: 'text-"\\embedding',
    usage: {prompt_tokens: 8, total_tokens: 8},
  }
  for (const indent of [0, 2]) {
    const bytes = Buffer.from(JSON.stringify(reply, null, indent))
    expect(bytes.length).toBeGreaterThan(64 * 1024)
    expect(readReply('embed', bytes)).toEqual({usage: {...emptyUsage(), input_uncached_tokens: 8}, model: reply.model})
  }
  const broken = JSON.stringify(reply).slice(0, -4)
  expect(readReply('embed', Buffer.from(broken))).toEqual({usage: null, model: reply.model})
})

test('parts are never more than their whole', () => {
  const count = fc.nat({max: 2000})
  const parts = fc.record({cached_tokens: count, audio_tokens: count, image_tokens: count, reasoning_tokens: count})
  fc.assert(
    fc.property(count, count, parts, parts, (prompt_tokens, completion_tokens, input, output) => {
      const usage = {prompt_tokens, completion_tokens, prompt_tokens_details: input, completion_tokens_details: output}
      const read = readReply('chatComplete', Buffer.from(JSON.stringify({usage})))
      expect(totals(read.usage!)).toMatchObject({prompt_tokens, completion_tokens})
    }),
  )
})

test('numbers that cannot be counts are not counted', () => {
  const read = (usage: string) => readReply('chatComplete', Buffer.from(`{"usage":${usage}}`)).usage
  expect(read('{"prompt_tokens":-5,"completion_tokens":1e99}')).toBeNull()
  // of a report of which one half cannot be the other is not believed either
  expect(read('{"prompt_tokens":"12","completion_tokens":4}')).toBeNull()
  expect(read('{"prompt_tokens":12,"prompt_tokens_details":{"cached_tokens":-3}}')).toMatchObject({
    input_uncached_tokens: 12,
  })
  expect(read('[1,2]')).toBeNull()
  expect(read('{}')).toBeNull()
})

test.each(['', 'null', '[]', '"x"', '{', 'not json', '\u0000'])('an answer of %j tells nothing', body => {
  expect(readReply('chatComplete', Buffer.from(body))).toEqual({usage: null, model: null})
})

test('what is to be spoken is counted in code points', () => {
  const units = (input: unknown) =>
    requestUnits('createSpeech', Buffer.from(JSON.stringify({model: 'tts-1', input})))?.units
  expect(units('né 👋\ud83d')).toEqual({characters: 5})
  expect(units('')).toEqual({characters: 0})
  expect(units(['x'])).toEqual({characters: 0})
  fc.assert(
    fc.property(fc.string({unit: 'binary'}), text => void expect(units(text)).toEqual({characters: [...text].length})),
  )
})

test('pictures are counted by quality and size', () => {
  const units = (body: unknown) => requestUnits('imageGenerate', Buffer.from(JSON.stringify(body)))?.units
  expect(units({prompt: 'x', n: 3, quality: 'hd', size: '1024x1792'})).toEqual({'image:hd:1024x1792': 3})
  expect(units({prompt: 'x', quality: 'auto', size: 'auto', n: null})).toEqual({'image:default:default': 1})
  expect(units({prompt: 'x', quality: 'a:b', size: 7, n: -2})).toEqual({'image:default:default': 1})
  expect(units({prompt: 'x', n: 1e9})).toEqual({'image:default:default': 1000})
})

test('other requests are not counted by what they ask', () => {
  expect(requestUnits('chatComplete', Buffer.from('{"input":"x"}'))).toBeNull()
  expect(requestUnits('createSpeech', Buffer.from('{'))).toBeNull()
})

test('four bytes are about a token, and a started one counts', () => {
  expect([0, 1, 4, 5].map(estimateTokens)).toEqual([0, 1, 1, 2])
})
