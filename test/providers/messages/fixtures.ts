import {readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import type {Json, TranslationContext} from '../../../src/providers/translation.ts'

/** One conversation turn as a client asks and reads it, and as a chat provider hears and says it. */
export interface Fixture {
  readonly name: string
  readonly asked: Json
  /** The chat request it becomes. */
  readonly chat: Json
  /** The provider's `choices[0].message`, its finish reason and usage. */
  readonly said: Json
  readonly finish: string
  readonly usage: Json | null
  /** The same answer as chunks: of each its delta, finish reason and usage. */
  readonly chunks?: readonly {readonly delta?: Json; readonly finish_reason?: string; readonly usage?: Json}[]
  /** What the client is to read, whole or streamed: members of its answer. */
  readonly answer: Json
  /** The events, each as its type and its other members. */
  readonly events?: readonly (readonly [type: string, more: Json])[]
}

export const context: TranslationContext = {
  provider: 'acme',
  model: 'm',
  is_stream: false,
  strict: false,
  options: {},
  call_id: 'c0ffee',
  created_s: 1_700_000_000,
}

/** The fixtures of a client dialect. */
export function fixtures(dialect: 'messages' | 'responses'): readonly Fixture[] {
  const folder = join(import.meta.dirname, '../../fixtures', dialect)
  return readdirSync(folder).map(file => ({
    name: file.replace('.json', ''),
    ...JSON.parse(readFileSync(join(folder, file), 'utf8')),
  }))
}

/** The fixture's answer as a whole chat completion. */
export function completionOf({said, finish, usage}: Pick<Fixture, 'said' | 'finish' | 'usage'>): Json {
  const choices = [{index: 0, message: said, logprobs: null, finish_reason: finish}]
  return {id: 'chatcmpl-abc', object: 'chat.completion', created: 1, model: 'm-1', choices, ...(usage && {usage})}
}

/** The fixture's answer as chat chunks. */
export function chunksOf({chunks = []}: Pick<Fixture, 'chunks'>): readonly Json[] {
  return chunks.map(({delta, finish_reason = null, usage}) => ({
    id: 'chatcmpl-abc',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm-1',
    choices: delta ? [{index: 0, delta, logprobs: null, finish_reason}] : [],
    ...(usage && {usage}),
  }))
}
