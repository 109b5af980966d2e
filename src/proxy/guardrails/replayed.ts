import {replay} from '../../cache/replay.ts'
import {isStreamed} from '../../cache/rules.ts'
import type {JsonValue} from '../../guardrails/json.ts'
import type {CallGuardrails} from '../call/call-guardrails.ts'
import {restored} from './stream-restorer.ts'

/** A rewritten answer of which nothing has left yet, as the stream it would have been: as it is cached, and as the client gets it. */
export interface Replayed {
  readonly kept: Buffer
  readonly shown: Buffer
}

/** Null where it cannot be streamed. */
export function replayed({endpoint, restore}: CallGuardrails, body: JsonValue, asks_usage: boolean): Replayed | null {
  const streamed = (answer: Buffer) => (isStreamed(endpoint) ? replay(endpoint, answer, {include_usage: asks_usage}) : null)
  const answer = Buffer.from(JSON.stringify(body))
  const kept = streamed(answer)
  const shown = restore ? streamed(restored(restore, answer)) : kept
  return kept && shown && {kept, shown}
}
