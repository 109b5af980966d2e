import {encode as cl100k} from 'gpt-tokenizer/encoding/cl100k_base'
import {encode as o200k} from 'gpt-tokenizer/encoding/o200k_base'
import type {Random} from './random.ts'

/** A call, and what its provider answers and bills. */
export interface Case {
  readonly name: string
  readonly provider: 'openai' | 'anthropic' | 'google' | 'cohere' | 'mistral-ai' | 'bedrock'
  readonly path: string
  readonly body: object | FormData
  readonly headers?: Record<string, string>
  /** A whole answer; a list: the events of a stream. */
  readonly reply: object | readonly object[]
  /** Its path is the vendor's own. */
  readonly is_own_path?: boolean
  /** Nobody can know what it may use: it has to be refused. */
  readonly is_unbounded?: boolean
}

const AS_TEXT = {disallowedSpecial: new Set<string>()}
const count = (model: string, texts: readonly string[]) =>
  texts.reduce((sum, text) => sum + (/^gpt-(?:4$|3)/.test(model) ? cl100k : o200k)(text, AS_TEXT).length, 0)
/** What frames a message, and begins an answer (OpenAI cookbook, counting tokens of chats). */
const FRAME = 4
const BEGINS = 3
const TEXT_MODELS = ['gpt-4o', 'gpt-4o-mini', 'gpt-4.1', 'gpt-4', 'gpt-3.5-turbo'] as const
const THINKERS = ['o3-mini', 'gpt-5', 'gpt-5-mini'] as const

const usageOf = (prompt_tokens: number, completion_tokens: number, more = {}) => ({
  prompt_tokens,
  completion_tokens,
  total_tokens: prompt_tokens + completion_tokens,
  ...more,
})

/** Events of a stream of chat whose text comes in pieces of any length, some of them long. */
function chatEvents(random: Random, model: string, text: string, usage: object, member: string): object[] {
  const event = (choices: object[], more = {}) => ({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model,
    choices,
    ...more,
  })
  const events: object[] = []
  const size = random.of([1, 4, 40])
  for (let at = 0; at < text.length; at += size) {
    const piece = text.slice(at, at + size).toWellFormed()
    events.push(event([{index: 0, delta: {[member]: piece}, finish_reason: null}]))
  }
  return [...events, event([{index: 0, delta: {}, finish_reason: 'stop'}]), event([], {usage})]
}

