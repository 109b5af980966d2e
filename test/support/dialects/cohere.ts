import type {Json} from '../../../src/providers/translation.ts'
import {
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

const MODEL = 'command-a'
const KNOWN = `model messages tools strict_tools tool_choice stream max_tokens stop_sequences temperature p k seed frequency_penalty
  presence_penalty response_format thinking logprobs documents citation_options safety_mode priority raw_prompting`
const FINISH = {stop: 'COMPLETE', length: 'MAX_TOKENS', tool_calls: 'TOOL_CALL'} as const

/** Source: docs.cohere.com, API v2, chat and chat stream; errors. */
export const cohereWords: TwinWords = {
  kind: 'cohere',
  base: '',
  model: MODEL,
  auth: ['authorization', `Bearer ${PROVIDER_KEY}`],
  needs: {},
  thinks: true,
  signature: null,
  path: () => '/v2/chat',
  read(body, is_stream) {
    onlyKnown(body, KNOWN)
    check(body.model === MODEL, 'the model is another')
    check(body.stream === is_stream, 'stream is not what was asked')
    return {
      ...readMessages(body.messages),
      tools: list(body.tools).map(({type, function: said}) => {
        onlyKnown(object(said), 'name description parameters', 'a function')
        check(
          type === 'function' && object(object(said).parameters).type === 'object',
          'a tool is no function with parameters',
        )
        return text(object(said).name)
      }),
      thinks: object(body.thinking).type === 'enabled',
      max_tokens: typeof body.max_tokens === 'number' ? body.max_tokens : null,
    }
  },
  plain: said => ({
    id: 'c14c80c3',
    finish_reason: FINISH[said.finish],
    message: {
      role: 'assistant',
      ...(said.calls ? {tool_plan: said.text, tool_calls: said.calls.map(call)} : {}),
      ...(content(said).length > 0 ? {content: content(said)} : {}),
    },
    usage: usage(said),
  }),
  events: said => [
    event({
      id: 'c14c80c3',
      type: 'message-start',
      delta: {message: {role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: []}},
    }),
    ...content(said).flatMap((part, index) => {
      const kind = part.type === 'thinking' ? 'thinking' : 'text'
      return [
        event({type: 'content-start', index, delta: {message: {content: {type: kind, [kind]: ''}}}}),
        ...halves(String(part[kind])).map(piece =>
          event({type: 'content-delta', index, delta: {message: {content: {[kind]: piece}}}}),
        ),
        event({type: 'content-end', index}),
      ]
    }),
    ...(said.calls
      ? halves(said.text ?? '').map(piece => event({type: 'tool-plan-delta', delta: {message: {tool_plan: piece}}}))
      : []),
    ...(said.calls ?? []).flatMap((made, index) => [
      event({
        type: 'tool-call-start',
        index,
        delta: {message: {tool_calls: {id: made.id, type: 'function', function: {name: made.name, arguments: ''}}}},
      }),
      ...halves(JSON.stringify(made.arguments)).map(piece =>
        event({type: 'tool-call-delta', index, delta: {message: {tool_calls: {function: {arguments: piece}}}}}),
      ),
      event({type: 'tool-call-end', index}),
    ]),
    event({type: 'message-end', id: 'c14c80c3', delta: {finish_reason: FINISH[said.finish], usage: usage(said)}}),
  ],
  stream_type: 'text/event-stream',
  error: (_status, message) => ({id: 'e1', message}),
}

const event = (data: Json) => sse(data, String(data.type))
const call = ({id, name, arguments: given}: NonNullable<Said['calls']>[number]) => ({
  id,
  type: 'function',
  function: {name, arguments: JSON.stringify(given)},
})
const content = ({thought, text: said, calls}: Said): readonly Json[] => [
  ...(thought ? [{type: 'thinking', thinking: thought}] : []),
  ...(said && !calls ? [{type: 'text', text: said}] : []),
]
const usage = ({input_tokens, output_tokens}: Said) => ({
  billed_units: {input_tokens, output_tokens},
  tokens: {input_tokens, output_tokens},
})
