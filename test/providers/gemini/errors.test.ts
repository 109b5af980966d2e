import {expect, test} from 'vitest'
import {gemini} from '../../../src/providers/gemini/index.ts'
import type {ProviderFault} from '../../../src/providers/translation.ts'
import {contextOf} from './fixtures.ts'

const rpc = {code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT'}
const reason = {
  ...rpc,
  details: [{'@type': 'x'}, {'@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID'}],
}
const told = {message: 'google error: API key not valid.', type: 'INVALID_ARGUMENT', param: null}

const none = {
  message: 'google error: an answer with status 400 and no error in JSON',
  type: null,
  param: null,
  code: null,
}

test.each<[name: string, body: string, fault: ProviderFault]>([
  ['an object', JSON.stringify({error: rpc}), {...told, code: 'INVALID_ARGUMENT'}],
  ['a list', JSON.stringify([{error: rpc}]), {...told, code: 'INVALID_ARGUMENT'}],
  ['with a reason', JSON.stringify({error: reason}), {...told, code: 'API_KEY_INVALID'}],
  [
    'without words',
    '{"error":{"code":500}}',
    {...none, message: 'google error: the provider said no more', code: '500'},
  ],
  [
    'strange',
    '{"error":{"message":{},"status":7,"details":"x"}}',
    {...none, message: 'google error: the provider said no more'},
  ],
  ['a page', '<html>Bad Gateway</html>', none],
  ['nothing', '', none],
  ['cut off', '{"error":', none],
  ['null', 'null', none],
  ['an empty list', '[]', none],
  ['a text', '{"error":"x"}', none],
])('%s is told in OpenAI’s words', (_, body, fault) => {
  expect(gemini.fault(400, Buffer.from(body), contextOf())).toEqual(fault)
})
