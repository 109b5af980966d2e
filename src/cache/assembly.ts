import type {Json} from './exact-json.ts'

/** Puts the events of one endpoint together. Throws `Inexact` where that would be guessing. */
export interface Assembly {
  /** One event: its data as JSON, `done` for `[DONE]`. */
  take(event: Json | 'done'): void
  /** The whole answer; null when the stream did not come to its end. */
  answer(): Json | null
}
