import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import type {Json} from '../../../src/providers/translation.ts'
import {emptyUsage, modeOf} from '../../../src/schema/usage.ts'
import {cut} from '../openai/fixtures.ts'
import {assembled} from './assemble.ts'
import {chatOn, type Fixture, fixtures, type Told, told} from './fixtures.ts'

const replies = fixtures.filter(({reply}) => reply)
const streams = fixtures.filter(({events}) => events) as readonly (Fixture & {
  readonly events: Buffer
  readonly told: Told
})[]
const both = streams.filter(({reply}) => reply)

test('the fixtures are there', () => {
  expect([fixtures.length, replies.length, streams.length, both.length]).toEqual([29, 24, 22, 17])
})

test.each(fixtures)('$name is asked in Anthropic’s words', ({request, upstream, context, place}) => {
  const asked = structuredClone(request)
  const chat = chatOn(place)
  expect(chat.request(asked, context).body).toEqual(upstream)
  expect(chat.request(asked, {...context, is_stream: true}).body).toEqual(
    place === 'bedrock' ? upstream : {...upstream, stream: true},
  )
  expect(asked).toEqual(request)
})

test.each(replies)('$name is answered in OpenAI’s words', ({reply, expected, context, place, request}) => {
  const answer = chatOn(place).reply(reply, context, request)
  expect(answer.body).toEqual(expected)
  expect(answer.model).toBe(expected!.model)
})

describe.each(streams)('$name, streamed', fixture => {
  const {events, told: expected} = fixture
  const whole = {
    chunks: expected.chunks,
    finished: expected.finished,
    failed: expected.failed,
    usage: expected.counts && {...emptyUsage(), ...expected.counts},
    model: expected.model,
    text_bytes: expected.text_bytes,
  }

  test('comes as chunks', () => {
    expect(told(fixture, [events])).toEqual(whole)
  })

  test('comes as the same chunks cut at every byte', () => {
    for (let at = 0; at <= events.length; at++) {
      expect(told(fixture, [events.subarray(0, at), events.subarray(at)]), `cut at ${at}`).toEqual(whole)
    }
    const bytes = Array.from(events, byte => Buffer.from([byte]))
    expect(told(fixture, bytes)).toEqual(whole)
  })

  test('comes as the same chunks in any pieces', () => {
    const anyCuts = fc.array(fc.nat(), {maxLength: 40})
    fc.assert(
      fc.property(anyCuts, cuts => {
        expect(told(fixture, cut(events, cuts))).toEqual(whole)
      }),
      {numRuns: 30},
    )
  })
})

test.each(both)('$name, streamed, comes to the same message and usage', fixture => {
  const {reply, context, request, place, events} = fixture
  const answer = chatOn(place).reply(reply, context, request)
  const stream = told({...fixture, request: {...request, stream_options: {include_usage: true}}}, [events])
  const {message, finish_reason, usage} = assembled(stream.chunks)
  const body = answer.body as Json
  const [choice] = body.choices as readonly Json[]
  // the tier stands in the whole answer alone
  expect({...stream.usage, units: {}, tier: undefined}).toEqual({...answer.usage, units: {}, tier: undefined})
  expect(modeOf(stream.usage!)).toBe(modeOf(answer.usage!))
  expect(usage).toEqual(body.usage)
  expect(finish_reason).toBe(choice!.finish_reason)
  expect(read(message)).toEqual(read(choice!.message as Json))
})

test.each(streams)('$name, streamed, has usage only for who asked for it', fixture => {
  const {stream_options: _, ...request} = fixture.request
  const chunks = told({...fixture, request}, [fixture.events]).chunks
  expect(chunks).toEqual(fixture.told.chunks.filter(chunk => chunk.usage === undefined))
})

/** Arguments as values: the two forms differ in their spaces. */
function read(message: Json): Json {
  const calls = message.tool_calls as readonly {readonly function: {readonly arguments: string}}[] | undefined
  return {
    ...message,
    tool_calls: calls?.map(call => ({
      ...call,
      function: {...call.function, arguments: JSON.parse(call.function.arguments)},
    })),
  }
}
