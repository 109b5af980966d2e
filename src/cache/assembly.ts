import type {JsonRecord} from './exact-json.ts'

/** Puts the events of one endpoint together. Throws `InexactFault` where that would be guessing. */
export interface Assembly {
  /** One event: its data as JSON, `done` for `[DONE]`. */
  take(event: JsonRecord | 'done'): void
  /** The whole answer; null when the stream did not come to its end. */
  answer(): JsonRecord | null
}
