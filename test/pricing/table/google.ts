import {type Case, events} from './case.ts'

const PRO = {
  rates: {input: '1.25', cache_read: '0.125', output: '10'},
  tiers: [{above: 200_000, rates: {input: '2.50', cache_read: '0.25', output: '15'}}],
}
const FLASH = {rates: {input: '0.30', cache_read: '0.03', audio_in: '1', audio_cache_read: '0.10', output: '2.50'}}
const candidate = {content: {parts: [{text: 'Noon.'}], role: 'model'}, finishReason: 'STOP', index: 0}
const of = {provider: 'google', model: 'gemini-2.5-pro', endpoint: 'chatComplete', prices: PRO, bundled: true} as const
const converse = {
  output: {message: {role: 'assistant', content: [{text: 'Noon.'}]}},
  stopReason: 'end_turn',
  metrics: {latencyMs: 1},
}

/** Gemini, on Google's own API and on Vertex AI. */
export const GOOGLE: readonly Case[] = [
  {
    ...of,
    name: 'thoughts stand beside the candidates',
    reply: {
      candidates: [candidate],
      modelVersion: 'gemini-2.5-pro',
      usageMetadata: {
        promptTokenCount: 1500,
        candidatesTokenCount: 100,
        totalTokenCount: 2400,
        thoughtsTokenCount: 800,
        promptTokensDetails: [{modality: 'TEXT', tokenCount: 1500}],
      },
    },
    usage: {input_uncached_tokens: 1500, output_text_tokens: 100, output_reasoning_tokens: 800},
    sum: '1500 × 1250 + 100 × 10000 + 800 × 10000',
    cost_nanousd: 10_875_000,
  },
  {
    ...of,
    name: 'the prompt has its cached part inside',
    reply: {
      candidates: [candidate],
      usageMetadata: {
        promptTokenCount: 5000,
        cachedContentTokenCount: 4096,
        candidatesTokenCount: 10,
        totalTokenCount: 5010,
      },
    },
    usage: {input_uncached_tokens: 904, cache_read_tokens: 4096, output_text_tokens: 10},
    sum: '904 × 1250 + 4096 × 125 + 10 × 10000',
    cost_nanousd: 1_742_000,
  },
  {
    ...of,
    name: 'a prompt above 200,000 tokens',
    reply: {
      candidates: [candidate],
      usageMetadata: {
        promptTokenCount: 250_000,
        cachedContentTokenCount: 100_000,
        candidatesTokenCount: 1000,
        totalTokenCount: 251_000,
      },
    },
    usage: {input_uncached_tokens: 150_000, cache_read_tokens: 100_000, output_text_tokens: 1000},
    sum: '150000 × 2500 + 100000 × 250 + 1000 × 15000',
    cost_nanousd: 415_000_000,
  },
  {
    ...of,
    name: 'sound and its cached part have prices of their own',
    model: 'gemini-2.5-flash',
    prices: FLASH,
    reply: {
      candidates: [candidate],
      usageMetadata: {
        promptTokenCount: 900,
        cachedContentTokenCount: 300,
        candidatesTokenCount: 20,
        totalTokenCount: 920,
        promptTokensDetails: [
          {modality: 'TEXT', tokenCount: 100},
          {modality: 'AUDIO', tokenCount: 800},
        ],
        cacheTokensDetails: [
          {modality: 'AUDIO', tokenCount: 250},
          {modality: 'TEXT', tokenCount: 50},
        ],
      },
    },
    usage: {
      input_uncached_tokens: 50,
      cache_read_tokens: 50,
      audio_in_tokens: 550,
      audio_cache_read_tokens: 250,
      output_text_tokens: 20,
    },
    sum: '50 × 300 + 50 × 30 + 550 × 1000 + 250 × 100 + 20 × 2500',
    cost_nanousd: 641_500,
  },
  {
    ...of,
    name: 'what tools put into the prompt is input',
    reply: {
      candidates: [candidate],
      usageMetadata: {
        promptTokenCount: 20,
        toolUsePromptTokenCount: 480,
        candidatesTokenCount: 7,
        totalTokenCount: 507,
      },
    },
    usage: {input_uncached_tokens: 500, output_text_tokens: 7},
    sum: '500 × 1250 + 7 × 10000',
    cost_nanousd: 695_000,
  },
  {
    ...of,
    name: 'an answer of the second generation that searched is one search, however many queries',
    bundled: undefined,
    prices: {...PRO, units: {web_search: '0.035'}},
    reply: {
      candidates: [{...candidate, groundingMetadata: {webSearchQueries: ['noon', 'midday']}}],
      modelVersion: 'gemini-2.5-pro',
      usageMetadata: {promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15},
    },
    usage: {input_uncached_tokens: 10, output_text_tokens: 5, units: {web_search: 1}},
    sum: '10 × 1250 + 5 × 10000 + 1 × 35000000',
    cost_nanousd: 35_062_500,
  },
  {
    ...of,
    name: 'from the third generation on each query is one',
    model: 'gemini-3-pro-preview',
    bundled: undefined,
    prices: {rates: {input: '2', output: '12'}, units: {web_search: '0.014'}},
    reply: {
      candidates: [{...candidate, groundingMetadata: {webSearchQueries: ['noon', 'midday']}}],
      modelVersion: 'gemini-3-pro-preview',
      usageMetadata: {promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15},
    },
    usage: {input_uncached_tokens: 10, output_text_tokens: 5, units: {web_search: 2}},
    sum: '10 × 2000 + 5 × 12000 + 2 × 14000000',
    cost_nanousd: 28_080_000,
  },
  {
    ...of,
    name: 'a picture made as tokens',
    model: 'gemini-2.5-flash-image',
    prices: {rates: {input: '0.30', output: '2.50', image_out: '30'}},
    reply: {
      candidates: [
        {...candidate, content: {role: 'model', parts: [{inlineData: {mimeType: 'image/png', data: 'AAAA'}}]}},
      ],
      usageMetadata: {
        promptTokenCount: 12,
        candidatesTokenCount: 1290,
        totalTokenCount: 1302,
        candidatesTokensDetails: [{modality: 'IMAGE', tokenCount: 1290}],
      },
    },
    usage: {input_uncached_tokens: 12, image_out_tokens: 1290},
    sum: '12 × 300 + 1290 × 30000',
    cost_nanousd: 38_703_600,
  },
  {
    ...of,
    name: 'each event of a stream has the sum so far; the last counts',
    stream: events(
      {
        candidates: [{...candidate, finishReason: undefined}],
        modelVersion: 'gemini-2.5-pro',
        usageMetadata: {promptTokenCount: 40, candidatesTokenCount: 2, totalTokenCount: 92, thoughtsTokenCount: 50},
      },
      {
        candidates: [candidate],
        usageMetadata: {promptTokenCount: 40, candidatesTokenCount: 4, totalTokenCount: 94, thoughtsTokenCount: 50},
      },
    ),
    usage: {input_uncached_tokens: 40, output_text_tokens: 4, output_reasoning_tokens: 50},
    sum: '40 × 1250 + 4 × 10000 + 50 × 10000',
    cost_nanousd: 590_000,
  },
  {
    ...of,
    name: 'throughput bought in advance costs nothing by the call, where the integration says so',
    provider: 'vertex-ai',
    skips_ptu: true,
    reply: {
      candidates: [candidate],
      usageMetadata: {
        promptTokenCount: 40,
        candidatesTokenCount: 4,
        totalTokenCount: 44,
        trafficType: 'PROVISIONED_THROUGHPUT',
      },
    },
    usage: {input_uncached_tokens: 40, output_text_tokens: 4, units: {provisioned_requests: 1}},
    sum: '0 × 1250',
    cost_nanousd: 0,
  },
  {
    ...of,
    name: 'what spills over from it is paid by the token',
    provider: 'vertex-ai',
    skips_ptu: true,
    reply: {
      candidates: [candidate],
      usageMetadata: {promptTokenCount: 40, candidatesTokenCount: 4, totalTokenCount: 44, trafficType: 'ON_DEMAND'},
    },
    usage: {input_uncached_tokens: 40, output_text_tokens: 4},
    sum: '40 × 1250 + 4 × 10000',
    cost_nanousd: 90_000,
  },
  {
    ...of,
    name: 'and so is all of it, where nobody says otherwise',
    provider: 'vertex-ai',
    reply: {
      candidates: [candidate],
      usageMetadata: {
        promptTokenCount: 40,
        candidatesTokenCount: 4,
        totalTokenCount: 44,
        trafficType: 'PROVISIONED_THROUGHPUT',
      },
    },
    usage: {input_uncached_tokens: 40, output_text_tokens: 4, units: {provisioned_requests: 1}},
    sum: '40 × 1250 + 4 × 10000',
    cost_nanousd: 90_000,
  },
]

