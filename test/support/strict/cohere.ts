import type {Json} from '../../../src/providers/translation.ts'
import {list, object, text} from '../dialects/words.ts'
import {GOOD_MESSAGES, GOOD_TOOL, messagesOf, misnamed, orphaned, partsOf, unanswered} from './chat.ts'
import {first, outside, type StrictDialect, type StrictRule, unknownMember, when} from './rule.ts'

const API = 'docs.cohere.com/reference/chat, API v2'
const KNOWN = `stream model messages tools strict_tools documents citation_options response_format safety_mode
  max_tokens stop_sequences temperature seed frequency_penalty presence_penalty k p logprobs tool_choice thinking
  priority raw_prompting`
const PARTS = new Set(['text', 'image_url'])

const rules: readonly StrictRule[] = [
  {
    id: 'known members',
    source: `${API}, body`,
    finds: body => unknownMember(body, KNOWN, 'the body'),
    bad: {top_p: 0.5},
  },
  {
    id: 'messages',
    source: `${API}, messages: required; roles user, assistant, tool and system`,
    finds: body =>
      when(messagesOf(body).length === 0, 'messages is empty') ??
      first(messagesOf(body), ({role}) =>
        when(!['system', 'user', 'assistant', 'tool'].includes(text(role)), `the role ${String(role)}`),
      ),
    bad: {messages: [{role: 'developer', content: 'x'}]},
  },
  {
    id: 'content',
    source: `${API}, messages.content: required; kwaroran/Risuai#504: "message must be at least 1 token long"`,
    finds: body =>
      first(messagesOf(body), ({role, content, tool_calls}, at) =>
        when(
          (role === 'user' || (role === 'assistant' && list(tool_calls).length === 0)) &&
            (content === undefined ||
              content === null ||
              content === '' ||
              (Array.isArray(content) && content.length === 0)),
          `messages[${at}] says nothing`,
        ),
      ),
    bad: {messages: [{role: 'user', content: ''}]},
  },
  {
    id: 'parts of contents',
    source: `${API}, user message, content: text or image_url`,
    finds: body =>
      first(partsOf(body), ([role, {type}]) =>
        when(role === 'user' && !PARTS.has(text(type)), `a part of type ${String(type)}`),
      ),
    bad: {messages: [{role: 'user', content: [{type: 'file', file: {file_id: 'a'}}]}]},
  },
  {
    id: 'results answer calls',
    source: `${API}, tool message, tool_call_id: the id of the associated tool call`,
    finds: orphaned,
    bad: {
      messages: [
        {role: 'user', content: 'x'},
        {role: 'tool', tool_call_id: 'a', content: 'one'},
      ],
    },
  },
  {
    id: 'calls are answered',
    source: 'docs.cohere.com/v2/docs/tool-use-overview, step 4: every call of the assistant is followed by its results',
    finds: unanswered,
    bad: {messages: GOOD_MESSAGES.filter(({tool_call_id}) => tool_call_id !== 'call_2')},
  },
  {
    id: 'names of tools',
    source: 'docs.cohere.com/docs/tool-use-parameter-types: the name of a function; letters, digits, _ and -',
    finds: body => misnamed(body, /^[a-zA-Z0-9_-]{1,100}$/),
    bad: {tools: [{type: 'function', function: {name: 'read file', parameters: {type: 'object', properties: {}}}}]},
  },
  {
    id: 'parameters of tools',
    source: `${API}, tools.function.parameters: required, a JSON schema whose type is object`,
    finds: body =>
      first(list(body.tools), tool =>
        when(object(object(tool.function).parameters).type !== 'object', 'parameters that are no object'),
      ),
    bad: {tools: [{type: 'function', function: {name: 'read', parameters: {properties: {}}}}]},
  },
  {
    id: 'stop_sequences',
    source: `${API}, stop_sequences: a list of up to 5 strings`,
    finds: ({stop_sequences}) => {
      const all = (stop_sequences ?? []) as unknown[]
      return when(all.length > 5, `${all.length} stop sequences`) ?? when(all.includes(''), 'an empty stop sequence')
    },
    bad: {stop_sequences: ['a', 'b', 'c', 'd', 'e', 'f']},
  },
  {
    id: 'p',
    source: `${API}, p: min value of 0.01, max value of 0.99`,
    finds: ({p}) => outside(p, 0.01, 0.99, 'p'),
    bad: {p: 1},
  },
  {
    id: 'k',
    source: `${API}, k: min value of 0, max value of 500`,
    finds: ({k}) => outside(k, 0, 500, 'k'),
    bad: {k: 501},
  },
  {
    id: 'penalties',
    source: `${API}, frequency_penalty and presence_penalty: min value of 0.0, max value of 1.0`,
    finds: body =>
      outside(body.frequency_penalty, 0, 1, 'frequency_penalty') ??
      outside(body.presence_penalty, 0, 1, 'presence_penalty'),
    bad: {presence_penalty: -1},
  },
  {
    id: 'temperature',
    source: `${API}, temperature: a non-negative float`,
    finds: ({temperature}) => outside(temperature, 0, Number.MAX_VALUE, 'temperature'),
    bad: {temperature: -0.1},
  },
  {
    id: 'response_format',
    source: `${API}, response_format: not supported in combination with the documents or tools parameters`,
    finds: ({response_format, tools, documents}) =>
      when(
        object(response_format).type === 'json_object' && (list(tools).length > 0 || list(documents).length > 0),
        'a JSON answer beside tools or documents',
      ),
    bad: {response_format: {type: 'json_object'}},
  },
  {
    id: 'tool_choice',
    source: `${API}, tool_choice: REQUIRED or NONE; only with tools`,
    finds: ({tool_choice, tools}) =>
      when(
        tool_choice !== undefined && (list(tools).length === 0 || !['REQUIRED', 'NONE'].includes(text(tool_choice))),
        `tool_choice ${JSON.stringify(tool_choice)}`,
      ),
    bad: {tool_choice: 'auto'},
  },
]

export const cohereStrict: StrictDialect = {
  name: 'cohere',
  model: 'command-a-03-2025',
  good: {
    model: 'command-a-03-2025',
    messages: GOOD_MESSAGES.map(message => {
      const {content, ...calling} = message
      return message.role === 'assistant' ? ({...calling, tool_plan: content} as Json) : message
    }),
    tools: [GOOD_TOOL],
    tool_choice: 'REQUIRED',
    stop_sequences: ['END'],
    p: 0.5,
    stream: false,
  },
  rules,
}
