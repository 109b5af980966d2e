import {parseJson} from '../base/json-object.ts'
export type JsonRecord = Record<string, unknown>

/** A number that may not survive: many digits, or an exponent of three. */
const SUSPECT = /\d{16}|[eE][-+]?\d{3}/
/** Strings are stepped over, numbers are found. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g

/**
 * `JSON.parse`, for text that is going to be written again: undefined when it is not JSON, or holds a number that
 * JavaScript would write otherwise in a way that a client can tell (an integer that no double holds, a magnitude beyond
 * all).
 */
export function parseExactly(text: string): unknown {
  let value: unknown
  try {
    value = parseJson(text)
  } catch {
    return undefined
  }
  return SUSPECT.test(text) && !survives(text) ? undefined : value
}

/** Of text that is JSON, whether its numbers stay what they are. */
function survives(text: string): boolean {
  for (const [token] of text.matchAll(TOKEN)) {
    if (token[0] === '"') continue
    const value = Number(token)
    if (!Number.isFinite(value) || (/^-?\d+$/.test(token) && String(value) !== token)) return false
  }
  return true
}

/** `record` without the members of `names`. */
export function without(record: JsonRecord, ...names: readonly string[]): JsonRecord {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)))
}