const ROUTES: Readonly<Record<string, (random: Random) => Case>> = {
  'chat, whole': random => {
    const model = random.of([...TEXT_MODELS, ...THINKERS])
    const texts = random.many(1 + random.below(4), () => random.text())
    const n = random.chance(0.3) ? 1 + random.below(4) : 1
    const max = 1 + random.below(2000)
    const tools = random.chance(0.2) ? random.text(8) : null
    const prompt = count(model, [...texts, ...(tools ? [tools] : [])]) + texts.length * FRAME + BEGINS
    return {
      name: model,
      provider: 'openai',
      path: '/chat/completions',
      body: {
        model,
        [random.of(['max_tokens', 'max_completion_tokens'])]: max,
        ...(n > 1 && {n}),
        messages: texts.map((content, at) => ({role: at % 2 ? 'assistant' : 'user', content})),
        ...(tools && {
          tools: [
            {type: 'function', function: {name: 'f', description: tools, parameters: {type: 'object', properties: {}}}},
          ],
        }),
      },
      reply: {id: 'c', object: 'chat.completion', created: 1, model, choices: [], usage: usageOf(prompt, max * n)},
    }
  },
  'chat, streamed': random => {
    const model = random.of(TEXT_MODELS)
    const asked = random.text()
    const answer = random.text(1 + random.below(60)).toWellFormed()
    const usage = usageOf(count(model, [asked]) + FRAME + BEGINS, count(model, [answer]))
    const body = {model, stream: true, messages: [{role: 'user', content: asked}]}
    const member = random.of(['content', 'content', 'refusal', 'reasoning_content'])
    return {
      name: `${model} ${member}`,
      provider: 'openai',
      path: '/chat/completions',
      body: {...body, ...(random.chance(0.5) && {max_tokens: usage.completion_tokens + random.below(500)})},
      reply: chatEvents(random, model, answer, usage, member),
    }
  },
  'chat that thinks unseen, streamed': random => {
    const model = random.of(THINKERS)
    const asked = random.text()
    const max = 100 + random.below(4000)
    const usage = usageOf(count(model, [asked]) + FRAME + BEGINS, max, {
      completion_tokens_details: {reasoning_tokens: max - 10},
    })
    const body = {model, stream: true, max_completion_tokens: max, messages: [{role: 'user', content: asked}]}
    return {
      name: model,
      provider: 'openai',
      path: '/chat/completions',
      body,
      reply: chatEvents(random, model, 'Yes.', usage, 'content'),
    }
  },
  'chat with sound': random => {
    const model = random.of(['gpt-4o-audio-preview', 'gpt-audio', 'gpt-audio-mini'])
    const asked = random.text()
    const max = 1 + random.below(3000)
    const stream = random.chance(0.5)
    const audio_tokens = random.below(max + 1)
    const usage = usageOf(count(model, [asked]) + FRAME + BEGINS, max, {
      completion_tokens_details: {audio_tokens, text_tokens: max - audio_tokens},
    })
    const body = {
      model,
      stream,
      modalities: ['text', 'audio'],
      audio: {voice: 'alloy', format: 'pcm16'},
      max_tokens: max,
    }
    return {
      name: `${model}${stream ? ' streamed' : ''}`,
      provider: 'openai',
      path: '/chat/completions',
      body: {...body, messages: [{role: 'user', content: asked}]},
      reply: stream
        ? chatEvents(random, model, 'Yes.', usage, 'content')
        : {id: 'c', object: 'chat.completion', created: 1, model, choices: [], usage},
    }
  },
  completions: random => {
    const model = 'gpt-3.5-turbo-instruct'
    const max = 1 + random.below(200)
    const n = random.chance(0.3) ? 1 + random.below(3) : 1
    const lists = random.chance(0.4)
    const prompts = random.many(1 + random.below(12), () => random.text(6))
    const prompt = lists ? prompts.map(text => cl100k(text, AS_TEXT)) : prompts
    return {
      name: lists ? 'lists of tokens' : 'texts',
      provider: 'openai',
      path: '/completions',
      body: {model, max_tokens: max, prompt, ...(n > 1 && {[random.of(['n', 'best_of'])]: n})},
      reply: {
        id: 'c',
        object: 'text_completion',
        created: 1,
        model,
        choices: [],
        usage: usageOf(count(model, prompts), max * n * prompts.length),
      },
    }
  },
  responses: random => {
    const model = random.of(['gpt-4o-mini', 'gpt-4.1', 'gpt-5'])
    const asked = random.text()
    const max = 1 + random.below(1000)
    const [name, more, rounds] = random.of<readonly [string, object, number | null]>([
      ['plain', {}, 0],
      ['previous_response_id', {previous_response_id: 'resp_1'}, null],
      ['conversation', {conversation: {id: 'conv_1'}}, null],
      ['stored prompt', {prompt: {id: 'pmpt_1'}}, null],
      ['item reference', {input: [{type: 'item_reference', id: 'msg_1'}]}, null],
      ['mcp', {tools: [{type: 'mcp', server_label: 'x', server_url: 'https://x.example'}]}, null],
      ['search without bound', {tools: [{type: 'web_search'}]}, null],
      ['bounded search', {tools: [{type: 'web_search'}], max_tool_calls: 2}, 2],
    ])
    const own = count(model, [asked]) + FRAME + BEGINS
    const input_tokens = own + (rounds ?? 1) * (own + random.below(100_000))
    return {
      name: `${model} ${name}`,
      provider: 'openai',
      path: '/responses',
      headers: {'x-gateway-native-responses': 'true'},
      body: {model, max_output_tokens: max, input: asked, ...more},
      is_unbounded: rounds === null,
      reply: {
        ...{id: 'r', object: 'response', created_at: 1, status: 'completed', model},
        output: random.many(rounds ?? 0, () => ({type: 'web_search_call', action: {type: 'search'}})),
        usage: {input_tokens, output_tokens: max, total_tokens: input_tokens + max},
      },
    }
  },
  messages: random => {
    const [model, of_public] = random.of([
      ['claude-sonnet-4-5', 1],
      ['claude-3-haiku-20240307', 1],
      ['claude-opus-4-7', 1.35],
    ] as const)
    const texts = [random.text(), random.text()]
    const max = 1 + random.below(2000)
    const ttl = random.of([null, '5m', '1h'] as const)
    const tokens = Math.floor(count('', texts) * of_public)
    const cached = ttl === null ? {} : {cache_control: {type: 'ephemeral', ttl}}
    return {
      name: `${model} ${ttl ?? 'not cached'}`,
      provider: 'anthropic',
      path: '/messages',
      body: {
        model,
        max_tokens: max,
        system: [{type: 'text', text: texts[0], ...cached}],
        messages: [{role: 'user', content: texts[1]}],
      },
      reply: {
        ...{
          id: 'm',
          type: 'message',
          role: 'assistant',
          model,
          content: [],
          stop_reason: 'end_turn',
          stop_sequence: null,
        },
        usage: {
          input_tokens: ttl === null ? tokens : 0,
          output_tokens: max,
          ...(ttl && {
            cache_creation_input_tokens: tokens,
            cache_creation: {
              ephemeral_1h_input_tokens: ttl === '1h' ? tokens : 0,
              ephemeral_5m_input_tokens: ttl === '5m' ? tokens : 0,
            },
          }),
        },
      },
    }
  },
  'pictures of Gemini': random => {
    const asked = random.text()
    const drawn = 1 + random.below(2)
    const promptTokenCount = count('', [asked])
    const candidatesTokenCount = drawn * 1120
    const body = {
      model: 'gemini-2.5-flash-image',
      max_tokens: drawn * 1120 + random.below(500),
      messages: [{role: 'user', content: asked}],
    }
    return {
      name: `${drawn}`,
      provider: 'google',
      path: '/chat/completions',
      body,
      reply: {
        candidates: [{index: 0, content: {parts: [{text: 'Here.'}], role: 'model'}, finishReason: 'STOP'}],
        modelVersion: body.model,
        usageMetadata: {
          ...{promptTokenCount, candidatesTokenCount, totalTokenCount: promptTokenCount + candidatesTokenCount},
          candidatesTokensDetails: [{modality: 'IMAGE', tokenCount: candidatesTokenCount}],
        },
      },
    }
  },
  embeddings: random => {
    const model = random.of(['text-embedding-3-small', 'text-embedding-3-large'])
    const texts = random.many(1 + random.below(6), () => random.text())
    const input = random.chance(0.3) ? texts.map(text => cl100k(text, AS_TEXT)) : texts
    const prompt_tokens = count('gpt-4', texts)
    const data = texts.map((_, index) => ({object: 'embedding', index, embedding: [0]}))
    const reply = {object: 'list', data, model, usage: {prompt_tokens, total_tokens: prompt_tokens}}
    return {name: model, provider: 'openai', path: '/embeddings', body: {model, input}, reply}
  },
  images: random => {
    const n = 1 + random.below(3)
    const prompt = random.text()
    const text_tokens = count('', [prompt])
    const output_tokens = n * random.of([272, 1056, 4160, 6240])
    const details = {input_tokens_details: {text_tokens, image_tokens: 0}}
    const usage = {input_tokens: text_tokens, output_tokens, total_tokens: text_tokens + output_tokens, ...details}
    return {
      name: 'gpt-image-1',
      provider: 'openai',
      path: '/images/generations',
      body: {model: 'gpt-image-1', prompt, n},
      reply: {created: 1, data: random.many(n, () => ({b64_json: 'AAAA'})), usage},
    }
  },
  edits: random => {
    const n = 1 + random.below(3)
    const prompt = random.text()
    const pictures = 1 + random.below(16)
    const text_tokens = count('', [prompt])
    const image_tokens = pictures * (65 + random.below(6000))
    const output_tokens = n * random.of([272, 1056, 4160, 6240])
    const body = new FormData()
    body.set('model', 'gpt-image-1')
    body.set('prompt', prompt)
    body.set('n', String(n))
    for (let at = 0; at < pictures; at++) body.append('image[]', new Blob([new Uint8Array(100)]), `${at}.png`)
    const input_tokens = text_tokens + image_tokens
    const usage = {
      input_tokens,
      output_tokens,
      total_tokens: input_tokens + output_tokens,
      input_tokens_details: {text_tokens, image_tokens},
    }
    const reply = {created: 1, data: random.many(n, () => ({b64_json: 'AAAA'})), usage}
    return {name: `${pictures} pictures`, provider: 'openai', path: '/images/edits', body, reply}
  },
  transcriptions: random => {
    const seconds = 1 + random.below(600)
    // as slow as speech is sent, and faster
    const bytes = seconds * random.of([500, 750, 2000, 4000])
    const body = new FormData()
    body.set('model', 'whisper-1')
    body.set('file', new Blob([new Uint8Array(bytes)]), random.of(['a.opus', 'a.mp3', 'a.m4a']))
    const reply = {text: 'hi', duration: seconds, usage: {type: 'duration', seconds}}
    return {name: 'whisper-1', provider: 'openai', path: '/audio/transcriptions', body, reply}
  },
  speech: random => {
    const model = 'gpt-4o-mini-tts'
    const input = random.text(1 + random.below(60))
    const speed = random.of([1, 1, 0.25, 0.5, 4])
    const letters = Buffer.byteLength(input)
    const input_tokens = count('', [input])
    // slow speech: as long as a reading takes, a token each 50 ms
    const output_tokens = 1 + random.below(Math.ceil((letters * SPOKEN_A_LETTER) / Math.min(1, speed)))
    const usage = {input_tokens, output_tokens, total_tokens: input_tokens + output_tokens}
    return {
      name: `${model} at ${speed}`,
      provider: 'openai',
      path: '/audio/speech',
      body: {model, voice: 'alloy', input, stream_format: 'sse', ...(speed !== 1 && {speed})},
      reply: [
        {type: 'speech.audio.delta', audio: 'AAAA'},
        {type: 'speech.audio.done', usage},
      ],
    }
  },
  'speech by its letters': random => {
    const input = random.text(1 + random.below(60))
    return {
      name: 'tts-1',
      provider: 'openai',
      path: '/audio/speech',
      body: {model: 'tts-1', voice: 'alloy', input},
      reply: {audio: 'charged by what was asked'},
    }
  },
  rerank: random => {
    const query = random.text()
    const documents = random.many(1 + random.below(250), () => random.text(random.of([1, 4, 200])))
    // a document of more than 500 tokens, with the query, is cut into several (Cohere, pricing)
    const chunks = documents.reduce((sum, text) => sum + Math.max(1, Math.ceil(count('', [query, text]) / 500)), 0)
    const search_units = Math.ceil(chunks / 100)
    return {
      name: `${documents.length} documents, ${search_units} units`,
      provider: 'cohere',
      path: '/rerank',
      body: {model: 'rerank-v3.5', query, documents},
      reply: {
        id: 'r',
        results: documents.slice(0, 3).map((_, index) => ({index, relevance_score: 0.5})),
        meta: {billed_units: {search_units}},
      },
    }
  },
  ocr: random => {
    const pages_processed = 1 + random.below(1000)
    return {
      name: `${pages_processed} pages`,
      provider: 'mistral-ai',
      path: '/ocr',
      body: {model: 'mistral-ocr-latest', document: {type: 'document_url', document_url: 'https://x.example/a.pdf'}},
      reply: {pages: [], model: 'mistral-ocr-2505', usage_info: {pages_processed, doc_size_bytes: 9}},
    }
  },
  'pass-through to Gemini': random => {
    const model = random.of(['gemini-2.5-flash', 'gemini-2.5-pro'])
    const asked = random.text()
    const max = 100 + random.below(2000)
    const n = random.chance(0.3) ? 1 + random.below(3) : 1
    const promptTokenCount = count('', [asked])
    const thoughtsTokenCount = random.below(max)
    const candidatesTokenCount = (max - thoughtsTokenCount) * n
    const usageMetadata = {
      ...{promptTokenCount, candidatesTokenCount, thoughtsTokenCount},
      totalTokenCount: promptTokenCount + candidatesTokenCount + thoughtsTokenCount,
    }
    const streamed = random.chance(0.5)
    const piece = {
      candidates: [{index: 0, content: {parts: [{text: 'Yes.'}], role: 'model'}, finishReason: 'STOP'}],
      usageMetadata,
      modelVersion: model,
    }
    return {
      name: `${model}${streamed ? ' streamed' : ''}`,
      provider: 'google',
      path: `/v1beta/models/${model}:${streamed ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
      is_own_path: true,
      body: {
        contents: [{role: 'user', parts: [{text: asked}]}],
        generationConfig: {maxOutputTokens: max, ...(n > 1 && {candidateCount: n})},
      },
      reply: streamed ? [piece] : piece,
    }
  },
  'pass-through to Bedrock': random => {
    const model = 'amazon.nova-lite-v1:0'
    const asked = random.text()
    const maxTokens = 1 + random.below(2000)
    const inputTokens = count('', [asked])
    const cached = random.chance(0.3) ? Math.floor(inputTokens / 2) : 0
    return {
      name: `${model}${cached ? ' written to a cache' : ''}`,
      provider: 'bedrock',
      path: `/model/${model}/converse`,
      body: {
        messages: [{role: 'user', content: [{text: asked}, ...(cached ? [{cachePoint: {type: 'default'}}] : [])]}],
        inferenceConfig: {maxTokens},
      },
      reply: {
        output: {message: {role: 'assistant', content: [{text: 'Yes.'}]}},
        stopReason: 'end_turn',
        usage: {
          inputTokens: inputTokens - cached,
          outputTokens: maxTokens,
          totalTokens: inputTokens + maxTokens,
          ...(cached && {cacheReadInputTokens: 0, cacheWriteInputTokens: cached}),
        },
      },
    }
  },
}

/** Tokens of speech for a byte of text: 20 a second, and 10 letters a second, of which each has a byte at least. */
const SPOKEN_A_LETTER = 2
export const ROUTE_NAMES = Object.keys(ROUTES)

export function caseAt(at: number, random: Random): Case {
  const route = ROUTE_NAMES[at % ROUTE_NAMES.length]!
  const made = ROUTES[route]!(random)
  return {...made, name: `${route}: ${made.name}`}
}
