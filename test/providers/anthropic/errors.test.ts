import {expect, test} from 'vitest'
import {anthropic, anthropicOn} from '../../../src/providers/anthropic/index.ts'
import type {StreamEvent} from '../../../src/providers/translation.ts'
import {emptyUsage} from '../../../src/schema/usage.ts'
import {CONTEXT, open} from './fixtures.ts'

const UNREAD = 'without an error that can be read'

// biome-ignore format: a table is read by its lines
test.each<[number, string, string, string, string | null]>([
  [400, '{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: Field required"},"request_id":"req_1"}', 'max_tokens: Field required', 'invalid_request_error', null],
  [429, '{"type":"error","error":{"type":"rate_limit_error","message":"Slow down"}}', 'Slow down', 'rate_limit_error', null],
  [529, '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', 'Overloaded', 'overloaded_error', null],
  [403, '{"error":{"code":403,"message":"Permission denied on resource","status":"PERMISSION_DENIED"}}', 'Permission denied on resource', 'permission_error', 'PERMISSION_DENIED'],
  [400, '{"message":"The provided model identifier is invalid."}', 'The provided model identifier is invalid.', 'invalid_request_error', null],
  [403, '{"Message":"User is not authorized"}', 'User is not authorized', 'permission_error', null],
  [413, '{"error":"too much"}', 'too much', 'request_too_large', null],
  [502, '<html><body>Bad gateway</body></html>', `status 502, ${UNREAD}`, 'api_error', null],
  [529, '', `status 529, ${UNREAD}`, 'overloaded_error', null],
  [418, 'null', `status 418, ${UNREAD}`, 'invalid_request_error', null],
  [500, '{"type":"error","error":{"type":["x"],"mess', `status 500, ${UNREAD}`, 'api_error', null],
  [500, '[{"error":{"message":3}}]', `status 500, ${UNREAD}`, 'api_error', null],
])('%i %s', (status, body, message, type, code) => {
  expect(anthropic.fault(status, Buffer.from(body), CONTEXT)).toEqual({message: `anthropic error: ${message}`, type, param: null, code})
})

test('a long error is cut', () => {
  const body = Buffer.from(JSON.stringify({error: {message: 'x'.repeat(100_000)}}))
  expect(anthropic.fault(400, body, CONTEXT).message.length).toBeLessThan(2100)
})

const payload = (event: unknown) => ({bytes: Buffer.from(JSON.stringify(event)).toString('base64')})
const start: StreamEvent = {
  name: 'chunk',
  data: payload({
    type: 'message_start',
    message: {id: 'msg_bdrk_1', model: 'claude', usage: {input_tokens: 3, output_tokens: 1}},
  }),
}

test('Bedrock’s payloads are unwrapped', () => {
  const translator = open(CONTEXT, {stream_options: {include_usage: true}}, 'bedrock')
  const events = [
    {type: 'content_block_start', index: 0, content_block: {type: 'text', text: ''}},
    {type: 'content_block_delta', index: 0, delta: {type: 'text_delta', text: 'Hé'}},
    {type: 'content_block_stop', index: 0},
    {type: 'message_delta', delta: {stop_reason: 'end_turn'}, usage: {output_tokens: 2}},
    {type: 'message_stop', 'amazon-bedrock-invocationMetrics': {inputTokenCount: 3}},
  ]
  const chunks = [start, ...events.map(event => ({name: 'chunk', data: payload(event)}))].flatMap(event =>
    translator.event(event),
  )
  expect(chunks.map(({choices}) => (choices as readonly {readonly delta: unknown}[])[0]?.delta)).toEqual([
    {role: 'assistant', content: ''},
    {content: 'Hé'},
    {},
    undefined,
  ])
  expect([translator.finished, translator.usage]).toEqual([
    true,
    {...emptyUsage(), input_uncached_tokens: 3, output_text_tokens: 2},
  ])
  expect(anthropicOn('bedrock').endpoints.chatComplete!.stream!.framing).toBe('aws_event_stream')
})

// biome-ignore format: a table is read by its lines
test.each<[string, unknown, string, string, number | null]>([
  ['throttlingException', {message: 'Too many tokens'}, 'Too many tokens', 'rate_limit_error', 429],
  ['modelStreamErrorException', {message: 'Broke', originalStatusCode: 500}, 'Broke', 'api_error', 500],
  ['serviceUnavailableException', {}, 'serviceUnavailableException', 'overloaded_error', 529],
  ['validationException', 'not JSON', 'not JSON', 'invalid_request_error', 400],
  ['unheardOfException', null, 'unheardOfException', 'api_error', 500],
  ['chunk', {bytes: '!!!'}, 'Invalid response received: the event chunk is not what it should be', 'api_error', 502],
])('a Bedrock stream that breaks off with %s', (name, data, message, type, status) => {
  const translator = open(CONTEXT, {}, 'bedrock')
  expect([...translator.event(start), ...translator.event({name, data}), ...translator.end()]).toEqual([])
  expect(translator.failed).toEqual({message: `anthropic error: ${message}`, type, param: null, code: null, status})
  expect(translator.finished).toBe(false)
})

test('an error of a type nobody knows has no status', () => {
  const translator = open(CONTEXT, {})
  translator.event({name: 'error', data: {type: 'error', error: {type: 'constructor', message: 'x'}}})
  expect(translator.failed).toMatchObject({type: 'constructor', status: null})
})

test('a caller may lay the path below another base', () => {
  const dialect = anthropicOn('vertex', ({model}) => `/v1/here/${encodeURIComponent(model)}`)
  const {path} = dialect.endpoints.chatComplete!.request(
    {messages: [{role: 'user', content: 'Hi'}]},
    {...CONTEXT, model: 'a/b'},
  )
  expect([dialect.name, path]).toEqual(['anthropic-vertex', '/v1/here/a%2Fb'])
})
