import type {Json} from '../../../src/providers/translation.ts'
import {list, object, text} from '../dialects/words.ts'
import {
  call,
  callsOf,
  functionsOf,
  GOOD_MESSAGES,
  GOOD_TOOL,
  messagesOf,
  misChosen,
  misnamed,
  NAME,
  orphaned,
  partsOf,
  unanswered,
  withAt,
} from './chat.ts'
import {first, outside, type StrictDialect, type StrictRule, unknownMember, when} from './rule.ts'
import {notStrict, schemasIn} from './schema.ts'

const API = 'OpenAI API reference, Create chat completion'
const STRICT = 'OpenAI docs, Structured outputs, Supported schemas'
const OF_ROLE: Readonly<Record<string, string>> = {
  system: 'role content name',
  developer: 'role content name',
  user: 'role content name',
  assistant: 'role content name refusal audio tool_calls function_call',
  tool: 'role content tool_call_id',
}
const PARTS: Readonly<Record<string, string>> = {
  system: 'text',
  developer: 'text',
  tool: 'text',
  assistant: 'text refusal',
  user: 'text image_url input_audio file',
}
const PART_MEMBERS: Readonly<Record<string, string>> = {
  text: 'type text',
  refusal: 'type refusal',
  image_url: 'type image_url',
  input_audio: 'type input_audio',
  file: 'type file',
}
const IMAGE = /^data:image\/(?:png|jpeg|jpg|gif|webp);base64,/

const formatOf = (body: Json) => object(object(body.response_format).json_schema)
const formatted = (more: Json) => ({response_format: {type: 'json_schema', json_schema: {name: 'a', ...more}}})
const named = (name: string) => ({tools: [{...GOOD_TOOL, function: {...object(GOOD_TOOL.function), name}}]})
const asked = (...content: Json[]) => ({messages: [{role: 'user', content}]})

/** Rules of OpenAI's that those who speak its words share. */
export const callRules: readonly StrictRule[] = [
  {
    id: 'results answer calls',
    source:
      "miurla/morphic#136: \"messages with role 'tool' must be a response to a preceeding message with 'tool_calls'\"",
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
    source: 'agno-agi/agno#4345: "\'tool_calls\' must be followed by tool messages"',
    finds: unanswered,
    bad: {messages: GOOD_MESSAGES.filter(({tool_call_id}) => tool_call_id !== 'call_2')},
  },
  {
    id: 'names of functions',
    source: `${API}, tools.function.name: a-z, A-Z, 0-9, underscores and dashes, with a maximum length of 64`,
    finds: body => misnamed(body),
    bad: named('files.read'),
  },
  {
    id: 'count of tools',
    source: 'vishalmysore/Tools4AI#16: "Invalid \'tools\': array too long. Expected an array with maximum length 128"',
    finds: ({tools}) => when(list(tools).length > 128, `${list(tools).length} tools`),
    bad: {tools: Array.from({length: 129}, () => GOOD_TOOL)},
  },
  {
    id: 'tool_choice',
    source: "writer/writer-framework#1013: \"'tool_choice' is only allowed when 'tools' are specified\"",
    finds: misChosen,
    bad: {tool_choice: {type: 'function', function: {name: 'write'}}},
  },
]

