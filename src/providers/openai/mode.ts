import {topLevel} from '../../base/json.ts'
import type {ServiceMode} from '../../schema/usage.ts'

const NO_KEYS: ReadonlySet<string> = new Set()
const MODE_MEMBERS: readonly {readonly key: string; readonly value: string; readonly bytes: Buffer; readonly mode: ServiceMode}[] = [
  {key: 'service_tier', value: '"priority"', bytes: Buffer.from('"priority"'), mode: 'priority'},
  {key: 'speed', value: '"fast"', bytes: Buffer.from('"fast"'), mode: 'fast'},
]

/** True where a body whose top level has these keys may ask for a mode. */
export function mayAskMode(keys: {has(key: string): boolean}): boolean {
  return MODE_MEMBERS.some(({key}) => keys.has(key))
}

/** The mode that a request asks for in words of OpenAI or Anthropic; null for all others, which are searched and not read. */
export function requestedMode(body: Buffer): ServiceMode | null {
  for (const {key, value, bytes, mode} of MODE_MEMBERS) if (body.includes(bytes) && memberIn(body, key) === value) return mode
  return null
}

function memberIn(body: Buffer, key: string): string | null {
  try {
    const span = topLevel(body, NO_KEYS).get(key)
    return span ? body.toString('latin1', span.start, span.end) : null
  } catch {
    return null // not JSON: the provider refuses it
  }
}