/** Bedrock's Converse. */
export const BEDROCK: readonly Case[] = [
  {
    name: 'Converse leaves the cache out of its input',
    provider: 'bedrock',
    model: 'a-claude',
    endpoint: 'chatComplete',
    prices: {rates: {input: '3.30', cache_read: '0.33', cache_write_5m: '4.125', output: '16.50'}},
    reply: {
      ...converse,
      usage: {
        inputTokens: 30,
        outputTokens: 12,
        totalTokens: 2042,
        cacheReadInputTokens: 1500,
        cacheWriteInputTokens: 500,
      },
    },
    usage: {input_uncached_tokens: 30, cache_read_tokens: 1500, cache_write_5m_tokens: 500, output_text_tokens: 12},
    sum: '30 × 3300 + 1500 × 330 + 500 × 4125 + 12 × 16500',
    cost_nanousd: 2_854_500,
  },
  {
    name: 'the lifetime of a cache write is a detail',
    provider: 'bedrock',
    model: 'a-claude',
    endpoint: 'chatComplete',
    prices: {rates: {input: '3', cache_write_5m: '3.75', cache_write_1h: '6', output: '15'}},
    reply: {
      ...converse,
      usage: {
        inputTokens: 1,
        outputTokens: 1,
        totalTokens: 502,
        cacheWriteInputTokens: 500,
        cacheDetails: [
          {ttl: '5m', inputTokens: 200},
          {ttl: '1h', inputTokens: 300},
        ],
      },
    },
    usage: {input_uncached_tokens: 1, cache_write_5m_tokens: 200, cache_write_1h_tokens: 300, output_text_tokens: 1},
    sum: '1 × 3000 + 200 × 3750 + 300 × 6000 + 1 × 15000',
    cost_nanousd: 2_568_000,
  },
  {
    name: 'the price of a profile with a region is its model’s',
    provider: 'bedrock',
    model: 'us.amazon.nova-pro-v1:0',
    endpoint: 'chatComplete',
    prices: {rates: {input: '0.80', cache_read: '0.20', output: '3.20'}},
    bundled: true,
    reply: {...converse, usage: {inputTokens: 125, outputTokens: 60, totalTokens: 185}},
    usage: {input_uncached_tokens: 125, output_text_tokens: 60},
    sum: '125 × 800 + 60 × 3200',
    cost_nanousd: 292_000,
  },
  {
    name: 'the flex tier costs half',
    provider: 'bedrock',
    model: 'amazon.nova-pro-v1:0',
    endpoint: 'chatComplete',
    prices: {rates: {input: '0.80', cache_read: '0.20', output: '3.20'}},
    bundled: true,
    reply: {...converse, usage: {inputTokens: 125, outputTokens: 60, totalTokens: 185}, serviceTier: {type: 'flex'}},
    usage: {input_uncached_tokens: 125, output_text_tokens: 60, units: {batch_requests: 1}},
    sum: '125 × 400 + 60 × 1600',
    cost_nanousd: 146_000,
  },
]