const rules: readonly StrictRule[] = [
  ...callRules,
  {
    id: 'messages',
    source: `${API}, messages: at least one; roles developer, system, user, assistant and tool`,
    finds: body =>
      when(messagesOf(body).length === 0, 'messages is empty') ??
      first(messagesOf(body), ({role}) => when(!Object.hasOwn(OF_ROLE, text(role)), `the role ${String(role)}`)),
    bad: {messages: []},
  },
  {
    id: 'members of messages',
    source: 'transitive-bullshit/agentic#531: "Additional properties are not allowed"; agent-framework#2344: at times',
    finds: body =>
      first(messagesOf(body), (message, at) =>
        unknownMember(message, OF_ROLE[text(message.role)] ?? '', `messages[${at}]`),
      ),
    bad: {messages: [{role: 'user', content: 'x', is_error: true}]},
  },
  {
    id: 'parts of contents',
    source: `${API}, messages.content: text alone but for the user, refusal for the assistant`,
    finds: body =>
      first(
        partsOf(body),
        ([role, part]) =>
          when(!PARTS[role]?.split(' ').includes(text(part.type)), `a part ${String(part.type)} of ${role}`) ??
          unknownMember(part, PART_MEMBERS[text(part.type)] ?? '', `a part ${String(part.type)}`),
      ),
    bad: asked({type: 'text', text: 'x', cache_control: {type: 'ephemeral'}}),
  },
  {
    id: 'what the assistant says',
    source: `${API}, assistant message, content: required unless tool_calls or function_call is specified`,
    finds: body =>
      first(messagesOf(body), message =>
        when(
          message.role === 'assistant' &&
            (message.content === undefined || message.content === null) &&
            (message.tool_calls ?? message.function_call ?? message.refusal ?? message.audio) === undefined,
          'a message of the assistant without content and calls',
        ),
      ),
    bad: {
      messages: [
        {role: 'user', content: 'x'},
        {role: 'assistant', content: null},
      ],
    },
  },
  {
    id: 'length of ids',
    source: 'microsoft/autogen#6377: "string too long. Expected a string with maximum length 40"',
    finds: body =>
      first(messagesOf(body), message => {
        const long = [...callsOf(message).map(({id}) => text(id)), text(message.tool_call_id)].find(
          id => id.length > 40,
        )
        return when(long !== undefined, `the id ${long}`)
      }),
    bad: {
      messages: [
        {role: 'user', content: 'x'},
        {role: 'assistant', content: null, tool_calls: [call('a'.repeat(41), 'read')]},
        {role: 'tool', tool_call_id: 'a'.repeat(41), content: 'one'},
      ],
    },
  },
  {
    id: 'stop',
    source: `${API}, stop: up to 4 sequences; an empty one is refused`,
    finds: ({stop}) => {
      const all = Array.isArray(stop) ? (stop as unknown[]) : []
      return (
        when(all.length > 4, `${all.length} stop sequences`) ?? when(all.includes('') || stop === '', 'an empty one')
      )
    },
    bad: {stop: ['a', 'b', 'c', 'd', 'e']},
  },
  {
    id: 'parameters',
    source: 'i-am-bee/beeai-framework#844: "schema must be a JSON Schema of \'type: \\"object\\"\'"',
    finds: body =>
      first(functionsOf(body), ({parameters}) =>
        when(parameters !== undefined && object(parameters).type !== 'object', 'parameters that are no object'),
      ),
    bad: {tools: [{type: 'function', function: {name: 'read', parameters: {type: 'string'}}}]},
  },
  {
    id: 'items of arrays',
    source: 'sigoden/aichat#1049: "Invalid schema for function: In context=..., array schema missing items"',
    finds: body =>
      first(
        functionsOf(body).flatMap(({parameters}) => schemasIn(parameters)),
        ([place, schema]) => when(schema.type === 'array' && schema.items === undefined, `${place} has no items`),
      ),
    bad: {
      tools: [
        {type: 'function', function: {name: 'read', parameters: {type: 'object', properties: {a: {type: 'array'}}}}},
      ],
    },
  },
  {
    id: 'name of the format',
    source: `${API}, response_format.json_schema.name: with a maximum length of 64`,
    finds: body =>
      when(formatOf(body).name !== undefined && !NAME.test(text(formatOf(body).name)), 'the name of the format'),
    bad: formatted({name: 'a b', schema: {type: 'object'}}),
  },
  {
    id: 'strict format',
    source: `${STRICT}: additionalProperties false, all fields required; google/adk-java#1476`,
    finds: body => (formatOf(body).strict === true ? notStrict(formatOf(body).schema) : null),
    bad: formatted({
      strict: true,
      schema: {type: 'object', properties: {a: {type: 'string'}}, required: [], additionalProperties: false},
    }),
  },
  {
    id: 'strict functions',
    source: `${STRICT}: the same for functions with strict`,
    finds: body => first(functionsOf(body), ({strict, parameters}) => (strict === true ? notStrict(parameters) : null)),
    bad: {
      tools: [
        {
          type: 'function',
          function: {name: 'read', strict: true, parameters: {type: 'object', properties: {a: {type: 'string'}}}},
        },
      ],
    },
  },
  {
    id: 'JSON is named',
    source: "mem0ai/mem0#3008: \"'messages' must contain the word 'json' in some form\"",
    finds: body =>
      when(
        object(body.response_format).type === 'json_object' &&
          !/json/i.test(JSON.stringify(messagesOf(body).map(({content}) => content ?? ''))),
        'JSON is requested and not named',
      ),
    bad: {messages: [{role: 'user', content: 'x'}], response_format: {type: 'json_object'}},
  },
  {
    id: 'parallel_tool_calls',
    source: "openai/swarm#30: \"'parallel_tool_calls' is only allowed when 'tools' are specified.\"",
    finds: ({tools, parallel_tool_calls}) =>
      when(parallel_tool_calls !== undefined && list(tools).length === 0, 'no tools'),
    bad: {tools: undefined, tool_choice: undefined, parallel_tool_calls: false},
  },
  {
    id: 'pictures',
    source:
      'OpenAI docs, Images and vision; STranslate/STranslate#277: "You uploaded an unsupported image", the formats',
    finds: body =>
      first(partsOf(body), ([, {image_url}]) => {
        const url = text(object(image_url).url)
        return when(url.startsWith('data:') && !IMAGE.test(url), `a picture ${url.slice(0, 30)}`)
      }),
    bad: asked({type: 'image_url', image_url: {url: 'data:image/svg+xml;base64,PHN2Zy8+'}}),
  },
  {
    id: 'files',
    source: `${API}, file part: file_data, file_id and filename alone`,
    finds: body =>
      first(partsOf(body), ([, part]) =>
        part.type === 'file' ? unknownMember(object(part.file), 'file_data file_id filename', 'a file') : null,
      ),
    bad: asked({type: 'file', file: {file_url: 'https://a.example/b.pdf'}}),
  },
  {
    id: 'sampling',
    source: `${API}: temperature from 0 to 2, top_p from 0 to 1`,
    finds: body => outside(body.temperature, 0, 2, 'temperature') ?? outside(body.top_p, 0, 1, 'top_p'),
    bad: {temperature: 3},
  },
  {
    id: 'sampling of models that reason',
    source: 'QwenLM/qwen-code#921: "\'temperature\' does not support 0 with this model. Only the default (1) value"',
    finds: (body, model) =>
      when(
        /^(?:o[134]|gpt-5(?!\.|-chat))(?:-|$)/.test(model) &&
          [body.temperature, body.top_p].some(value => value !== undefined && value !== null && value !== 1),
        'another temperature or top_p than the default',
      ),
    bad: {temperature: 0},
  },
  {
    id: 'user',
    source:
      'maximhq/bifrost#1000: "OpenAI enforces a 64 character maximum on the user field"; the reference names no limit',
    finds: ({user}) => when(text(user).length > 64, 'a long user'),
    bad: {user: 'u'.repeat(65)},
  },
]

export const openaiStrict: StrictDialect = {
  name: 'openai',
  model: 'gpt-5-mini',
  good: {
    model: 'gpt-5-mini',
    messages: withAt(GOOD_MESSAGES, 5, {
      role: 'user',
      content: [
        {type: 'text', text: 'And?'},
        {type: 'file', file: {filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0='}},
      ],
    }),
    tools: [GOOD_TOOL],
    tool_choice: 'auto',
    parallel_tool_calls: false,
    stop: ['END'],
    ...formatted({
      strict: true,
      schema: {type: 'object', properties: {a: {type: 'string'}}, required: ['a'], additionalProperties: false},
    }),
  },
  rules,
}
