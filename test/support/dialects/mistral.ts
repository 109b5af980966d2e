import type {Json} from '../../../src/providers/translation.ts'
import {
  type CallSaid,
  check,
  halves,
  list,
  object,
  onlyKnown,
  PROVIDER_KEY,
  readMessages,
  type Said,
  sse,
  type TwinWords,
  text,
} from './words.ts'

const MODEL = 'magistral-medium'
const KNOWN = `model messages tools tool_choice stream max_tokens stop temperature top_p random_seed response_format safe_prompt
  parallel_tool_calls n prediction prompt_mode reasoning_effort presence_penalty frequency_penalty metadata prompt_cache_key guardrails`
const FINISH = {stop: 'stop', length: 'length', tool_calls: 'tool_calls'} as const

/** Source: docs.mistral.ai, API, chat completion; reasoning; function calling. */
export const mistralWords: TwinWords = {
  kind: 'mistral-ai',
  base: '/v1',
  model: MODEL,
  auth: ['authorization', `Bearer ${PROVIDER_KEY}`],
  needs: {},
  thinks: true,
  signature: null,
  path: () => '/v1/chat/completions',
  read(body, is_stream) {
    onlyKnown(body, KNOWN)
    check(body.model === MODEL, 'the model is another')
    check((body.stream ?? false) === is_stream, 'stream is not what was asked')
    const understood = readMessages(body.messages)
    for (const {calls} of understood.turns)
      for (const {id} of calls) check(/^[a-zA-Z0-9]{9}$/.test(id), `the id ${id} is none of Mistral's`)
    return {
      ...understood,
      tools: list(body.tools).map(tool => text(object(tool.function).name)),
      thinks: body.reasoning_effort !== undefined || body.prompt_mode === 'reasoning',
      max_tokens: typeof body.max_tokens === 'number' ? body.max_tokens : null,
    }
  },
  plain: said => ({
    ...envelope('chat.completion'),
    choices: [
      {
        index: 0,
        message: {role: 'assistant', content: content(said), tool_calls: said.calls?.map(call) ?? null, prefix: false},
        finish_reason: FINISH[said.finish],
      },
    ],
    usage: usage(said),
  }),
  events(said) {
    const {thought, text: words = '', calls} = said
    return [
      chunk({role: 'assistant', content: ''}),
      ...(thought
        ? halves(thought).map(piece => chunk({content: [{type: 'thinking', thinking: [{type: 'text', text: piece}]}]}))
        : []),
      ...halves(words).map(piece => chunk({content: piece})),
      ...(calls ? [chunk({content: '', tool_calls: calls.map((made, index) => ({...call(made), index}))})] : []),
      chunk({content: ''}, FINISH[said.finish], {usage: usage(said)}),
      sse('[DONE]'),
    ]
  },
  stream_type: 'text/event-stream',
  error: (status, message) => ({
    object: 'error',
    message,
    type: status === 429 ? 'rate_limited' : 'invalid_request',
    param: null,
    code: '1300',
  }),
}

const envelope = (object_: string) => ({id: 'cmpl-1', object: object_, created: 1_700_000_000, model: MODEL})
const chunk = (delta: Json, finish_reason: string | null = null, more: Json = {}) =>
  sse({...envelope('chat.completion.chunk'), choices: [{index: 0, delta, finish_reason}], ...more})
const call = ({id, name, arguments: given}: CallSaid) => ({
  id,
  type: 'function',
  function: {name, arguments: JSON.stringify(given)},
})
const usage = ({input_tokens, output_tokens}: Said) => ({
  prompt_tokens: input_tokens,
  completion_tokens: output_tokens,
  total_tokens: input_tokens + output_tokens,
})

function content({thought, text: said = ''}: Said): unknown {
  if (!thought) return said
  return [
    {type: 'thinking', thinking: [{type: 'text', text: thought}]},
    {type: 'text', text: said},
  ]
}
