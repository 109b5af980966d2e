import type {Json} from '../../src/providers/translation.ts'
import {anthropicWords} from './dialects/anthropic.ts'
import {bedrockWords} from './dialects/bedrock.ts'
import {bedrockMessagesWords} from './dialects/bedrock-messages.ts'
import {cohereWords} from './dialects/cohere.ts'
import {geminiWords} from './dialects/gemini.ts'
import {mistralWords} from './dialects/mistral.ts'
import {openaiWords} from './dialects/openai.ts'
import type {Said, TwinWords, Understood} from './dialects/words.ts'
import {startGateway, type TestGateway} from './gateway.ts'
import {type Answer, type FakeProvider, fakeProvider, json} from './provider.ts'

export type {Said, TwinWords, Understood} from './dialects/words.ts'

/** The five major dialects, and OpenAI's own at a provider that has chat alone. */
export const TWINS: readonly TwinWords[] = [
  anthropicWords,
  geminiWords,
  {...bedrockWords, beside: bedrockMessagesWords},
  cohereWords,
  mistralWords,
  openaiWords,
]

/** What a twin does with a request that is right, instead of answering what fits it. */
export type Script =
  | {readonly status: number; readonly message: string; readonly headers?: Record<string, string>}
  /** Bytes as they are, with status 200. */
  | {readonly bytes: string; readonly type?: string}
  /** A stream that breaks off behind this many of its events; `is_clean`: by its end, not by its connection. */
  | {readonly events: number; readonly is_clean: boolean}
  | {readonly stream: readonly Buffer[]}

/** A provider on loopback that speaks its own wire. */
export interface Twin extends TwinWords {
  readonly url: string
  /** What it understood, in order. */
  readonly understood: Understood[]
  /** What was wrong with requests. */
  readonly faults: string[]
  readonly received: FakeProvider['received']
  /** Follows a script from now on; null: answers. */
  play(script: Script | null): void
  /** Counts so many tokens for whoever asks where tokens are counted there. */
  count(input_tokens: number): void
  /** Gives what was wrong since, and forgets all that was heard. */
  forget(): readonly string[]
  close(): Promise<void>
}

export const TEXT = {
  text: 'Die Donau fließt durch Wien. ☃',
  finish: 'stop',
  input_tokens: 31,
  output_tokens: 7,
} as const satisfies Said
export const CALLED = {
  text: 'I look at both.',
  calls: [
    {id: 'D681PevKs', name: 'weather', arguments: {city: 'Oslo', days: 2}},
    {id: 'x9Zk2LmQ7', name: 'weather', arguments: {city: 'Málaga'}},
  ],
  finish: 'tool_calls',
  input_tokens: 410,
  output_tokens: 88,
} as const satisfies Said
export const SUMMED = {
  text: 'Oslo 4, Málaga 19.',
  finish: 'stop',
  input_tokens: 520,
  output_tokens: 12,
} as const satisfies Said
export const THOUGHT = {
  thought: 'Seven times thirteen.',
  text: 'No: 7 × 13.',
  finish: 'stop',
  input_tokens: 60,
  output_tokens: 40,
} as const satisfies Said
export const CUT_SHORT = {
  text: 'Once upon',
  finish: 'length',
  input_tokens: 31,
  output_tokens: 2,
} as const satisfies Said

/**
 * What fits a request: the results of tools are summed up, tools are called, thoughts are told, few tokens are used up.
 */
export function answerTo({turns, tools, thinks, max_tokens}: Understood): Said {
  if (turns.some(({results}) => results.length > 0)) return SUMMED
  if (tools.length > 0) return CALLED
  if (thinks) return THOUGHT
  return max_tokens === 2 ? CUT_SHORT : TEXT
}

/** Where Anthropic, Bedrock and Gemini count. */
const COUNTS = /\/messages\/count_tokens$|\/count-tokens$|:countTokens$/

