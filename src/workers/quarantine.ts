import {appendFileSync, statSync} from 'node:fs'
import {join} from 'node:path'
import type {FlusherReport} from './flusher.ts'

const NAME = 'set-aside.jsonl'
const MAX_BYTES = 64 * 1024 * 1024

/**
 * Keeps records that no ledger takes in `set-aside.jsonl` beside the journal's segments, a line each: when, which, and
 * the payload in base64.
 */
export function setAsideIn(
  folder: string,
  report: (report: FlusherReport) => void,
): (id: string, payload: Buffer) => boolean {
  const path = join(folder, NAME)
  return (id, payload) => {
    try {
      const {size} = statSync(path, {throwIfNoEntry: false}) ?? {size: 0}
      if (size > MAX_BYTES) throw new Error(`${path} has grown past ${MAX_BYTES} bytes`)
      const line = {set_aside_at: new Date().toISOString(), id, payload: payload.toString('base64')}
      appendFileSync(path, `${JSON.stringify(line)}\n`, {mode: 0o600})
      return true
    } catch (fault) {
      report({level: 'error', text: 'A record that was to be set aside could not be kept.', facts: {record: id}, fault})
      return false
    }
  }
}
