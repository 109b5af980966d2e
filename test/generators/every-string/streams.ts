import type {EndpointName} from '../../../src/schema/endpoints.ts'

export type Event = Readonly<Record<string, unknown>>

/** Texts that come in pieces, by name; what each says where nothing else is asked. */
export type Say = (name: string, text: string) => readonly string[]

/** The events of an answer of each dialect: `say` cuts a text that comes in pieces. */
export const STREAMS: Readonly<Partial<Record<EndpointName, (say: Say) => readonly Event[]>>> = {
  chatComplete: say => {
    const chunk = (delta: object, more: object = {}, index = 0) => ({
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'gpt-4o-mini',
      system_fingerprint: 'fp_1',
      service_tier: 'default',
      obfuscation: 'aX3k',
      choices: [{index, delta, finish_reason: null, ...more}],
    })
    const call = (at: number, more: object) => chunk({tool_calls: [{index: at, ...more}]})
    const json = (name: string) => say(name, JSON.stringify({to: 'somebody', note: 'words', list: ['a', 'b c']}))
    const [first, second] = [json('arguments of the first call'), json('arguments of the second call')]
    return [
      chunk({role: 'assistant', content: ''}),
      ...say('reasoning_content', 'hm hm, so it is').map(reasoning_content => chunk({reasoning_content})),
      ...say('reasoning', 'hm by another name').map(reasoning => chunk({reasoning})),
      ...say('content', 'this is what I say to it').map(content => chunk({content})),
      ...say('content of the second choice', 'another thing to say').map(content => chunk({content}, {}, 1)),
      ...say('refusal', 'no I will not say it').map(refusal => chunk({refusal})),
      chunk({
        annotations: [{type: 'url_citation', url_citation: {title: 'Found', url: 'https://found.example/some page'}}],
      }),
      call(0, {id: 'call_1', type: 'function', function: {name: 'look_up', arguments: ''}}),
      call(1, {id: 'call_2', type: 'function', function: {name: 'look_up', arguments: ''}}),
      // Side by side.
      ...Array.from({length: Math.max(first.length, second.length)}, (_, at) => [
        ...(at < first.length ? [call(0, {function: {arguments: first[at]}})] : []),
        ...(at < second.length ? [call(1, {function: {arguments: second[at]}})] : []),
      ]).flat(),
      call(2, {id: 'call_3', type: 'custom', custom: {name: 'write', input: ''}}),
      ...say('input of a custom tool', 'free words for it').map(input => call(2, {custom: {input}})),
      chunk({}, {finish_reason: 'tool_calls'}),
      chunk({}, {finish_reason: 'stop'}, 1),
    ]
  },
  messages: say => {
    const block = (index: number, content_block: object, deltas: readonly object[]) => [
      {type: 'content_block_start', index, content_block},
      ...deltas.map(delta => ({type: 'content_block_delta', index, delta})),
      {type: 'content_block_stop', index},
    ]
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content: [],
      stop_reason: null,
      stop_sequence: null,
    }
    return [
      {type: 'message_start', message: {...message, usage: {input_tokens: 1, output_tokens: 1}}},
      ...block(0, {type: 'thinking', thinking: '', signature: ''}, [
        ...say('thinking', 'hm hm, so it is').map(thinking => ({type: 'thinking_delta', thinking})),
        {type: 'signature_delta', signature: 'c2ln'},
      ]),
      ...block(1, {type: 'text', text: ''}, [
        ...say('text', 'this is what I say to it').map(text => ({type: 'text_delta', text})),
        {
          type: 'citations_delta',
          citation: {type: 'char_location', cited_text: 'cited words', document_title: 'Some paper', document_index: 0},
        },
      ]),
      ...block(2, {type: 'tool_use', id: 'toolu_1', name: 'look_up', input: {}}, [
        ...say('input', JSON.stringify({to: 'somebody', note: 'words', list: ['a', 'b c']})).map(partial_json => ({
          type: 'input_json_delta',
          partial_json,
        })),
      ]),
      ...block(
        3,
        {
          type: 'web_search_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: [
            {
              type: 'web_search_result',
              url: 'https://found.example/some page',
              title: 'Found',
              encrypted_content: 'c2ln',
            },
          ],
        },
        [],
      ),
      {
        type: 'message_delta',
        delta: {stop_reason: 'stop_sequence', stop_sequence: 'the end'},
        usage: {output_tokens: 3},
      },
      {type: 'message_stop'},
    ]
  },
  createModelResponse: say => {
    const response = {
      ...{
        id: 'resp_1',
        object: 'response',
        created_at: 1,
        model: 'gpt-4o-mini',
        instructions: 'Be brief.',
        metadata: {project: 'some project'},
      },
      usage: {input_tokens: 1, output_tokens: 1, total_tokens: 2},
    }
    const text = say('output_text', 'this is what I say to it')
    const thought = say('summary', 'hm hm, so it is')
    const json = say('arguments', JSON.stringify({to: 'somebody', note: 'words', list: ['a', 'b c']}))
    const free = say('input', 'free words for it')
    const part = {
      type: 'output_text',
      text: text.join(''),
      annotations: [{type: 'file_citation', file_id: 'file-1', filename: 'some file', index: 0}],
    }
    const items = [
      {type: 'reasoning', id: 'rs_1', summary: [{type: 'summary_text', text: thought.join('')}]},
      {type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [part]},
      {
        type: 'function_call',
        id: 'fc_1',
        call_id: 'call_1',
        name: 'look_up',
        arguments: json.join(''),
        status: 'completed',
      },
      {type: 'custom_tool_call', id: 'ct_1', call_id: 'call_2', name: 'write', input: free.join('')},
    ]
    const at = (output_index: number, item_id: string) => ({output_index, item_id, content_index: 0})
    return [
      {type: 'response.created', response: {...response, status: 'in_progress', output: []}},
      {type: 'response.output_item.added', output_index: 0, item: {type: 'reasoning', id: 'rs_1', summary: []}},
      ...thought.map(delta => ({
        type: 'response.reasoning_summary_text.delta',
        output_index: 0,
        item_id: 'rs_1',
        summary_index: 0,
        delta,
      })),
      {
        type: 'response.reasoning_summary_text.done',
        output_index: 0,
        item_id: 'rs_1',
        summary_index: 0,
        text: thought.join(''),
      },
      {type: 'response.output_item.done', output_index: 0, item: items[0]},
      {type: 'response.output_item.added', output_index: 1, item: {...items[1], content: [], status: 'in_progress'}},
      {type: 'response.content_part.added', ...at(1, 'msg_1'), part: {type: 'output_text', text: '', annotations: []}},
      ...text.map(delta => ({type: 'response.output_text.delta', ...at(1, 'msg_1'), delta, logprobs: []})),
      {type: 'response.output_text.annotation.added', ...at(1, 'msg_1'), annotation: part.annotations[0]},
      {type: 'response.output_text.done', ...at(1, 'msg_1'), text: text.join(''), logprobs: []},
      {type: 'response.content_part.done', ...at(1, 'msg_1'), part},
      {type: 'response.output_item.done', output_index: 1, item: items[1]},
      {type: 'response.output_item.added', output_index: 2, item: {...items[2], arguments: '', status: 'in_progress'}},
      ...json.map(delta => ({type: 'response.function_call_arguments.delta', output_index: 2, item_id: 'fc_1', delta})),
      {type: 'response.function_call_arguments.done', output_index: 2, item_id: 'fc_1', arguments: json.join('')},
      {type: 'response.output_item.done', output_index: 2, item: items[2]},
      {type: 'response.output_item.added', output_index: 3, item: {...items[3], input: ''}},
      ...free.map(delta => ({type: 'response.custom_tool_call_input.delta', output_index: 3, item_id: 'ct_1', delta})),
      {type: 'response.custom_tool_call_input.done', output_index: 3, item_id: 'ct_1', input: free.join('')},
      {type: 'response.output_item.done', output_index: 3, item: items[3]},
      {type: 'response.completed', response: {...response, status: 'completed', output: items}},
    ]
  },
  complete: say => {
    const chunk = (text: string, finish_reason: string | null = null, index = 0) => ({
      ...{id: 'cmpl-1', object: 'text_completion', created: 1, model: 'gpt-3.5'},
      choices: [{index, text, finish_reason}],
    })
    return [
      ...say('text', 'this is what I say to it').map(text => chunk(text)),
      ...say('text of the second choice', 'another thing to say').map(text => chunk(text, null, 1)),
      chunk('', 'stop'),
      chunk('', 'stop', 1),
    ]
  },
}
