import {type Case, named} from './case.ts'

const GPT_4O = {
  rates: {input: '2.50', cache_read: '1.25', output: '10'},
  units: {file_search: '0.0025', web_search: '0.01'},
}
const response = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'gpt-4o-2024-08-06',
  error: null,
}
const text = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{type: 'output_text', text: 'Noon.', annotations: []}],
}
const of = {
  provider: 'openai',
  model: 'gpt-4o',
  endpoint: 'createModelResponse',
  prices: GPT_4O,
  bundled: true,
} as const

/** OpenAI's Responses. */
export const RESPONSES: readonly Case[] = [
  {
    ...of,
    name: 'input, cached input, output and reasoning',
    reply: {
      ...response,
      output: [text],
      usage: {
        input_tokens: 1200,
        input_tokens_details: {cached_tokens: 1024},
        output_tokens: 350,
        output_tokens_details: {reasoning_tokens: 320},
        total_tokens: 1550,
      },
    },
    usage: {input_uncached_tokens: 176, cache_read_tokens: 1024, output_text_tokens: 30, output_reasoning_tokens: 320},
    sum: '176 × 2500 + 1024 × 1250 + 30 × 10000 + 320 × 10000',
    cost_nanousd: 5_220_000,
  },
  {
    ...of,
    name: 'searches of the web and of files are items of the output; a page that is opened is no search',
    reply: {
      ...response,
      output: [
        {type: 'web_search_call', id: 'ws_1', status: 'completed', action: {type: 'search', query: 'noon'}},
        {
          type: 'web_search_call',
          id: 'ws_2',
          status: 'completed',
          action: {type: 'open_page', url: 'https://example.com'},
        },
        {type: 'web_search_call', id: 'ws_3', status: 'completed', action: {type: 'search', query: 'midday'}},
        {type: 'file_search_call', id: 'fs_1', status: 'completed', queries: ['noon']},
        text,
      ],
      usage: {
        input_tokens: 318,
        input_tokens_details: {cached_tokens: 0},
        output_tokens: 100,
        output_tokens_details: {reasoning_tokens: 0},
        total_tokens: 418,
      },
    },
    usage: {input_uncached_tokens: 318, output_text_tokens: 100, units: {web_search: 2, file_search: 1}},
    sum: '318 × 2500 + 100 × 10000 + 2 × 10000000 + 1 × 2500000',
    cost_nanousd: 24_295_000,
  },
  {
    ...of,
    name: 'code runs in a container, however often it is called there',
    bundled: undefined,
    prices: {...GPT_4O, units: {code_execution: '0.03'}},
    reply: {
      ...response,
      output: [
        {type: 'code_interpreter_call', id: 'ci_1', status: 'completed', container_id: 'cntr_1', code: '1'},
        {type: 'code_interpreter_call', id: 'ci_2', status: 'completed', container_id: 'cntr_1', code: '2'},
        text,
      ],
      usage: {input_tokens: 10, output_tokens: 10, total_tokens: 20},
    },
    usage: {input_uncached_tokens: 10, output_text_tokens: 10, units: {code_execution: 1}},
    sum: '10 × 2500 + 10 × 10000 + 1 × 30000000',
    cost_nanousd: 30_125_000,
  },
  {
    ...of,
    name: 'a stream tells all of it in its last event',
    stream: named(
      {type: 'response.created', response: {...response, status: 'in_progress', output: [], usage: null}},
      {type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'Noon.'},
      {
        type: 'response.completed',
        response: {
          ...response,
          output: [{type: 'file_search_call', id: 'fs_1', status: 'completed'}, text],
          usage: {
            input_tokens: 77,
            input_tokens_details: {cached_tokens: 7},
            output_tokens: 5,
            output_tokens_details: {reasoning_tokens: 0},
            total_tokens: 82,
          },
        },
      },
    ),
    usage: {input_uncached_tokens: 70, cache_read_tokens: 7, output_text_tokens: 5, units: {file_search: 1}},
    sum: '70 × 2500 + 7 × 1250 + 5 × 10000 + 1 × 2500000',
    cost_nanousd: 2_733_750,
  },
  {
    ...of,
    name: 'one that was cut at its bound is paid like any other',
    stream: named(
      {type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'No'},
      {
        type: 'response.incomplete',
        response: {
          ...response,
          status: 'incomplete',
          incomplete_details: {reason: 'max_output_tokens'},
          output: [],
          usage: {input_tokens: 8, output_tokens: 16, output_tokens_details: {reasoning_tokens: 16}, total_tokens: 24},
        },
      },
    ),
    usage: {input_uncached_tokens: 8, output_reasoning_tokens: 16},
    sum: '8 × 2500 + 16 × 10000',
    cost_nanousd: 180_000,
  },
  {
    ...of,
    name: 'flex costs half, in a stream too',
    stream: named({
      type: 'response.completed',
      response: {
        ...response,
        service_tier: 'flex',
        output: [text],
        usage: {input_tokens: 7, output_tokens: 5, total_tokens: 12},
      },
    }),
    usage: {input_uncached_tokens: 7, output_text_tokens: 5, units: {batch_requests: 1}},
    sum: '7 × 1250 + 5 × 5000',
    cost_nanousd: 33_750,
  },
  {
    ...of,
    name: 'a prompt above 272,000 tokens moves the call to its tier',
    model: 'gpt-5.4',
    prices: {
      rates: {input: '2.50', cache_read: '0.25', output: '15'},
      tiers: [{above: 271_999, rates: {input: '5', cache_read: '0.50', output: '22.50'}}],
    },
    reply: {
      ...response,
      output: [text],
      usage: {
        input_tokens: 272_000,
        input_tokens_details: {cached_tokens: 200_000},
        output_tokens: 3,
        total_tokens: 272_003,
      },
    },
    usage: {input_uncached_tokens: 72_000, cache_read_tokens: 200_000, output_text_tokens: 3},
    sum: '72000 × 5000 + 200000 × 500 + 3 × 22500',
    cost_nanousd: 460_067_500,
  },
  {
    name: 'xAI counts the tools that it used',
    provider: 'x-ai',
    model: 'a-grok',
    endpoint: 'createModelResponse',
    prices: {
      rates: {input: '0.20', cache_read: '0.05', output: '0.50'},
      units: {web_search: '0.005', x_search: '0.005', code_execution: '0.005'},
    },
    reply: {
      ...response,
      output: [text],
      usage: {
        input_tokens: 7583,
        input_tokens_details: {cached_tokens: 3072},
        output_tokens: 3192,
        output_tokens_details: {reasoning_tokens: 0},
        total_tokens: 10_775,
        num_server_side_tools_used: 4,
        server_side_tool_usage_details: {
          web_search_calls: 1,
          x_search_calls: 3,
          code_interpreter_calls: 0,
          file_search_calls: 0,
          mcp_calls: 0,
          document_search_calls: 0,
        },
      },
    },
    usage: {
      input_uncached_tokens: 4511,
      cache_read_tokens: 3072,
      output_text_tokens: 3192,
      units: {web_search: 1, x_search: 3},
    },
    sum: '4511 × 200 + 3072 × 50 + 3192 × 500 + 1 × 5000000 + 3 × 5000000',
    cost_nanousd: 22_651_800,
  },
]
