import {expect, test} from 'vitest'
import {
  functionsToTools,
  hasFunctions,
  withFunctionCalls,
  withFunctionDeltas,
} from '../../src/providers/legacy-functions.ts'

const weather = {name: 'weather', description: 'of a place', parameters: {type: 'object'}}
const call = {name: 'weather', arguments: '{"place":"Bonn"}'}

test('functions, the choice of one, calls and their results are said as tools', () => {
  const request = {
    model: 'm',
    functions: [weather],
    function_call: {name: 'weather'},
    messages: [
      {role: 'user', content: 'How is it?'},
      {role: 'assistant', content: null, function_call: call},
      {role: 'function', name: 'weather', content: 'Rain'},
    ],
  }
  expect(hasFunctions(request)).toBe(true)
  expect(functionsToTools(request)).toEqual({
    model: 'm',
    tools: [{type: 'function', function: weather}],
    tool_choice: {type: 'function', function: {name: 'weather'}},
    messages: [
      {role: 'user', content: 'How is it?'},
      {role: 'assistant', content: null, tool_calls: [{id: 'call_f1', type: 'function', function: call}]},
      {role: 'tool', tool_call_id: 'call_f1', content: 'Rain'},
    ],
  })
})

test.each([
  {},
  {functions: null, function_call: null},
  {tools: [], messages: [{role: 'assistant', function_call: null}]},
])('%j has none', request => {
  expect(hasFunctions(request)).toBe(false)
})

test.each<[object, string]>([
  [{functions: 'weather'}, 'functions'],
  [{function_call: 'always'}, 'function_call'],
  [{messages: [{role: 'function', name: 'weather', content: 'Rain'}]}, 'messages[0].name'],
])('%j is refused by the field', (request, field) => {
  expect(() => functionsToTools(request as never)).toThrow(field)
})

const tool_calls = [{id: 'c1', type: 'function', function: call}]

test('a call is read as its client reads it, and a second one is kept', () => {
  const message = {role: 'assistant', content: null, tool_calls}
  const reply = {choices: [{index: 0, message, finish_reason: 'tool_calls'}]}
  expect(withFunctionCalls(reply)).toEqual({
    choices: [
      {index: 0, message: {role: 'assistant', content: null, function_call: call}, finish_reason: 'function_call'},
    ],
  })
  const two = [...tool_calls, {id: 'c2', type: 'function', function: {name: 'time', arguments: '{}'}}]
  const both = withFunctionCalls({choices: [{message: {...message, tool_calls: two}, finish_reason: 'tool_calls'}]})
  expect(both.choices).toEqual([
    {
      message: {role: 'assistant', content: null, function_call: call, tool_calls: [two[1]]},
      finish_reason: 'function_call',
    },
  ])
})

test('pieces of a call are read so, too; text stays as it is', () => {
  const deltas = [
    {tool_calls: [{index: 0, id: 'c1', type: 'function', function: {name: 'weather', arguments: ''}}]},
    {tool_calls: [{index: 0, function: {arguments: '{"place"'}}]},
    {content: 'Hi'},
  ]
  const read = deltas.map(delta => withFunctionDeltas({choices: [{index: 0, delta, finish_reason: null}]}).choices)
  expect(read).toEqual([
    [{index: 0, delta: {function_call: {name: 'weather', arguments: ''}}, finish_reason: null}],
    [{index: 0, delta: {function_call: {arguments: '{"place"'}}, finish_reason: null}],
    [{index: 0, delta: {content: 'Hi'}, finish_reason: null}],
  ])
  const end = withFunctionDeltas({choices: [{index: 0, delta: {}, finish_reason: 'tool_calls'}]})
  expect(end.choices).toEqual([{index: 0, delta: {}, finish_reason: 'function_call'}])
})
