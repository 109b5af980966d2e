import type {Json} from '../../../src/providers/translation.ts'
import type {EndpointName} from '../../../src/schema/endpoints.ts'
import type {History, SaidPart, SaidTurn} from './histories.ts'

/** The same history as a client of each dialect says it. */
export const CLIENTS: Readonly<Record<string, {readonly endpoint: EndpointName; write(history: History): Json}>> = {
  chat: {endpoint: 'chatComplete', write: chat},
  messages: {endpoint: 'messages', write: messages},
  responses: {endpoint: 'createModelResponse', write: responses},
}

const BYTES = 'iVBORw0KGgo='
const PICTURE = 'https://pictures.example/a.png'
const PAPER = 'https://papers.example/a.pdf'
const given = (members: Json): Json =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
const textOf = (parts: readonly SaidPart[]) => parts.map(part => (part.kind === 'text' ? part.text : '')).join('')
const isPlain = (parts: readonly SaidPart[]) => parts.length === 1 && parts[0]!.kind === 'text'

function chat(history: History): Json {
  const {tools, choice, stop, format, penalty} = history
  return given({
    messages: history.turns.map(chatTurn),
    tools:
      tools.length === 0
        ? undefined
        : tools.map(({name, description, schema, strict}) => ({
            type: 'function',
            function: given({name, description, parameters: schema, strict}),
          })),
    tool_choice: typeof choice === 'object' ? {type: 'function', function: choice} : choice,
    parallel_tool_calls: tools.length > 0 ? history.parallel : undefined,
    stop: stop.length === 0 ? undefined : stop.length === 1 ? stop[0] : stop,
    response_format:
      typeof format === 'object'
        ? {type: 'json_schema', json_schema: {name: 'answer', ...format}}
        : format && {type: format},
    temperature: history.temperature,
    top_p: history.top_p,
    presence_penalty: penalty,
    frequency_penalty: penalty,
    max_completion_tokens: history.max_tokens,
    reasoning_effort: history.effort,
    stream: history.stream || undefined,
    stream_options: history.stream ? {include_usage: true} : undefined,
  })
}

function chatTurn(turn: SaidTurn): Json {
  switch (turn.by) {
    case 'user':
      return given({
        role: 'user',
        name: turn.name,
        content: isPlain(turn.parts) ? textOf(turn.parts) : turn.parts.map(chatPart),
      })
    case 'assistant':
      return given({
        role: 'assistant',
        content: turn.text === '' && turn.calls.length > 0 ? null : turn.text,
        tool_calls:
          turn.calls.length === 0
            ? undefined
            : turn.calls.map(({id, name, input}) => ({
                id,
                type: 'function',
                function: {name, arguments: JSON.stringify(input)},
              })),
      })
    case 'tool':
      return {role: 'tool', tool_call_id: turn.id, content: textOf(turn.parts)}
    default:
      return {role: turn.by, content: turn.text}
  }
}

function chatPart(part: SaidPart): Json {
  switch (part.kind) {
    case 'text':
      return {type: 'text', text: part.text}
    case 'picture':
      return {type: 'image_url', image_url: {url: `data:${part.type};base64,${BYTES}`}}
    case 'picture on the web':
      return {type: 'image_url', image_url: {url: PICTURE}}
    case 'file':
      return {type: 'file', file: {filename: part.name, file_data: `data:${part.type};base64,${BYTES}`}}
    case 'file on the web':
      return {type: 'file', file: {file_url: PAPER}}
  }
}

function messages(history: History): Json {
  const {tools, choice, stop, format, turns, budget} = history
  const [head] = turns
  const system = head && 'text' in head && head.by !== 'assistant' ? head.text : undefined
  const CHOICES = {auto: 'auto', none: 'none', required: 'any'} as const
  return given({
    max_tokens: history.max_tokens,
    system,
    messages: (system === undefined ? turns : turns.slice(1)).map(messagesTurn),
    tools:
      tools.length === 0
        ? undefined
        : tools.map(({name, description, schema}) => ({
            name,
            description,
            input_schema: {type: 'object', ...schema},
          })),
    tool_choice:
      choice === undefined || tools.length === 0
        ? undefined
        : typeof choice === 'object'
          ? {type: 'tool', ...choice}
          : {type: CHOICES[choice]},
    stop_sequences: stop.length === 0 ? undefined : stop,
    output_config: typeof format === 'object' ? {format: {type: 'json_schema', schema: format.schema}} : undefined,
    thinking: budget === undefined ? undefined : {type: 'enabled', budget_tokens: budget},
    temperature: history.temperature === undefined ? undefined : Math.min(1, history.temperature),
    top_p: history.top_p,
    stream: history.stream || undefined,
  })
}

