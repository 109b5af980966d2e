import {expect, test} from 'vitest'
import {anthropic} from '../../../src/providers/anthropic/index.ts'
import {type Json, type TranslationContext, UnsupportedInputFault} from '../../../src/providers/translation.ts'

const {request, reply, stream} = anthropic.endpoints.complete!
const context: TranslationContext = {
  provider: 'anthropic',
  model: 'claude-sonnet-4-5',
  is_stream: false,
  strict: true,
  options: {},
  call_id: 'c',
  created_s: 7,
}
const asked = {
  model: 'claude-sonnet-4-5',
  prompt: 'Once upon',
  max_tokens: 5,
  stop: ['.'],
  stream_options: {include_usage: true},
}

test('a prompt is what the user says', () => {
  const user = {role: 'user', content: [{type: 'text', text: 'Once upon'}]}
  expect(request(asked, context)).toMatchObject({
    path: '/messages',
    body: {model: 'claude-sonnet-4-5', max_tokens: 5, messages: [user], stop_sequences: ['.']},
  })
  expect(request({...asked, prompt: ['Once upon'], best_of: 1, echo: false, logprobs: 2}, context).body).toMatchObject({
    messages: [user],
  })
  for (const more of [
    {prompt: ['a', 'b']},
    {prompt: [1, 2]},
    {prompt: null},
    {suffix: 'end'},
    {echo: true},
    {best_of: 3},
    {n: 2},
  ])
    expect(() => request({...asked, ...more}, context)).toThrow(UnsupportedInputFault)
})

const said = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5-20250929',
  content: [{type: 'text', text: ' a time'}],
  stop_reason: 'max_tokens',
  usage: {input_tokens: 9, output_tokens: 5},
}
const envelope = {
  id: 'msg_1',
  object: 'text_completion',
  created: 7,
  model: 'claude-sonnet-4-5-20250929',
  provider: 'anthropic',
}

test('an answer is a text completion', () => {
  expect(reply(said, context, asked).body).toMatchObject({
    ...envelope,
    choices: [{text: ' a time', index: 0, logprobs: null, finish_reason: 'length'}],
    usage: {prompt_tokens: 9, completion_tokens: 5, total_tokens: 14},
  })
})

test('a stream tells the same in pieces', () => {
  const told = stream!.open({...context, is_stream: true}, asked)
  const events: Json[] = [
    {type: 'message_start', message: {...said, content: [], usage: {input_tokens: 9, output_tokens: 1}}},
    {type: 'content_block_start', index: 0, content_block: {type: 'text', text: ''}},
    {type: 'content_block_delta', index: 0, delta: {type: 'text_delta', text: ' a'}},
    {type: 'content_block_delta', index: 0, delta: {type: 'text_delta', text: ' time'}},
    {type: 'content_block_stop', index: 0},
    {type: 'message_delta', delta: {stop_reason: 'max_tokens'}, usage: {output_tokens: 5}},
    {type: 'message_stop'},
  ]
  const chunks = events.flatMap(data => [...told.event({name: String(data.type), data})])
  const choice = (text: string, finish_reason: string | null) => ({
    ...envelope,
    choices: [{text, index: 0, logprobs: null, finish_reason}],
  })
  expect(chunks.slice(0, -1)).toEqual([choice(' a', null), choice(' time', null), choice('', 'length')])
  expect(chunks.at(-1)).toMatchObject({...envelope, choices: [], usage: {prompt_tokens: 9, completion_tokens: 5}})
  expect(told).toMatchObject({finished: true, failed: null, text_bytes: 7, model: 'claude-sonnet-4-5-20250929'})
})
