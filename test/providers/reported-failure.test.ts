import {expect, test} from 'vitest'
import {failureOfChat, failureOfWhole, policyRefusal, statusOfFailure} from '../../src/providers/reported-failure.ts'
import type {TranslationContext} from '../../src/providers/translation.ts'
import type {EndpointName} from '../../src/schema/endpoints.ts'

const context = {provider: 'openrouter', model: 'm'} as TranslationContext
const choice = {index: 0, message: {role: 'assistant', content: 'The answer is'}, finish_reason: 'error'}

// Sources: OpenRouter, "Errors and Debugging"; MiniMax, `base_resp`; Zhipu and others, `{code, msg}`.
test.each<[string, object, number, string]>([
  ['an error with a status', {error: {code: 402, message: 'Insufficient credits'}}, 402, 'Insufficient credits'],
  ['a status as text', {error: {code: '429', message: 'Slow down'}}, 429, 'Slow down'],
  ['a status beside it', {error: {message: 'Busy'}, status: 503}, 503, 'Busy'],
  ['a code that is no status', {error: {code: 'quota', message: 'No quota'}}, 502, 'No quota'],
  ['an error as text', {error: 'model not found'}, 502, 'model not found'],
  ['a code and a sentence', {code: 1113, msg: 'Your account is in arrears'}, 502, 'Your account is in arrears'],
  ['MiniMax', {base_resp: {status_code: 1004, status_msg: 'login fail'}, choices: null}, 502, 'login fail'],
  ['choices that are none', {choices: [], error: {code: 500, message: 'gone'}}, 500, 'gone'],
  [
    'a choice with an error',
    {choices: [{...choice, error: {code: 502, message: 'upstream idle timeout'}}]},
    502,
    'upstream idle timeout',
  ],
])('%s is a failure with its status', (_, reply, status, sentence) => {
  const failure = failureOfChat(reply as never, context)!
  expect(failure.status).toBe(status)
  expect(failure.fault.message).toBe(`openrouter error: ${sentence}`)
  expect(statusOfFailure('chatComplete', reply)).toBe(status)
})

test.each<[string, unknown]>([
  ['an answer', {choices: [{index: 0, message: {content: 'Hi'}}]}],
  ['an answer with an error of null', {choices: [{index: 0, message: {content: 'Hi'}, error: null}], error: null}],
  ['one good choice beside a failed one', {choices: [choice, {...choice, error: {message: 'no'}}]}],
  ['nothing', {}],
  ['no object', 'error'],
])('%s tells no failure', (_, reply) => {
  expect(statusOfFailure('chatComplete', reply)).toBeNull()
})

test.each<[string, EndpointName, object, number | null]>([
  [
    'a response that failed',
    'createModelResponse',
    {status: 'failed', output: [], error: {code: 'server_error', message: 'x'}},
    500,
  ],
  [
    'one over its rate',
    'createModelResponse',
    {status: 'failed', output: [], error: {code: 'rate_limit_exceeded', message: 'x'}},
    429,
  ],
  ['an error in place of a response', 'createModelResponse', {error: {code: 402, message: 'x'}}, 402],
  ['a response', 'createModelResponse', {status: 'completed', output: [{content: 'failed'}], error: null}, null],
  ['an error in place of a message', 'messages', {type: 'error', error: {type: 'overloaded_error', message: 'x'}}, 529],
  ['a message', 'messages', {type: 'message', content: []}, null],
  ['an error in place of vectors', 'embed', {error: {message: 'x'}}, 502],
  ['vectors', 'embed', {data: []}, null],
  ['a file', 'uploadFile', {error: {message: 'x'}}, null],
])('%s: its status', (_, endpoint, reply, status) => {
  expect(statusOfFailure(endpoint, reply)).toBe(status)
})

test('of bytes: an error in choices is to be told in their place, any other stays where it is', () => {
  const found = (reply: object) => failureOfWhole('chatComplete', Buffer.from(JSON.stringify(reply)), context)
  expect(found({choices: [{...choice, error: 'gone'}]})).toMatchObject({
    status: 502,
    fault: {message: 'openrouter error: gone'},
  })
  expect(found({error: {code: 402, message: 'x'}})).toEqual({status: 402, fault: null})
  expect(found({choices: [{...choice, error: null, message: {content: '{"error":{}}'}}]})).toBeNull()
  expect(failureOfWhole('uploadFile', Buffer.from('{}'), context)).toBeNull()
})

test('what a failed answer used is failure with it', () => {
  const usage = {prompt_tokens: 5, completion_tokens: 3, total_tokens: 8}
  const failure = failureOfChat({choices: [{...choice, error: {code: 502, message: 'x'}}], usage}, context)!
  expect(failure.usage).toMatchObject({input_uncached_tokens: 5, output_text_tokens: 3})
})

test('a refusal by policy is the request’s', () => {
  const {status, fault} = policyRefusal('IMAGE_SAFETY', context)
  expect([status, fault.code, fault.type]).toEqual([400, 'content_policy_violation', 'invalid_request_error'])
})
