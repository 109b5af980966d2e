import {existsSync, readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {readFields, SseFramer} from '../../../src/base/sse.ts'
import {anthropicOn} from '../../../src/providers/anthropic/index.ts'
import type {Json, StreamEvent, StreamTranslator, TranslationContext} from '../../../src/providers/translation.ts'
import type {Usage} from '../../../src/schema/usage.ts'

/** What a streamed fixture comes to. `counts`: the classes of usage that are not 0. */
export interface Told {
  readonly chunks: readonly Json[]
  readonly finished: boolean
  readonly failed: Json | null
  readonly counts: Partial<Usage> | null
  readonly model: string | null
  readonly text_bytes: number
}

export interface Fixture {
  readonly name: string
  readonly place: 'api' | 'vertex' | 'bedrock'
  readonly context: TranslationContext
  readonly request: Json
  /** The body that leaves. */
  readonly upstream: Json
  readonly reply: Json | null
  readonly expected: Json | null
  readonly events: Buffer | null
  readonly told: Told | null
}

export const CONTEXT: TranslationContext = {
  provider: 'anthropic',
  model: 'claude-sonnet-4-5',
  is_stream: false,
  strict: true,
  options: {},
  call_id: '0b7e',
  created_s: 1_700_000_000,
}

const ROOT = join(import.meta.dirname, '../../fixtures/anthropic/chatComplete')

/** Bodies and events in the shapes of Anthropic's public documentation. */
export const fixtures: readonly Fixture[] = readdirSync(ROOT).map(name => {
  const bytes = (file: string) => (existsSync(join(ROOT, name, file)) ? readFileSync(join(ROOT, name, file)) : null)
  const json = <T = Json>(file: string) => JSON.parse(bytes(file)?.toString('utf8') ?? 'null') as T | null
  const {place = 'api', ...context} =
    json<{readonly place?: Fixture['place']} & Partial<TranslationContext>>('context.json') ?? {}
  return {
    name,
    place,
    context: {...CONTEXT, ...context},
    request: json('request.json')!,
    upstream: json('upstream.json')!,
    reply: json('reply.json'),
    expected: json('expected.json'),
    events: bytes('events.txt'),
    told: json<Told>('expected-events.json'),
  }
})

export function chatOn(place: Fixture['place'] = 'api') {
  return anthropicOn(place).endpoints.chatComplete!
}

export function open(context: TranslationContext, asked: Json, place: Fixture['place'] = 'api'): StreamTranslator {
  return chatOn(place).stream!.open({...context, is_stream: true}, asked)
}

/** The events in `pieces` of a stream. */
export function eventsIn(pieces: readonly Buffer[]): readonly StreamEvent[] {
  const events: StreamEvent[] = []
  const framer = new SseFramer(raw => {
    const {event, data} = readFields(raw!)
    if (data.length > 0) events.push({name: event, data: parsed(data.join('\n'))})
  })
  for (const piece of pieces) framer.push(piece)
  framer.end()
  return events
}

/** All that a stream of `pieces` comes to. */
export function told({context, request, place}: Fixture, pieces: readonly Buffer[]) {
  const translator = open(context, request, place)
  const chunks = [...eventsIn(pieces).flatMap(event => translator.event(event)), ...translator.end()]
  const {finished, failed, usage, model, text_bytes} = translator
  return {chunks, finished, failed, usage, model, text_bytes}
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
