import type {Json} from '../../../src/providers/translation.ts'
import {
  check,
  halves,
  list,
  object,
  onlyKnown,
  PROVIDER_KEY,
  type Said,
  sse,
  type TwinWords,
  text,
  texts,
} from './words.ts'

const MODEL = 'claude-sonnet-4-6'
const SIGNATURE = 'EuYBCkQYAiJA'
const KNOWN = `model max_tokens messages system tools tool_choice stream thinking temperature top_p top_k stop_sequences metadata
  service_tier output_config output_format`
const FINISH = {stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use'} as const
const ERRORS: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  500: 'api_error',
  529: 'overloaded_error',
}

/** Source: platform.claude.com/docs, Messages API, version 2023-06-01; streaming; errors. */
export const anthropicWords: TwinWords = {
  kind: 'anthropic',
  base: '/v1',
  model: MODEL,
  auth: ['x-api-key', PROVIDER_KEY],
  needs: {},
  thinks: true,
  signature: SIGNATURE,
  path: () => '/v1/messages',
  read(body, is_stream) {
    onlyKnown(body, KNOWN)
    check(body.model === MODEL, 'the model is another')
    check(typeof body.max_tokens === 'number', 'max_tokens is needed')
    check((body.stream === true) === is_stream, 'stream is not what was asked')
    const {thinking} = body
    if (object(thinking).type === 'enabled') {
      check(Number(object(thinking).budget_tokens) < body.max_tokens, 'the budget is not below max_tokens')
    }
    return {
      system: texts(body.system),
      turns: list(body.messages).map(message => {
        const {role} = message
        check(role === 'user' || role === 'assistant', `an unknown role ${String(role)}`)
        const blocks =
          typeof message.content === 'string' ? [{type: 'text', text: message.content}] : list(message.content)
        const of = (type: string) => blocks.filter(block => block.type === type) as readonly Json[]
        for (const block of of('thinking'))
          check(block.signature === SIGNATURE, 'a thought has not the signature it was given')
        return {
          role,
          text: texts(of('text')),
          thought: of('thinking')
            .map(({thinking}) => text(thinking))
            .join(''),
          calls: of('tool_use').map(({id, name, input}) => ({
            id: text(id),
            name: text(name),
            arguments: object(input),
          })),
          results: of('tool_result').map(({tool_use_id, content}) => [text(tool_use_id), texts(content)] as const),
        }
      }),
      tools: list(body.tools).map(({name, input_schema}) => {
        check(object(input_schema).type === 'object', 'input_schema is no object')
        return text(name)
      }),
      thinks: ['enabled', 'adaptive'].includes(text(object(thinking).type)),
      max_tokens: body.max_tokens,
    }
  },
  plain: said => ({
    ...envelope(),
    content: blocks(said),
    stop_reason: FINISH[said.finish],
    stop_sequence: null,
    usage: {input_tokens: said.input_tokens, output_tokens: said.output_tokens},
  }),
  events: said => [
    event({
      type: 'message_start',
      message: {
        ...envelope(),
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: {input_tokens: said.input_tokens, output_tokens: 1},
      },
    }),
    event({type: 'ping'}),
    ...blocks(said).flatMap((block, index) => [
      event({type: 'content_block_start', index, content_block: begun(block)}),
      ...deltas(block).map(delta => event({type: 'content_block_delta', index, delta})),
      event({type: 'content_block_stop', index}),
    ]),
    event({
      type: 'message_delta',
      delta: {stop_reason: FINISH[said.finish], stop_sequence: null},
      usage: {output_tokens: said.output_tokens},
    }),
    event({type: 'message_stop'}),
  ],
  stream_type: 'text/event-stream; charset=utf-8',
  error: (status, message) => ({
    type: 'error',
    error: {type: ERRORS[status] ?? 'api_error', message},
    request_id: 'req_1',
  }),
}

const event = (data: Json) => sse(data, String(data.type))
const envelope = () => ({id: 'msg_01', type: 'message', role: 'assistant', model: MODEL})

function blocks({thought, text: said, calls = []}: Said): readonly Json[] {
  return [
    ...(thought ? [{type: 'thinking', thinking: thought, signature: SIGNATURE}] : []),
    ...(said ? [{type: 'text', text: said}] : []),
    ...calls.map(({id, name, arguments: input}) => ({type: 'tool_use', id, name, input})),
  ]
}

function begun(block: Json): Json {
  if (block.type === 'thinking') return {type: 'thinking', thinking: '', signature: ''}
  return block.type === 'text' ? {type: 'text', text: ''} : {...block, input: {}}
}

function deltas(block: Json): readonly Json[] {
  if (block.type === 'text') return halves(String(block.text)).map(part => ({type: 'text_delta', text: part}))
  if (block.type === 'tool_use')
    return halves(JSON.stringify(block.input)).map(part => ({type: 'input_json_delta', partial_json: part}))
  return [
    ...halves(String(block.thinking)).map(part => ({type: 'thinking_delta', thinking: part})),
    {type: 'signature_delta', signature: block.signature},
  ]
}
