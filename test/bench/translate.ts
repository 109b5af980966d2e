import {mkdtempSync, rmSync} from 'node:fs'
import {createServer, type ServerResponse} from 'node:http'
import type {AddressInfo} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {measure} from './load.ts'
import {endOnSignals} from './processes.ts'
import type {Scenario} from './scenarios.ts'
import {callHeaders, gatewayCommand, provide, serve} from './subjects/gateway.ts'
import type {Subject} from './subjects/subject.ts'

/**
 * What a stream costs that is translated from Anthropic's words, beside one of the same text in OpenAI's. Microseconds
 * of processor time.
 */
export interface TranslationCost {
  readonly passed_us: number
  readonly translated_us: number
}

const CHUNKS = 50
const GAP_MS = 2
const CLIENTS = 8
const WARM_UP_S = 3
const WORDS = 'The quick brown fox jumps over the lazy dog and "says" so. '.split(/(?<= )/)
const TEXTS = Array.from({length: CHUNKS}, (_, at) => WORDS[at % WORDS.length]!)
const MODELS = {openai: 'gpt-4o-mini', anthropic: 'claude-sonnet-4-5'} as const
type Kind = keyof typeof MODELS

/** Measures both at one gateway, in turn; the best round of each counts. Every stream must come whole. */
export async function translationCost(
  {rounds, seconds, is_binary}: {rounds: number; seconds: number; is_binary: boolean},
  {
    folder,
    processors,
    load_processors,
  }: {folder: string; processors?: string | undefined; load_processors?: string | undefined},
): Promise<TranslationCost> {
  const data_dir = mkdtempSync(join(tmpdir(), 'gateway-bench-'))
  const provider = await startProvider()
  const {origin, program} = await serve(gatewayCommand(is_binary), data_dir, {processors})
  try {
    await provide(origin, provider.origin, {openai: 'openai', anthropic: 'anthropic'})
    const subject = (kind: Kind): Subject => ({
      id: 'ours',
      name: kind,
      url: `${origin}/v1/chat/completions`,
      headers: callHeaders(kind),
      pid: program.pid,
      stop: async () => undefined,
    })
    const cost = async (kind: Kind, s: number) => {
      const {cpu_us, failed} = await measure(subject(kind), scenario(kind), s, {folder, processors: load_processors})
      if (failed > 0 || cpu_us === null) throw new Error(`${failed} streams of ${kind} failed`)
      return cpu_us
    }
    await cost('openai', WARM_UP_S)
    await cost('anthropic', WARM_UP_S)
    let passed_us = Number.POSITIVE_INFINITY
    let translated_us = Number.POSITIVE_INFINITY
    for (let round = 0; round < rounds; round++) {
      passed_us = Math.min(passed_us, await cost('openai', seconds))
      translated_us = Math.min(translated_us, await cost('anthropic', seconds))
    }
    return {passed_us, translated_us}
  } finally {
    await program.stop()
    provider.stop()
    rmSync(data_dir, {recursive: true, force: true})
  }
}

function scenario(kind: Kind): Scenario {
  const messages = [
    {role: 'system', content: 'You are brief.'},
    {role: 'user', content: 'Say something about foxes.'},
  ]
  const body = JSON.stringify({
    model: MODELS[kind],
    messages,
    max_tokens: 300,
    stream: true,
    stream_options: {include_usage: true},
  })
  return {name: `translate ${kind}`, title: kind, clients: CLIENTS, is_stream: true, body}
}

/** Says the same in both words, an event every 2 ms, each a write of its own. */
async function startProvider() {
  const streams = {'/v1/chat/completions': openaiEvents(), '/v1/messages': anthropicEvents()} as Readonly<
    Record<string, readonly string[]>
  >
  const open = new Set<{reply: ServerResponse; events: readonly string[]; at: number}>()
  const clock = setInterval(() => {
    for (const stream of open) {
      stream.reply.write(stream.events[stream.at++]!)
      if (stream.at < stream.events.length) continue
      stream.reply.end()
      open.delete(stream)
    }
  }, GAP_MS)
  const server = createServer((asked, reply) => {
    asked.resume().on('end', () => {
      const events = streams[asked.url!]
      if (!events) return void reply.writeHead(404).end()
      reply.writeHead(200, {'content-type': 'text/event-stream; charset=utf-8'})
      open.add({reply, events, at: 0})
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop() {
      clearInterval(clock)
      server.closeAllConnections()
      server.close()
    },
  }
}

/** A role, the text, a finish reason, the usage; the last write ends the stream too. */
function openaiEvents(): string[] {
  const of = (choices: readonly object[], more: object = {}) =>
    `data: ${JSON.stringify({id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1750000000, model: MODELS.openai, choices, ...more})}\n\n`
  const choice = (delta: object, finish_reason: string | null = null) =>
    of([{index: 0, delta, logprobs: null, finish_reason}])
  const usage = {prompt_tokens: 20, completion_tokens: CHUNKS, total_tokens: 20 + CHUNKS}
  return [
    choice({role: 'assistant', content: ''}),
    ...TEXTS.map(content => choice({content})),
    choice({}, 'stop'),
    `${of([], {usage})}data: [DONE]\n\n`,
  ]
}

/** The same as Anthropic's Messages say it. */
function anthropicEvents(): string[] {
  const of = (type: string, more: object) => `event: ${type}\ndata: ${JSON.stringify({type, ...more})}\n\n`
  const message = {
    id: 'msg_bench',
    type: 'message',
    role: 'assistant',
    model: MODELS.anthropic,
    content: [],
    stop_reason: null,
  }
  return [
    of('message_start', {message: {...message, usage: {input_tokens: 20, output_tokens: 1}}}) +
      of('content_block_start', {index: 0, content_block: {type: 'text', text: ''}}),
    ...TEXTS.map(text => of('content_block_delta', {index: 0, delta: {type: 'text_delta', text}})),
    of('content_block_stop', {index: 0}) +
      of('message_delta', {delta: {stop_reason: 'end_turn', stop_sequence: null}, usage: {output_tokens: CHUNKS}}),
    of('message_stop', {}),
  ]
}

if (import.meta.main) {
  endOnSignals()
  const [rounds = '3', seconds = '2', folder = tmpdir()] = process.argv.slice(2)
  const {passed_us, translated_us} = await translationCost(
    {rounds: Number(rounds), seconds: Number(seconds), is_binary: false},
    {folder},
  )
  const times = (translated_us / passed_us).toFixed(2)
  console.log(
    `a stream of ${CHUNKS} chunks: passed ${passed_us.toFixed(0)} µs, translated ${translated_us.toFixed(0)} µs, ${times}x`,
  )
}
