import {readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import type {EndpointName} from '../../../src/schema/endpoints.ts'
import type {Usage} from '../../../src/schema/usage.ts'

/** What a fixture is known to say. */
export interface Facts {
  readonly usage: Partial<Usage> | null
  readonly model: string | null
  /** How the last event begins; null when the stream has none. */
  readonly last?: string | null
  /** The last event lacks its blank line, so that only the stream's end shows it. */
  readonly last_at_end?: true
  readonly first_event?: 'none' | 'comment' | 'event' | 'error'
  readonly text_bytes?: number
  readonly failed?: {readonly type: string; readonly message: string}
  /** It has an event with usage alone. */
  readonly metered?: true
}

export interface Fixture {
  readonly name: string
  readonly endpoint: EndpointName
  readonly facts: Facts
  readonly bytes: Buffer
}

const ROOT = join(import.meta.dirname, '../../fixtures/openai')

/** The fixtures that have `file`, by endpoint and case: shapes as the vendors document them. */
export function fixtures(file: 'events.txt' | 'reply.json'): readonly Fixture[] {
  return readdirSync(ROOT).flatMap(endpoint =>
    readdirSync(join(ROOT, endpoint)).flatMap(name => {
      const folder = join(ROOT, endpoint, name)
      if (!readdirSync(folder).includes(file)) return []
      const facts = JSON.parse(readFileSync(join(folder, 'facts.json'), 'utf8')) as Facts
      return [
        {
          name: `${endpoint}/${name}`,
          endpoint: endpoint as EndpointName,
          facts,
          bytes: readFileSync(join(folder, file)),
        },
      ]
    }),
  )
}

/** `bytes` in pieces that end at `at`, taken modulo the length. */
export function cut(bytes: Buffer, at: readonly number[]): readonly Buffer[] {
  const edges = [0, ...at.map(each => each % (bytes.length + 1)).sort((one, other) => one - other), bytes.length]
  return edges.slice(1).map((edge, index) => bytes.subarray(edges[index]!, edge))
}