function messagesTurn(turn: SaidTurn): Json {
  switch (turn.by) {
    case 'user':
      return {role: 'user', content: isPlain(turn.parts) ? textOf(turn.parts) : turn.parts.map(messagesPart)}
    case 'assistant':
      return {
        role: 'assistant',
        content: [
          ...(turn.text === '' ? [] : [{type: 'text', text: turn.text}]),
          ...turn.calls.map(({id, name, input}) => ({type: 'tool_use', id, name, input})),
        ],
      }
    case 'tool': {
      const content = isPlain(turn.parts) ? textOf(turn.parts) : turn.parts.map(messagesPart)
      return {
        role: 'user',
        content: [given({type: 'tool_result', tool_use_id: turn.id, content, is_error: turn.is_error || undefined})],
      }
    }
    default:
      return {role: 'system', content: turn.text}
  }
}

function messagesPart(part: SaidPart): Json {
  switch (part.kind) {
    case 'text':
      return {type: 'text', text: part.text}
    case 'picture':
      return {type: 'image', source: {type: 'base64', media_type: part.type, data: BYTES}}
    case 'picture on the web':
      return {type: 'image', source: {type: 'url', url: PICTURE}}
    case 'file':
      return {type: 'document', title: part.name, source: {type: 'base64', media_type: part.type, data: BYTES}}
    case 'file on the web':
      return {type: 'document', source: {type: 'url', url: PAPER}}
  }
}

function responses(history: History): Json {
  const {tools, choice, format, turns} = history
  return given({
    input: turns.flatMap(responsesItems),
    tools:
      tools.length === 0
        ? undefined
        : tools.map(({name, description, schema, strict}) =>
            given({type: 'function', name, description, parameters: schema, strict}),
          ),
    tool_choice: typeof choice === 'object' ? {type: 'function', ...choice} : choice,
    parallel_tool_calls: history.parallel,
    text:
      typeof format === 'object'
        ? {format: {type: 'json_schema', name: 'answer', ...format}}
        : format && {format: {type: format}},
    max_output_tokens: history.max_tokens,
    temperature: history.temperature,
    top_p: history.top_p,
    reasoning: history.effort === undefined ? undefined : {effort: history.effort},
    stream: history.stream || undefined,
  })
}

function responsesItems(turn: SaidTurn): readonly Json[] {
  switch (turn.by) {
    case 'user':
      return [{type: 'message', role: 'user', content: turn.parts.map(responsesPart)}]
    case 'assistant':
      return [
        ...(turn.text === ''
          ? []
          : [{type: 'message', role: 'assistant', content: [{type: 'output_text', text: turn.text}]}]),
        ...turn.calls.map(({id, name, input}) => ({
          type: 'function_call',
          call_id: id,
          name,
          arguments: JSON.stringify(input),
        })),
      ]
    case 'tool':
      return [
        {
          type: 'function_call_output',
          call_id: turn.id,
          output: isPlain(turn.parts) ? textOf(turn.parts) : turn.parts.map(responsesPart),
        },
      ]
    default:
      return [{type: 'message', role: turn.by, content: turn.text}]
  }
}

function responsesPart(part: SaidPart): Json {
  switch (part.kind) {
    case 'text':
      return {type: 'input_text', text: part.text}
    case 'picture':
      return {type: 'input_image', image_url: `data:${part.type};base64,${BYTES}`}
    case 'picture on the web':
      return {type: 'input_image', image_url: PICTURE}
    case 'file':
      return {type: 'input_file', filename: part.name, file_data: `data:${part.type};base64,${BYTES}`}
    case 'file on the web':
      return {type: 'input_file', file_url: PAPER}
  }
}
