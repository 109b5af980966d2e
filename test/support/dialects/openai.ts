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

const MODEL = 'gpt-oss-120b'
const KNOWN = `model messages tools tool_choice stream stream_options max_tokens max_completion_tokens stop temperature top_p seed
  response_format parallel_tool_calls n user logprobs top_logprobs reasoning_effort frequency_penalty presence_penalty store metadata`

/** A provider with OpenAI's chat and neither of the newer endpoints. Source: OpenAI API reference, chat completions. */
export const openaiWords: TwinWords = {
  kind: 'cerebras',
  base: '/v1',
  model: MODEL,
  auth: ['authorization', `Bearer ${PROVIDER_KEY}`],
  needs: {},
  thinks: false,
  signature: null,
  path: () => '/v1/chat/completions',
  read(body, is_stream) {
    onlyKnown(body, KNOWN)
    check(body.model === MODEL, 'the model is another')
    check((body.stream === true) === is_stream, 'stream is not what was asked')
    const {max_tokens, max_completion_tokens} = body
    for (const message of list(body.messages))
      onlyKnown(message, 'role content name tool_calls tool_call_id refusal', 'a message')
    return {
      ...readMessages(body.messages),
      tools: list(body.tools).map(tool => text(object(tool.function).name)),
      thinks: body.reasoning_effort !== undefined,
      max_tokens: Number(max_completion_tokens ?? max_tokens) || null,
    }
  },
  plain: said => ({
    ...envelope('chat.completion'),
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: said.text ?? null,
          refusal: null,
          ...(said.calls ? {tool_calls: said.calls.map(call)} : {}),
        },
        logprobs: null,
        finish_reason: said.finish,
      },
    ],
    usage: usage(said),
  }),
  events: said => [
    chunk({role: 'assistant', content: ''}),
    ...halves(said.text ?? '').map(piece => chunk({content: piece})),
    ...(said.calls ?? []).flatMap((made, index) => [
      chunk({tool_calls: [{index, ...call({...made, arguments: {}}), function: {name: made.name, arguments: ''}}]}),
      ...halves(JSON.stringify(made.arguments)).map(piece =>
        chunk({tool_calls: [{index, function: {arguments: piece}}]}),
      ),
    ]),
    chunk({}, said.finish),
    sse({...envelope('chat.completion.chunk'), choices: [], usage: usage(said)}),
    sse('[DONE]'),
  ],
  stream_type: 'text/event-stream',
  error: (status, message) => ({
    error: {message, type: status === 429 ? 'too_many_requests_error' : 'api_error', param: null, code: 'x'},
  }),
}

const envelope = (object_: string) => ({id: 'chatcmpl-1', object: object_, created: 1_700_000_000, model: MODEL})
const chunk = (delta: Json, finish_reason: string | null = null) =>
  sse({...envelope('chat.completion.chunk'), choices: [{index: 0, delta, finish_reason, logprobs: null}]})
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
