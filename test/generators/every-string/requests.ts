import type {EndpointName} from '../../../src/schema/endpoints.ts'

const png = 'iVBORw0KGgo='
const schema = {
  type: 'object',
  title: 'Order',
  description: 'What is ordered',
  required: ['order'],
  properties: {
    order: {
      type: 'string',
      description: 'Its number',
      enum: ['first order', 'second order'],
      default: 'first order',
      pattern: '^a b$',
    },
    lines: {type: 'array', items: {type: 'object', properties: {note: {type: 'string', examples: ['a note']}}}},
  },
}
const args = JSON.stringify({
  to: 'somebody',
  'a free key': 'x y',
  lines: [{note: 'a note'}, 'plain text'],
  count: 3,
  nested: {deep: {er: 'words'}},
})
const input = {
  to: 'somebody',
  'a free key': 'x y',
  lines: [{note: 'a note'}, 'plain text'],
  id: 'an id of theirs',
  type: 'a type of theirs',
}
const place = {type: 'approximate', city: 'Some city', country: 'DE', region: 'Some region', timezone: 'Europe/Berlin'}

/** A request of each dialect with every member that it knows, and one that it does not. */
export const REQUESTS: Readonly<Partial<Record<EndpointName, object>>> = {
  chatComplete: {
    model: 'gpt-4o-mini',
    messages: [
      {role: 'system', content: 'Be brief.', name: 'the house'},
      {
        role: 'user',
        name: 'some participant',
        content: [
          {type: 'text', text: 'one', cache_control: {type: 'ephemeral'}},
          {type: 'image_url', image_url: {url: 'https://pictures.example/some picture', detail: 'low'}},
          {type: 'image_url', image_url: {url: `data:image/png;base64,${png}`}},
          {type: 'input_audio', input_audio: {data: png, format: 'wav'}},
          {type: 'file', file: {filename: 'letter to somebody.pdf', file_data: `data:application/pdf;base64,${png}`}},
          {type: 'file', file: {file_id: 'file-1'}},
        ],
      },
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'hm hm',
        refusal: 'no no',
        tool_calls: [
          {id: 'call_1', type: 'function', function: {name: 'look_up', arguments: args}},
          {id: 'call_2', type: 'custom', custom: {name: 'write', input: 'free words'}},
        ],
        content_blocks: [
          {type: 'thinking', thinking: 'hm', signature: 'c2ln'},
          {type: 'redacted_thinking', data: 'c2ln'},
        ],
      },
      {role: 'assistant', function_call: {name: 'older', arguments: args}, audio: {id: 'audio_1'}},
      {role: 'tool', tool_call_id: 'call_1', content: '{"result":"of it"}'},
      {role: 'function', name: 'older', content: 'said so'},
      {role: 'user', content: 'and now?'},
    ],
    tools: [
      {
        type: 'function',
        function: {name: 'look_up', description: 'Looks up an order', parameters: schema, strict: true},
      },
      {
        type: 'custom',
        custom: {
          name: 'write',
          description: 'Writes',
          format: {type: 'grammar', grammar: {definition: 'a b', syntax: 'lark'}},
        },
      },
    ],
    functions: [{name: 'older', description: 'Older', parameters: schema}],
    tool_choice: {type: 'function', function: {name: 'look_up'}},
    response_format: {type: 'json_schema', json_schema: {name: 'order', description: 'An order', schema, strict: true}},
    prediction: {type: 'content', content: [{type: 'text', text: 'as before'}]},
    metadata: {project: 'some project', 'a key of theirs': 'value'},
    user: 'some user',
    safety_identifier: 'some person',
    prompt_cache_key: 'some cache',
    stop: ['the end', 'full stop'],
    web_search_options: {user_location: {type: 'approximate', approximate: place}},
    reasoning_effort: 'low',
    modalities: ['text'],
    service_tier: 'auto',
    unknown_member: {holds: ['some words']},
  },
  messages: {
    model: 'claude-sonnet-4-5',
    max_tokens: 100,
    system: [{type: 'text', text: 'Be brief.', cache_control: {type: 'ephemeral', ttl: '5m'}}],
    metadata: {user_id: 'some user'},
    messages: [
      {
        role: 'user',
        content: [
          {
            type: 'text',
            text: 'look',
            citations: [
              {type: 'char_location', cited_text: 'cited words', document_title: 'Some paper', document_index: 0},
            ],
          },
          {type: 'image', source: {type: 'base64', media_type: 'image/png', data: png}},
          {type: 'image', source: {type: 'url', url: 'https://pictures.example/some picture'}},
          {type: 'image', source: {type: 'file', file_id: 'file_1'}},
          {
            type: 'document',
            title: 'Some paper',
            context: 'From somebody',
            source: {type: 'text', media_type: 'text/plain', data: 'paper'},
          },
          {type: 'document', source: {type: 'content', content: [{type: 'text', text: 'parts'}]}},
          {
            type: 'search_result',
            title: 'Found',
            source: 'https://found.example/some page',
            content: [{type: 'text', text: 'found words'}],
          },
        ],
      },
      {
        role: 'assistant',
        content: [
          {type: 'thinking', thinking: 'hm', signature: 'c2ln'},
          {type: 'redacted_thinking', data: 'c2ln'},
          {type: 'tool_use', id: 'toolu_1', name: 'look_up', input},
          {type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {query: 'some query'}},
          {
            type: 'web_search_tool_result',
            tool_use_id: 'srvtoolu_1',
            content: [
              {
                type: 'web_search_result',
                url: 'https://found.example/some page',
                title: 'Found',
                encrypted_content: 'c2ln',
                page_age: 'a day ago',
              },
            ],
          },
        ],
      },
      {
        role: 'user',
        content: [{type: 'tool_result', tool_use_id: 'toolu_1', content: [{type: 'text', text: 'result'}]}],
      },
      {
        role: 'user',
        content: [{type: 'tool_result', tool_use_id: 'toolu_2', content: 'a result alone', is_error: false}],
      },
    ],
    tools: [
      {name: 'look_up', description: 'Looks up an order', input_schema: schema},
      {type: 'web_search_20250305', name: 'web_search', allowed_domains: ['some domain'], user_location: place},
    ],
    tool_choice: {type: 'tool', name: 'look_up'},
    mcp_servers: [{type: 'url', url: 'https://mcp.example/some path', name: 'mcp', authorization_token: 'some token'}],
    stop_sequences: ['the end'],
  },
  createModelResponse: {
    model: 'gpt-4o-mini',
    instructions: 'Be brief.',
    previous_response_id: 'resp_0',
    metadata: {project: 'some project', 'a key of theirs': 'value'},
    user: 'some user',
    input: [
      {
        role: 'user',
        content: [
          {type: 'input_text', text: 'one'},
          {type: 'input_image', image_url: 'https://pictures.example/some picture', detail: 'low'},
          {type: 'input_file', filename: 'letter to somebody.pdf', file_data: png},
        ],
      },
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [
          {
            type: 'output_text',
            text: 'said',
            annotations: [
              {
                type: 'url_citation',
                url: 'https://found.example/some page',
                title: 'Found',
                start_index: 0,
                end_index: 1,
              },
            ],
          },
          {type: 'refusal', refusal: 'no no'},
        ],
      },
      {type: 'reasoning', id: 'rs_1', summary: [{type: 'summary_text', text: 'hm'}], encrypted_content: 'c2ln'},
      {type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look_up', arguments: args, status: 'completed'},
      {type: 'function_call_output', call_id: 'call_1', output: 'result'},
      {type: 'function_call_output', call_id: 'call_2', output: [{type: 'input_text', text: 'result in parts'}]},
      {type: 'custom_tool_call', call_id: 'call_3', name: 'write', input: 'free words'},
      {type: 'computer_call', call_id: 'call_4', action: {type: 'type', text: 'typed words'}, status: 'completed'},
      {
        type: 'file_search_call',
        id: 'fs_1',
        status: 'completed',
        queries: ['some query'],
        results: [{file_id: 'file-1', filename: 'some file', text: 'found words'}],
      },
      {
        type: 'mcp_call',
        id: 'mcp_1',
        server_label: 'some server',
        name: 'look_up',
        arguments: args,
        output: 'said so',
        error: 'went wrong',
      },
    ],
    tools: [
      {type: 'function', name: 'look_up', description: 'Looks up an order', parameters: schema, strict: true},
      {
        type: 'mcp',
        server_label: 'some server',
        server_url: 'https://mcp.example/some path',
        headers: {'x-some-header': 'some token'},
      },
      {type: 'web_search', user_location: place},
    ],
    text: {format: {type: 'json_schema', name: 'order', schema, description: 'An order'}},
    prompt: {id: 'pmpt_1', variables: {whom: 'somebody'}},
    include: ['reasoning.encrypted_content'],
    truncation: 'auto',
  },
  complete: {model: 'gpt-3.5', prompt: ['one', 'two'], suffix: 'after', user: 'some user', stop: ['the end']},
  embed: {model: 'text-embedding-3-small', input: ['one', 'two'], user: 'some user', encoding_format: 'float'},
  promptComplete: {
    variables: {text: 'some words', list: ['more words'], 'a free key': 'x'},
    user: 'some user',
    metadata: {project: 'some project'},
    messages: [{role: 'user', content: 'and now?'}],
  },
}
