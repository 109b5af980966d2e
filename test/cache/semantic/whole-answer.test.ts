import {expect, test} from 'vitest'
import {mayStore} from '../../../src/cache/rules.ts'
import {endOf} from '../../../src/cache/semantic/lifetime.ts'
import {isWholeAnswer} from '../../../src/cache/semantic/whole-answer.ts'

const choice = (message: object, finish_reason: unknown = 'stop') => ({
  choices: [{index: 0, message: {role: 'assistant', content: 'yes', ...message}, finish_reason}],
})
const message = (...content: object[]) => ({type: 'message', stop_reason: 'end_turn', content})
const text = {type: 'text', text: 'yes'}
const item = {type: 'message', content: [{type: 'output_text', text: 'yes'}]}

test('SC33: an answer that is whole and text alone may be given to other words', () => {
  expect(isWholeAnswer('chatComplete', choice({}))).toBe(true)
  expect(isWholeAnswer('chatComplete', choice({content: null, content_blocks: []}))).toBe(false)
  expect(isWholeAnswer('complete', {choices: [{text: 'yes', finish_reason: 'stop'}]})).toBe(true)
  expect(isWholeAnswer('messages', message({type: 'thinking', thinking: 'hm'}, text))).toBe(true)
  expect(isWholeAnswer('createModelResponse', {status: 'completed', output: [{type: 'reasoning'}, item]})).toBe(true)
})

test('SC33: what was cut, filtered, refused, calls a tool or says nothing may not', () => {
  for (const answer of [
    ...['length', 'content_filter', 'tool_calls', null, undefined].map(reason =>
      choice({}, reason === undefined ? 0 : reason),
    ),
    choice({content: ' '}),
    choice({tool_calls: [{id: 't'}]}),
    choice({function_call: {name: 'f'}}),
    choice({refusal: 'no'}),
    choice({audio: {id: 'a'}}),
    {...choice({}), error: {message: 'no'}},
    {choices: [...choice({}).choices, ...choice({}, 'length').choices]},
    {choices: []},
    {choices: {length: 1}},
    {},
    null,
    'text',
  ])
    expect(isWholeAnswer('chatComplete', answer), JSON.stringify(answer)).toBe(false)
  for (const answer of [
    message(),
    message({type: 'tool_use', id: 't'}, text),
    {...message(text), stop_reason: 'max_tokens'},
  ])
    expect(isWholeAnswer('messages', answer), JSON.stringify(answer)).toBe(false)
  for (const answer of [
    {status: 'incomplete', output: [item]},
    {status: 'completed', output: [item], incomplete_details: {reason: 'max_output_tokens'}},
    {status: 'completed', output: [item, {type: 'function_call'}]},
    {status: 'completed', output: [{type: 'message', content: [{type: 'refusal', refusal: 'no'}]}]},
    {status: 'completed', output: []},
  ])
    expect(isWholeAnswer('createModelResponse', answer), JSON.stringify(answer)).toBe(false)
  expect(isWholeAnswer('rerank', choice({}))).toBe(false)
})

test('SC33: a 200 without choices, or with an error, is not kept at all', () => {
  const kept = (answer: unknown) => mayStore('chatComplete', 200, 'application/json', answer)
  expect([kept(choice({})), kept(choice({}, 'length')), kept({choices: []}), kept({}), kept({error: {}})]).toEqual([
    true,
    true,
    false,
    false,
    false,
  ])
})

test('what speaks of today ends after a quarter of an hour, and at midnight', () => {
  const noon = Date.parse('2026-11-28T12:00:00Z')
  const late = Date.parse('2026-11-28T23:50:00Z')
  expect([endOf(noon, 3_600_000, false) - noon, endOf(noon, 3_600_000, true) - noon]).toEqual([3_600_000, 900_000])
  expect([endOf(noon, 60_000, true) - noon, endOf(late, 3_600_000, true) - late]).toEqual([60_000, 600_000])
})
