import {expect, test} from 'vitest'
import {bedrock} from '../../../src/providers/bedrock/index.ts'
import {contextOf, follow, framed} from './fixtures.ts'

test.each([
  ['its message', 400, '{"message":"The model id is not valid."}', 'The model id is not valid.', null],
  ['its message in capitals', 403, '{"Message":"Not allowed."}', 'Not allowed.', null],
  ['its type', 400, '{"__type":"ValidationException","message":"No."}', 'No.', 'ValidationException'],
  [
    'its type in a namespace',
    403,
    '{"__type":"com.amazon.coral.service#UnrecognizedClientException","message":"No."}',
    'No.',
    'UnrecognizedClientException',
  ],
  [
    'its type before a link',
    404,
    '{"__type":"ResourceNotFoundException:http://internal.example/","message":"No."}',
    'No.',
    'ResourceNotFoundException',
  ],
  ['its type alone', 403, '{"__type":"AccessDeniedException"}', 'HTTP 403 without a reason', 'AccessDeniedException'],
  ['an error inside', 400, '{"error":{"message":"Inside."}}', 'Inside.', null],
  ['a word', 503, 'Service Unavailable\n', 'Service Unavailable', null],
  ['a page', 502, '<html><body>Bad Gateway</body></html>', 'HTTP 502 without a reason that can be read', null],
  ['nothing', 500, '', 'HTTP 500 without a reason that can be read', null],
  ['cut JSON with markup', 500, '{"message":"<b', 'HTTP 500 without a reason that can be read', null],
  ['a list', 500, '[1]', '[1]', null],
  ['members of other types', 500, '{"message":5,"__type":{}}', 'HTTP 500 without a reason', null],
  ['a type that is no name', 500, '{"message":"No.","__type":"a b\\nc"}', 'No.', null],
])('a fault tells %s', (_, status, body, message, type) => {
  expect(bedrock.fault(status, Buffer.from(body), contextOf())).toEqual({
    message: `bedrock error: ${message}`,
    type,
    param: null,
    code: null,
  })
})

test.each([
  ['internalServerException', {message: 'a'}, 500, 'a'],
  ['modelStreamErrorException', {message: 'a'}, 424, 'a'],
  ['modelStreamErrorException', {originalMessage: 'b', originalStatusCode: 503}, 503, 'b'],
  ['modelStreamErrorException', {message: 'a', originalStatusCode: 200}, 424, 'a'],
  ['validationException', {message: 'a'}, 400, 'a'],
  ['throttlingException', {message: 'a'}, 429, 'a'],
  ['modelTimeoutException', {message: 'a'}, 408, 'a'],
  ['serviceUnavailableException', {message: 'a'}, 503, 'a'],
  ['constructorException', 'text', null, 'text'],
  ['ThrottlingException', {}, 429, 'the stream broke off'],
])('%s inside a stream', (name, payload, status, message) => {
  const translator = bedrock.endpoints.chatComplete!.stream!.open(contextOf(), {})
  expect(follow(translator, [framed([{[`!${name}`]: payload}])])).toEqual([])
  expect(translator.failed).toEqual({message: `bedrock error: ${message}`, type: name, param: null, code: null, status})
})
