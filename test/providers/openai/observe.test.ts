import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {observeStream} from '../../../src/providers/openai/observe.ts'
import type {EndpointName} from '../../../src/schema/endpoints.ts'
import {emptyUsage, type Usage} from '../../../src/schema/usage.ts'
import {cut, type Facts, type Fixture, fixtures} from './fixtures.ts'

const streams = fixtures('events.txt')

/**
 * What is seen of a stream in `chunks`. `held_from` is where in the stream the relay was told to wait; −1 when it was
 * not.
 */
function seen(endpoint: EndpointName, chunks: readonly Buffer[]) {
  const observer = observeStream(endpoint)
  let offset = 0
  let held_from = -1
  let usage_at_hold: unknown = null
  for (const chunk of chunks) {
    const from = observer.take(chunk)
    if (from >= 0) {
      expect(held_from).toBe(-1)
      held_from = offset + from
      usage_at_hold = observer.usage
    }
    offset += chunk.length
  }
  observer.end()
  const {usage, model, finished, failed, text_bytes, first_event, is_mid_event} = observer
  if (held_from >= 0) expect(usage_at_hold).toEqual(usage)
  return {
    told: {usage: usage && withoutZeros(usage), model, finished, failed, text_bytes, first_event},
    held_from,
    is_mid_event,
  }
}

/** A unit that is said to be none used up nothing. */
function withoutZeros(usage: Usage): Usage {
  return {...usage, units: Object.fromEntries(Object.entries(usage.units).filter(([, count]) => count > 0))}
}

function expected(facts: Facts) {
  return {
    usage: facts.usage && {...emptyUsage(), ...facts.usage},
    model: facts.model,
    finished: facts.last !== null,
    failed: facts.failed ?? null,
    text_bytes: facts.text_bytes,
    first_event: facts.first_event,
  }
}

function lastStart({bytes, facts}: Fixture): number {
  return facts.last === null || facts.last_at_end ? -1 : bytes.lastIndexOf(facts.last!)
}

describe.each(streams)('$name', fixture => {
  const {endpoint, bytes, facts} = fixture

  test('is read for what it says', () => {
    const {told, held_from} = seen(endpoint, [bytes])
    expect(told).toEqual(expected(facts))
    expect(held_from).toBe(lastStart(fixture))
  })

  test('says the same cut at every byte, and no byte goes on that completes its last event', () => {
    const start = lastStart(fixture)
    const end = start < 0 ? -1 : bytes.length
    for (let at = 0; at <= bytes.length; at++) {
      const {told, held_from} = seen(endpoint, [bytes.subarray(0, at), bytes.subarray(at)])
      expect(told, `cut at ${at}`).toEqual(expected(facts))
      if (start < 0) expect(held_from).toBe(-1)
      else if (at <= start) expect(held_from).toBe(start)
      else expect([start, at], `cut at ${at}`).toContain(held_from)
      expect(held_from).toBeLessThan(Math.max(end, 0))
    }
  })

  test('says the same in any pieces', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), {maxLength: 40}), cuts => {
        expect(seen(endpoint, cut(bytes, cuts)).told).toEqual(expected(facts))
      }),
      {numRuns: 30},
    )
    const single = [...bytes].map(byte => Buffer.from([byte]))
    expect(seen(endpoint, single).told).toEqual(expected(facts))
  })
})

test('says the same with any line ends', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...streams),
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.array(fc.nat(), {maxLength: 9}),
      (fixture, end, cuts) => {
        const text = fixture.bytes.toString().replace(/\r\n|\n|\r/g, end)
        expect(seen(fixture.endpoint, cut(Buffer.from(text), cuts)).told).toEqual(expected(fixture.facts))
      },
    ),
    {numRuns: 200},
  )
})