export async function startTwin(first: TwinWords): Promise<Twin> {
  const understood: Understood[] = []
  const faults: string[] = []
  let script: Script | null = null
  let counted: number | null = null
  const answer: Answer = (received, response) => {
    if (counted !== null && COUNTS.test(received.path))
      return json(response, {input_tokens: counted, inputTokens: counted, totalTokens: counted})
    const {beside} = first
    const words = beside && [true, false].some(each => beside.path(each) === received.path) ? beside : first
    const is_stream =
      received.path === words.path(true) && (received.path !== words.path(false) || isStreamed(received.body))
    let said: Said
    try {
      checkRequest(words, received, is_stream)
      understood.push(words.read(JSON.parse(received.body.toString()) as Json, is_stream))
      said = answerTo(understood.at(-1)!)
    } catch (fault) {
      const message = `${received.method} ${received.path}: ${(fault as Error).message}`
      faults.push(message)
      return json(response, words.error(400, message), 400)
    }
    if (script && 'status' in script)
      return json(response, words.error(script.status, script.message), script.status, script.headers)
    if (script && 'bytes' in script)
      return void response.writeHead(200, {'content-type': script.type ?? 'application/json'}).end(script.bytes)
    if (!is_stream) return json(response, words.plain(said))
    response.writeHead(200, {'content-type': words.stream_type})
    const events = script && 'stream' in script ? script.stream : words.events(said)
    const kept = script && 'events' in script ? events.slice(0, script.events) : events
    for (const event of kept.slice(0, -1)) response.write(event)
    if (!script || !('events' in script) || script.is_clean) return void response.end(kept.at(-1))
    response.write(kept.at(-1))
    setImmediate(() => response.socket?.destroySoon())
  }
  const server = await fakeProvider(answer)
  return {
    ...first,
    url: server.url.replace('/v1', first.base),
    understood,
    faults,
    received: server.received,
    play(next) {
      script = next
    },
    count(input_tokens) {
      counted = input_tokens
    },
    forget() {
      understood.length = server.received.length = 0
      return faults.splice(0)
    },
    close: () => server.close(),
  }
}

/** A gateway and all twins behind it, each as the provider `@` and its kind. */
export async function startTwins(
  env: Record<string, string> = {},
  words: readonly TwinWords[] = TWINS,
): Promise<{readonly gateway: TestGateway; readonly twins: readonly Twin[]; close(): Promise<void>}> {
  const gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1', ...env})
  const twins = await Promise.all(words.map(startTwin))
  for (const {kind, url} of twins) {
    const more =
      kind === 'bedrock' ? {configurations: {custom_host: url, aws_auth_type: 'apiKey', aws_region: 'us-east-1'}} : {}
    await gateway.provider(kind, kind, url, more)
  }
  return {
    gateway,
    twins,
    async close() {
      await gateway.close()
      for (const twin of twins) await twin.close()
    },
  }
}

function isStreamed(body: Buffer): boolean {
  return (JSON.parse(body.toString()) as Json).stream === true
}

function checkRequest(words: TwinWords, {method, path, headers}: FakeProvider['received'][number], is_stream: boolean) {
  const want = {
    method: 'POST',
    path: words.path(is_stream),
    'content-type': 'application/json',
    [words.auth[0]]: words.auth[1],
    ...words.needs,
  }
  const got: Record<string, unknown> = {...headers, method, path}
  for (const [name, value] of Object.entries(want)) {
    if (got[name] !== value) throw new Error(`${name} is ${String(got[name])} instead of ${value}`)
  }
  const others = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key', 'cookie'].filter(
    name => name !== words.auth[0],
  )
  for (const name of [
    ...others,
    ...Object.keys(headers).filter(name => /gateway|portkey/.test(name) && name !== 'user-agent'),
  ]) {
    if (headers[name] !== undefined) throw new Error(`${name} is not to be told`)
  }
}
