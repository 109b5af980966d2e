import {existsSync, readdirSync, readFileSync} from 'node:fs'
import {readFields, SseFramer} from '../../../src/base/sse.ts'
import {gemini, geminiOnVertex} from '../../../src/providers/gemini/index.ts'
import type {
  Dialect,
  Json,
  StreamEvent,
  StreamTranslator,
  Translation,
  TranslationContext,
} from '../../../src/providers/translation.ts'
import {TOKEN_CLASSES, type Usage} from '../../../src/schema/usage.ts'

const ROOT = new URL('../../fixtures/gemini/', import.meta.url)

/**
 * A choice of a chunk, in short: index, delta, finish reason, and what else the choice has; or the chunk with usage.
 */
export type Short = readonly [index: number, delta: Json, finish_reason: string | null, more?: Json] | 'usage'

export interface Case {
  readonly name: string
  readonly asked: Json
  readonly context: TranslationContext
  readonly dialect: Dialect
  readonly sent: {readonly path: string; readonly body: Json} | null
  readonly said: unknown
  readonly answer: {readonly choices?: readonly Json[]; readonly body?: Json; readonly usage: Json | null}
  readonly events: Buffer | null
  readonly chunks: readonly Short[]
  readonly failed: Json | null
  readonly finished: boolean
}

export function contextOf(more: Partial<TranslationContext> = {}): TranslationContext {
  const usual = {
    provider: 'google',
    model: 'gemini-2.5-flash',
    is_stream: false,
    strict: true,
    options: {},
    call_id: 'c1',
    created_s: 1750000000,
  }
  return {...usual, ...more}
}

/** The fixtures of an endpoint, by their folders' names. */
export function casesOf(endpoint: string): readonly Case[] {
  const root = new URL(`${endpoint}/`, ROOT)
  return readdirSync(root).map(name => {
    const at = (file: string) => new URL(`${name}/${file}`, root)
    const json = (file: string) => (existsSync(at(file)) ? JSON.parse(readFileSync(at(file), 'utf8')) : null)
    const {finished = true, dialect, ...context} = json('context.json') ?? {}
    return {
      name,
      asked: json('asked.json'),
      context: contextOf(context),
      dialect: dialect === 'vertex' ? geminiOnVertex() : gemini,
      sent: json('sent.json'),
      said: json('said.json'),
      answer: json('answer.json'),
      events: existsSync(at('events.txt')) ? readFileSync(at('events.txt')) : null,
      chunks: json('chunks.json'),
      failed: json('failed.json'),
      finished,
    }
  })
}

export const CASES: readonly Case[] = casesOf('chatComplete')

export function chatOf(dialect: Dialect = gemini): Translation & {readonly stream: NonNullable<Translation['stream']>} {
  const {stream, ...chat} = dialect.endpoints.chatComplete!
  return {...chat, stream: stream!}
}

/** What `parts` of a stream come to, and the translator after it. */
export function followed(
  parts: readonly Buffer[],
  context: TranslationContext,
  asked: Json,
  dialect: Dialect = gemini,
): {readonly chunks: readonly Json[]; readonly translator: StreamTranslator} {
  const translator = chatOf(dialect).stream.open({...context, is_stream: true}, asked)
  const chunks: Json[] = []
  const framer = new SseFramer(raw => {
    const {event, data} = readFields(raw!)
    chunks.push(...translator.event(parsedEvent(event, data.join('\n'))))
  })
  for (const part of parts) framer.push(part)
  framer.end()
  chunks.push(...translator.end())
  return {chunks, translator}
}

export function parsedEvent(name: string | null, text: string): StreamEvent {
  try {
    return {name, data: JSON.parse(text)}
  } catch {
    return {name, data: text}
  }
}

export function short(chunk: Json): Short {
  const choices = chunk.choices as readonly (Json & {index: number; delta: Json; finish_reason: string | null})[]
  if (choices.length === 0) return 'usage'
  const {index, delta, finish_reason, logprobs, ...more} = choices[0]!
  const rest = {...(logprobs ? {logprobs} : {}), ...more}
  return Object.keys(rest).length > 0 ? [index, delta, finish_reason, rest] : [index, delta, finish_reason]
}

/** What was counted at all: the classes above 0, and the units where there are any. */
export function counted(usage: Usage | null): Json | null {
  if (!usage) return null
  const classes = TOKEN_CLASSES.filter(name => usage[name] > 0).map(name => [name, usage[name]] as const)
  return {...Object.fromEntries(classes), ...(Object.keys(usage.units).length > 0 ? {units: usage.units} : {})}
}
