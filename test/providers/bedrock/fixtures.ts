import {existsSync, readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {AwsEventStream, readEvent} from '../../../src/base/aws-event-stream.ts'
import type {Json, StreamEvent, StreamTranslator, TranslationContext} from '../../../src/providers/translation.ts'
import type {Usage} from '../../../src/schema/usage.ts'
import {eventFrame} from './frames.ts'

/** A chunk as a fixture writes it: its delta and finish reason, or its usage. */
export type ChunkSaid = readonly [delta: Json, finish_reason: string | null] | {readonly usage: Json}

/** What a fixture is known to come to. */
export interface Expected {
  readonly message?: Json
  readonly finish_reason?: string
  /** Members that are not nought. */
  readonly usage?: Partial<Usage> | null
  readonly chunks?: readonly ChunkSaid[]
  readonly finished?: boolean
  readonly text_bytes?: number
  readonly failed?: Json
}

export interface Fixture {
  readonly name: string
  readonly asked: Json
  readonly context: TranslationContext
  readonly sent: {readonly path: string; readonly body: Json}
  readonly reply: Json | null
  /** The stream's bytes. */
  readonly stream: Buffer | null
  readonly expected: Expected
}

const ROOT = join(import.meta.dirname, '../../fixtures/bedrock/chatComplete')

/** A context with nothing unusual in it. */
export function contextOf(more: Partial<TranslationContext> = {}): TranslationContext {
  return {
    provider: 'bedrock',
    model: 'meta.llama3-8b-instruct-v1:0',
    is_stream: false,
    strict: true,
    options: {},
    call_id: 'call-1',
    created_s: 1_700_000_000,
    ...more,
  }
}

/**
 * Chat as Amazon documents it: `request.json` what is asked and what is sent, `reply.json`, `events.json`,
 * `expected.json`.
 */
export const fixtures: readonly Fixture[] = readdirSync(ROOT).map(name => {
  const file = (part: string): unknown => {
    const path = join(ROOT, name, `${part}.json`)
    return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null
  }
  const {asked, context, sent} = file('request') as {
    asked: Json
    context: Partial<TranslationContext>
    sent: Fixture['sent']
  }
  const events = file('events') as readonly Json[] | null
  return {
    name,
    asked,
    context: contextOf(context),
    sent,
    reply: file('reply') as Json | null,
    stream: events && framed(events),
    expected: (file('expected') ?? {}) as Expected,
  }
})

/** Events, each an object of one member: its name and its payload. */
export function framed(events: readonly Json[]): Buffer {
  return Buffer.concat(
    events.flatMap(event => Object.entries(event).map(([name, payload]) => eventFrame(name, payload))),
  )
}

/** What `translator` gives for a stream that comes in `pieces`. */
export function follow(translator: StreamTranslator, pieces: readonly Buffer[]): readonly Json[] {
  const chunks: Json[] = []
  const stream = new AwsEventStream(message =>
    chunks.push(...translator.event(readEvent(message) satisfies StreamEvent)),
  )
  for (const piece of pieces) stream.push(piece)
  chunks.push(...translator.end())
  return chunks
}

/** A chunk as fixtures write it. */
export function chunkSaid(chunk: Json): ChunkSaid {
  const [choice] = chunk.choices as readonly {delta: Json; finish_reason: string | null}[]
  return choice ? [choice.delta, choice.finish_reason] : {usage: chunk.usage as Json}
}

/** The members of a record that are not nought. */
export function counted(usage: Usage | null): Json | null {
  return (
    usage &&
    Object.fromEntries(
      Object.entries(usage).filter(([, value]) => (typeof value === 'object' ? Object.keys(value).length : value)),
    )
  )
}
