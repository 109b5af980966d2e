import {expect, test} from 'vitest'
import {readFields} from '../../../src/base/sse.ts'
import {faultEvent} from '../../../src/providers/openai/error.ts'
import {observeStream} from '../../../src/providers/openai/observe.ts'

const fault = {type: 'connection_error', message: 'The provider broke\noff.'}

test('a chat stream ends with an error in its own shape and no [DONE]', () => {
  const bytes = faultEvent('chatComplete', fault, {is_mid_event: false})
  expect(bytes.toString().endsWith('\n\n')).toBe(true)
  expect(readFields(bytes).event).toBeNull()
  expect(JSON.parse(readFields(bytes).data[0]!)).toEqual({error: {...fault, param: null, code: null}})
  expect(bytes.includes('[DONE]')).toBe(false)
})

test('a messages stream ends with an error event', () => {
  const {event, data} = readFields(faultEvent('messages', fault, {is_mid_event: false}))
  expect(event).toBe('error')
  // of Anthropic's own types: others are not read by its clients
  expect(JSON.parse(data[0]!)).toEqual({type: 'error', error: {...fault, type: 'api_error'}})
})

test('a responses stream ends with an error that both kinds of clients find', () => {
  const {event, data} = readFields(faultEvent('createModelResponse', fault, {is_mid_event: false}))
  expect(event).toBe('error')
  expect(JSON.parse(data[0]!)).toMatchObject({type: 'error', code: fault.type, message: fault.message, error: fault})
})

test.each([
  'data: {"choi',
  'data: {"a":1}',
  'data: {"a":1}\n',
  'data: {"a":1}\r',
  'data: {"a":1}\r\n',
  'data: {"a":1}\n\n',
  ': ping\n\n',
])('after a stream that breaks off behind %j the error is an event of its own', cut => {
  for (const endpoint of ['chatComplete', 'messages', 'createModelResponse'] as const) {
    const observer = observeStream(endpoint)
    observer.take(Buffer.from(cut))
    observer.take(faultEvent(endpoint, fault, observer))
    expect(observer.failed).toMatchObject({message: fault.message})
    expect(observer.is_mid_event).toBe(false)
  }
})
