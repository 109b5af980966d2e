import {parsedObject} from '../../base/json-object.ts'
import type {AnswerMarks} from './index.ts'

/** The marks of an answer as a text, and when it was stored. */
export function markedText(about: AnswerMarks | undefined, stored_at_ms: number): string {
  return JSON.stringify({model: about?.model ?? null, namespace: about?.namespace ?? null, stored_at_ms})
}

/** The same, read; an answer of an earlier version has none. */
export function marksIn(text: string | null | undefined): AnswerMarks & {readonly stored_at_ms: number} {
  const {model, namespace, stored_at_ms} = parsedObject(text ?? '') ?? {}
  return {
    model: typeof model === 'string' ? model : null,
    namespace: typeof namespace === 'string' ? namespace : null,
    stored_at_ms: typeof stored_at_ms === 'number' ? stored_at_ms : 0,
  }
}