test('the line that says it all is held before its blank line', () => {
  const observer = observeStream('chatComplete')
  expect(observer.take(Buffer.from('data: {"choices":[]}\n\ndata: [DONE]\n'))).toBe(22)
  expect(observer.finished).toBe(true)
  expect(observer.take(Buffer.from('\n'))).toBe(-1)
})

test('bytes after the last event are told of no more', () => {
  const observer = observeStream('chatComplete')
  expect(observer.take(Buffer.from('data: [DONE]\n\ndata: {"usage":{"prompt_tokens":9}}\n\ndata: [DO'))).toBe(0)
  expect(observer.take(Buffer.from('NE]\n\n'))).toBe(-1)
  expect(observer.usage).toBeNull()
})

test('a stream cut inside an event is known to be', () => {
  const observer = observeStream('chatComplete')
  observer.take(Buffer.from('data: {"a":1}\n\n'))
  expect(observer.is_mid_event).toBe(false)
  observer.take(Buffer.from('data: {"a'))
  expect(observer.is_mid_event).toBe(true)
})

test('nothing is known of a stream without bytes', () => {
  expect(seen('chatComplete', []).told).toEqual({
    usage: null,
    model: null,
    finished: false,
    failed: null,
    text_bytes: 0,
    first_event: 'none',
  })
})

test('a picture larger than other events is read for its usage', () => {
  const picture = JSON.stringify({
    type: 'image_generation.completed',
    b64_json: 'x'.repeat(3 * 1024 * 1024),
    usage: {input_tokens: 3, output_tokens: 5},
  })
  const {told} = seen('imageGenerate', cut(Buffer.from(`data: ${picture}\n\n`), [70_000, 2_000_000]))
  expect(told).toMatchObject({finished: true, usage: {input_uncached_tokens: 3, image_out_tokens: 5}})
})

test('an event that is too large counts as one and is not read', () => {
  const large = JSON.stringify({choices: [{delta: {content: 'x'.repeat(1024 * 1024)}}], usage: {prompt_tokens: 1}})
  const {told} = seen('chatComplete', [Buffer.from(`data: ${large}\n\ndata: [DONE]\n\n`)])
  expect(told).toMatchObject({first_event: 'event', usage: null, finished: true})
})

test('no bytes make it throw, and no count is one that cannot be', () => {
  const hostile = fc.oneof(
    fc.constantFrom(-1, 1e300, 0.5, '7', null, true, [], {}),
    fc.integer(),
    fc.double(),
    fc.json(),
  )
  const keys = [
    'prompt_tokens',
    'completion_tokens',
    'total_tokens',
    'input_tokens',
    'output_tokens',
    'cached_tokens',
    '__proto__',
  ] as const
  const details = fc.dictionary(
    fc.constantFrom('cached_tokens', 'audio_tokens', 'reasoning_tokens', 'cached_tokens_details'),
    hostile,
  )
  const usage = fc
    .tuple(fc.dictionary(fc.constantFrom(...keys), hostile), details, details)
    .map(([said, one, other]) => ({...said, prompt_tokens_details: one, completion_tokens_details: other}))
  const data = fc.oneof(
    usage.map(each => JSON.stringify({usage: each, choices: null, model: 7, error: null})),
    fc.json(),
    fc.string(),
  )
  const endpoint = fc.constantFrom<EndpointName>(
    'chatComplete',
    'messages',
    'createModelResponse',
    'imageGenerate',
    'proxy',
  )
  fc.assert(
    fc.property(endpoint, fc.array(data), fc.array(fc.nat()), (name, events, cuts) => {
      const {told} = seen(name, cut(Buffer.from(events.map(each => `data: ${each}\n\n`).join('')), cuts))
      for (const [unit, value] of Object.entries(told.usage ?? {})) {
        if (!['units', 'unknown', 'tier', 'speed'].includes(unit))
          expect(Number.isSafeInteger(value) && (value as number) >= 0, `${unit}: ${String(value)}`).toBe(true)
      }
    }),
    {numRuns: 300},
  )
})
