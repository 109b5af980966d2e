import type {EndpointName} from '../../../src/schema/endpoints.ts'

const args = JSON.stringify({to: 'somebody', 'a free key': 'x y', lines: [{note: 'a note'}, 'plain text'], count: 3})
const usage = {prompt_tokens: 1, completion_tokens: 1, total_tokens: 2}
const cited = {
  type: 'url_citation',
  url: 'https://found.example/some page',
  title: 'Found',
  start_index: 0,
  end_index: 1,
}

/** An answer of each dialect with every member that it knows, and one that it does not. */
export const REPLIES: Readonly<Partial<Record<EndpointName, object>>> = {
  chatComplete: {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'gpt-4o-mini',
    system_fingerprint: 'fp_1',
    service_tier: 'default',
    choices: [
      {
        index: 0,
        finish_reason: 'tool_calls',
        logprobs: {
          content: [{token: 'some', bytes: [1], logprob: -1, top_logprobs: [{token: 'same', bytes: [1], logprob: -1}]}],
          refusal: null,
        },
        message: {
          role: 'assistant',
          content: 'said',
          refusal: 'no no',
          reasoning_content: 'hm hm',
          reasoning: 'hm by another name',
          annotations: [{type: 'url_citation', url_citation: cited}],
          audio: {id: 'audio_1', data: 'c2ln', transcript: 'spoken words', expires_at: 1},
          tool_calls: [
            {id: 'call_1', type: 'function', function: {name: 'look_up', arguments: args}},
            {id: 'call_2', type: 'custom', custom: {name: 'write', input: 'free words'}},
          ],
          function_call: {name: 'older', arguments: args},
          content_blocks: [
            {type: 'thinking', thinking: 'hm', signature: 'c2ln'},
            {type: 'text', text: 'said'},
          ],
        },
      },
      {index: 1, finish_reason: 'stop', message: {role: 'assistant', content: [{type: 'text', text: 'said in parts'}]}},
    ],
    citations: ['https://found.example/some page'],
    usage,
  },
  messages: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5',
    content: [
      {type: 'thinking', thinking: 'hm', signature: 'c2ln'},
      {type: 'redacted_thinking', data: 'c2ln'},
      {
        type: 'text',
        text: 'said',
        citations: [
          {type: 'char_location', cited_text: 'cited words', document_title: 'Some paper', document_index: 0},
        ],
      },
      {
        type: 'tool_use',
        id: 'toolu_1',
        name: 'look_up',
        input: {to: 'somebody', 'a free key': 'x y', lines: [{note: 'a note'}], id: 'theirs'},
      },
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
          },
        ],
      },
    ],
    stop_reason: 'stop_sequence',
    stop_sequence: 'the end',
    usage: {input_tokens: 1, output_tokens: 1},
  },
  createModelResponse: {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'gpt-4o-mini',
    instructions: 'Be brief.',
    metadata: {project: 'some project'},
    user: 'some user',
    tools: [
      {
        type: 'function',
        name: 'look_up',
        description: 'Looks up an order',
        parameters: {type: 'object', properties: {}},
      },
    ],
    output: [
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{type: 'summary_text', text: 'hm'}],
        content: [{type: 'reasoning_text', text: 'hm hm'}],
        encrypted_content: 'c2ln',
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
            annotations: [cited],
            logprobs: [{token: 'some', bytes: [1], logprob: -1, top_logprobs: []}],
          },
          {type: 'refusal', refusal: 'no no'},
        ],
      },
      {type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look_up', arguments: args, status: 'completed'},
      {type: 'custom_tool_call', id: 'ct_1', call_id: 'call_2', name: 'write', input: 'free words'},
      {type: 'mcp_call', id: 'mcp_1', server_label: 'some server', name: 'look_up', arguments: args, output: 'said so'},
      {
        type: 'code_interpreter_call',
        id: 'ci_1',
        status: 'completed',
        container_id: 'cntr_1',
        code: 'print words',
        outputs: [{type: 'logs', logs: 'some words'}],
      },
      {
        type: 'file_search_call',
        id: 'fs_1',
        status: 'completed',
        queries: ['some query'],
        results: [{file_id: 'file-1', filename: 'some file', text: 'found words'}],
      },
      {
        type: 'image_generation_call',
        id: 'ig_1',
        status: 'completed',
        result: 'c2ln',
        revised_prompt: 'a picture of somebody',
      },
    ],
    usage: {input_tokens: 1, output_tokens: 1, total_tokens: 2},
  },
  complete: {
    id: 'cmpl-1',
    object: 'text_completion',
    created: 1,
    model: 'gpt-3.5',
    choices: [
      {
        index: 0,
        text: 'said',
        finish_reason: 'stop',
        logprobs: {tokens: ['some'], token_logprobs: [-1], top_logprobs: [{some: -1}], text_offset: [0]},
      },
    ],
    usage,
  },
}
