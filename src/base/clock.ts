let last_ms = Number.NaN
let last_text = ''

/** `ms` since the epoch as ISO 8601 UTC with milliseconds. Calls of one millisecond share the text. */
export function isoTime(ms: number): string {
  if (ms !== last_ms) {
    last_text = new Date(ms).toISOString()
    last_ms = ms
  }
  return last_text
}
