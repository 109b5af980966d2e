import {type Case, named} from './case.ts'

const SONNET = {
  rates: {input: '3', cache_read: '0.30', cache_write_5m: '3.75', cache_write_1h: '6', output: '15'},
  tiers: [
    {
      above: 200_000,
      rates: {input: '6', cache_read: '0.60', cache_write_5m: '7.50', cache_write_1h: '12', output: '22.50'},
    },
  ],
  units: {web_search: '0.01'},
}
const model = 'claude-sonnet-4-5'
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5-20250929',
  content: [{type: 'text', text: 'Noon.'}],
  stop_reason: 'end_turn',
  stop_sequence: null,
}
const of = {provider: 'anthropic', model, prices: SONNET, bundled: true} as const

/** Anthropic's Messages, asked as such and as a chat. */
export const ANTHROPIC: readonly Case[] = [
  {
    ...of,
    name: 'input stands beside what was read from and written to the cache',
    endpoint: 'messages',
    reply: {
      ...message,
      usage: {
        input_tokens: 21,
        cache_creation_input_tokens: 188,
        cache_read_input_tokens: 1000,
        cache_creation: {ephemeral_5m_input_tokens: 188, ephemeral_1h_input_tokens: 0},
        output_tokens: 393,
        service_tier: 'standard',
      },
    },
    usage: {input_uncached_tokens: 21, cache_read_tokens: 1000, cache_write_5m_tokens: 188, output_text_tokens: 393},
    sum: '21 × 3000 + 1000 × 300 + 188 × 3750 + 393 × 15000',
    cost_nanousd: 6_963_000,
  },
  ...(['messages', 'chatComplete'] as const).map(endpoint => ({
    ...of,
    name: 'five-minute and one-hour cache writes have prices of their own',
    endpoint,
    reply: {
      ...message,
      usage: {
        input_tokens: 5,
        cache_creation_input_tokens: 600,
        cache_read_input_tokens: 0,
        cache_creation: {ephemeral_5m_input_tokens: 456, ephemeral_1h_input_tokens: 144},
        output_tokens: 1,
      },
    },
    usage: {input_uncached_tokens: 5, cache_write_5m_tokens: 456, cache_write_1h_tokens: 144, output_text_tokens: 1},
    sum: '5 × 3000 + 456 × 3750 + 144 × 6000 + 1 × 15000',
    cost_nanousd: 2_604_000,
  })),
  {
    ...of,
    name: 'thinking is a part of the output',
    endpoint: 'messages',
    reply: {...message, usage: {input_tokens: 40, output_tokens: 500, output_tokens_details: {thinking_tokens: 420}}},
    usage: {input_uncached_tokens: 40, output_text_tokens: 80, output_reasoning_tokens: 420},
    sum: '40 × 3000 + 80 × 15000 + 420 × 15000',
    cost_nanousd: 7_620_000,
  },
  {
    ...of,
    name: 'web searches cost a cent each',
    endpoint: 'messages',
    reply: {
      ...message,
      usage: {
        input_tokens: 105,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        output_tokens: 30,
        server_tool_use: {web_search_requests: 3, web_fetch_requests: 1},
      },
    },
    usage: {input_uncached_tokens: 105, output_text_tokens: 30, units: {web_search: 3}},
    sum: '105 × 3000 + 30 × 15000 + 3 × 10000000',
    cost_nanousd: 30_765_000,
  },
  {
    ...of,
    name: 'a prompt of more than 200,000 tokens, cached ones counted, costs more from its first token on',
    endpoint: 'messages',
    reply: {
      ...message,
      usage: {input_tokens: 1000, cache_creation_input_tokens: 0, cache_read_input_tokens: 199_001, output_tokens: 10},
    },
    usage: {input_uncached_tokens: 1000, cache_read_tokens: 199_001, output_text_tokens: 10},
    sum: '1000 × 6000 + 199001 × 600 + 10 × 22500',
    cost_nanousd: 125_625_600,
  },
  {
    ...of,
    name: 'one of exactly 200,000 does not',
    endpoint: 'messages',
    reply: {...message, usage: {input_tokens: 1000, cache_read_input_tokens: 199_000, output_tokens: 10}},
    usage: {input_uncached_tokens: 1000, cache_read_tokens: 199_000, output_text_tokens: 10},
    sum: '1000 × 3000 + 199000 × 300 + 10 × 15000',
    cost_nanousd: 62_850_000,
  },
  ...(['messages', 'chatComplete'] as const).map(endpoint => ({
    ...of,
    name: 'a stream tells its input first and its output last, each as the sum so far',
    endpoint,
    stream: named(
      {
        type: 'message_start',
        message: {
          ...message,
          content: [],
          stop_reason: null,
          usage: {input_tokens: 472, cache_creation_input_tokens: 0, cache_read_input_tokens: 2000, output_tokens: 2},
        },
      },
      {type: 'content_block_start', index: 0, content_block: {type: 'text', text: ''}},
      {type: 'content_block_delta', index: 0, delta: {type: 'text_delta', text: 'Noon.'}},
      {type: 'content_block_stop', index: 0},
      {type: 'message_delta', delta: {stop_reason: 'end_turn', stop_sequence: null}, usage: {output_tokens: 89}},
      {type: 'message_stop'},
    ),
    usage: {input_uncached_tokens: 472, cache_read_tokens: 2000, output_text_tokens: 89},
    sum: '472 × 3000 + 2000 × 300 + 89 × 15000',
    cost_nanousd: 3_351_000,
  })),
  {
    ...of,
    name: 'a client that leaves pays for what was told until then',
    endpoint: 'messages',
    outcome: 'aborted',
    stream: named(
      {
        type: 'message_start',
        message: {...message, content: [], stop_reason: null, usage: {input_tokens: 300, output_tokens: 1}},
      } as {
        type: string
      },
      {type: 'content_block_delta', index: 0, delta: {type: 'text_delta', text: 'No'}},
    ),
    usage: {input_uncached_tokens: 300, output_text_tokens: 1},
    source: 'partial',
    sum: '300 × 3000 + 1 × 15000',
    cost_nanousd: 915_000,
  },
  {
    ...of,
    name: 'a message of a batch costs half',
    endpoint: 'messages',
    reply: {...message, usage: {input_tokens: 101, output_tokens: 11, service_tier: 'batch'}},
    usage: {input_uncached_tokens: 101, output_text_tokens: 11, units: {batch_requests: 1}},
    sum: '101 × 1500 + 11 × 7500',
    cost_nanousd: 234_000,
  },
  {
    ...of,
    name: 'a dated id has the price of its model',
    model: 'claude-haiku-4-5-20251001',
    prices: {rates: {input: '1', cache_read: '0.10', cache_write_5m: '1.25', cache_write_1h: '2', output: '5'}},
    endpoint: 'messages',
    reply: {...message, usage: {input_tokens: 3, output_tokens: 2}},
    usage: {input_uncached_tokens: 3, output_text_tokens: 2},
    sum: '3 × 1000 + 2 × 5000',
    cost_nanousd: 13_000,
  },
]
