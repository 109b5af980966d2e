import {expect, test} from 'vitest'
import {JsonValueFramer} from '../../../src/base/json-values.ts'
import {totals} from '../../../src/schema/usage.ts'
import {CASES, chatOf, counted, followed, parsedEvent, short} from './fixtures.ts'

test.each(CASES.filter(({sent}) => sent))('$name is asked in Gemini’s words', ({asked, context, dialect, sent}) => {
  const chat = chatOf(dialect)
  expect(chat.request(asked, context)).toEqual(sent)
  const streamed = chat.request({...asked, stream: true}, {...context, is_stream: true})
  expect(streamed.path).toBe(sent!.path.replace(/:generateContent$/, ':streamGenerateContent?alt=sse'))
  expect(streamed.body).toEqual(sent!.body)
})

test.each(CASES.filter(({said}) => said))(
  '$name is answered in OpenAI’s',
  ({asked, context, dialect, said, answer}) => {
    const {body, usage, model} = chatOf(dialect).reply(said, context, asked)
    expect(body).toMatchObject({
      id: 'r1',
      object: 'chat.completion',
      created: 1750000000,
      provider: context.provider,
      model,
    })
    expect((body as {choices: unknown}).choices).toEqual(answer.choices)
    expect(counted(usage)).toEqual(answer.usage)
    expect(body).toMatchObject({usage: totals(usage!)})
  },
)

const streamed = CASES.filter(({events}) => events)

test.each(streamed)(
  '$name is streamed in OpenAI’s, however it is cut',
  ({asked, context, dialect, events, chunks, failed, finished, answer}) => {
    const whole = followed([events!], context, asked, dialect)
    expect(whole.chunks.map(short)).toEqual(chunks)
    expect(counted(whole.translator.usage)).toEqual(answer.usage)
    expect(whole.translator.finished).toBe(finished)
    expect(whole.translator.failed).toEqual(failed)
    for (const chunk of whole.chunks)
      expect(chunk).toMatchObject({id: 'r1', object: 'chat.completion.chunk', provider: context.provider})
    for (let at = 0; at <= events!.length; at++) {
      const {chunks: again} = followed([events!.subarray(0, at), events!.subarray(at)], context, asked, dialect)
      expect(again, `cut at ${at}`).toEqual(whole.chunks)
    }
    const bytes = [...events!].map(byte => Buffer.from([byte]))
    expect(followed(bytes, context, asked, dialect).chunks).toEqual(whole.chunks)
  },
)

test.each(streamed.filter(({name}) => name !== 'broken-event'))(
  '$name comes to the same as one JSON array',
  ({asked, context, dialect, events}) => {
    const values = events!
      .toString()
      .split(/\r?\n\r?\n/)
      .filter(Boolean)
      .map(event => event.slice('data: '.length))
    const array = Buffer.from(`[${values.join(',\r\n')}]`)
    const whole = followed([events!], context, asked, dialect)
    for (let at = 0; at <= array.length; at++) {
      const translator = chatOf(dialect).stream.open({...context, is_stream: true}, asked)
      const told: unknown[] = []
      const framer = new JsonValueFramer(raw => told.push(...translator.event(parsedEvent(null, raw!.toString()))))
      framer.push(array.subarray(0, at))
      framer.push(array.subarray(at))
      framer.end()
      told.push(...translator.end())
      expect(told, `cut at ${at}`).toEqual(whole.chunks)
      expect(translator.failed).toEqual(whole.translator.failed)
    }
  },
)

test('the streamed and the plain form of an answer count the same', () => {
  const both = CASES.filter(({said, events}) => said && events)
  expect(both.length).toBeGreaterThan(14)
  for (const {name, said, events, context, asked, dialect} of both) {
    const {translator} = followed([events!], context, asked, dialect)
    expect(translator.usage, name).toEqual(chatOf(dialect).reply(said, context, asked).usage)
  }
})
