import {list, object, text} from '../dialects/words.ts'
import {functionsOf, GOOD_MESSAGES, GOOD_TOOL, messagesOf, misChosen, partsOf} from './chat.ts'
import {first, outside, type StrictDialect, type StrictRule, when} from './rule.ts'

const REQUEST = 'vllm-project/vllm, ChatCompletionRequest'
const PARTS = new Set(
  `text input_text output_text refusal thinking image_url input_image image_pil image_embeds audio_url input_audio
  video_url`.split(/\s+/),
)

const rules: readonly StrictRule[] = [
  {
    id: 'tool_choice',
    source: `${REQUEST}, check_tool_usage: "When using \`tool_choice\`, \`tools\` must be set"`,
    finds: misChosen,
    bad: {tool_choice: {type: 'function', function: {name: 'write'}}},
  },
  {
    id: 'some tools',
    source: `${REQUEST}, check_tool_usage: tools must not be empty`,
    finds: ({tools}) => when(tools !== undefined && list(tools).length === 0, 'an empty list of tools'),
    bad: {tools: [], tool_choice: undefined},
  },
  {
    id: 'stream_options',
    source: `${REQUEST}, validate_stream_options: "Stream options can only be defined when \`stream=True\`."`,
    finds: ({stream, stream_options}) =>
      when(stream_options !== undefined && stream !== true, 'stream_options without stream'),
    bad: {stream: undefined, stream_options: {include_usage: true}},
  },
  {
    id: 'top_logprobs',
    source: `${REQUEST}, check_logprobs: "when using \`top_logprobs\`, \`logprobs\` must be set to true."`,
    finds: ({logprobs, top_logprobs}) => when(Number(top_logprobs ?? 0) > 0 && logprobs !== true, 'top_logprobs alone'),
    bad: {top_logprobs: 3},
  },
  {
    id: 'parts of contents',
    source: 'vllm-project/vllm, chat_utils: "Unknown part type"',
    finds: body => first(partsOf(body), ([, {type}]) => when(!PARTS.has(text(type)), `a part ${String(type)}`)),
    bad: {messages: [{role: 'user', content: [{type: 'file', file: {file_data: 'JVBERi0='}}]}]},
  },
  {
    id: 'messages',
    source: `${REQUEST}: a list of messages, each with its role`,
    finds: body =>
      when(messagesOf(body).length === 0, 'messages is empty') ??
      first(messagesOf(body), ({role}) => when(typeof role !== 'string', 'a message without a role')),
    bad: {messages: [{content: 'x'}]},
  },
  {
    id: 'sampling',
    source: 'vllm-project/vllm, SamplingParams: "top_p must be in (0, 1]"; "temperature must be non-negative"',
    finds: body =>
      outside(body.temperature, 0, Number.MAX_VALUE, 'temperature') ??
      outside(body.top_p, Number.MIN_VALUE, 1, 'top_p') ??
      outside(body.max_tokens, 1, Number.MAX_SAFE_INTEGER, 'max_tokens'),
    bad: {temperature: -1},
  },
  {
    id: 'stop',
    source: 'vllm-project/vllm, SamplingParams: "stop cannot contain an empty string."',
    finds: ({stop}) => when(stop === '' || (Array.isArray(stop) && stop.includes('')), 'an empty stop string'),
    bad: {stop: ['']},
  },
  {
    id: 'functions',
    source: 'vllm-project/vllm, FunctionDefinition: name is a string; parameters an object',
    finds: body =>
      first(functionsOf(body), ({name, parameters}) =>
        when(
          typeof name !== 'string' ||
            (parameters !== undefined && (typeof parameters !== 'object' || object(parameters) !== parameters)),
          'a function without a name',
        ),
      ),
    bad: {tools: [{type: 'function', function: {parameters: {}}}], tool_choice: undefined},
  },
]

export const vllmStrict: StrictDialect = {
  name: 'vllm',
  model: 'qwen3',
  good: {
    model: 'qwen3',
    messages: GOOD_MESSAGES,
    tools: [GOOD_TOOL],
    tool_choice: 'auto',
    stream: true,
    stream_options: {include_usage: true},
    stop: ['END'],
  },
  rules,
}
