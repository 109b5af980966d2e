import type {Sink} from './environment.ts'
import {plain} from './width.ts'

/** Members of a line that say nothing to a person, or are said otherwise. */
const LEFT_OUT = ['time', 'level', 'service', 'msg', 'fault', 'err']

/** Turns the JSON lines of a log into short lines for a person: time, level, message, the rest as `name=value`. */
export function humanLines(sink: Sink): (line: string) => void {
  return line => sink.write(`${humanLine(line)}\n`)
}

function humanLine(line: string): string {
  let said: Record<string, unknown>
  try {
    said = JSON.parse(line) as Record<string, unknown>
  } catch {
    return plain(line.trimEnd())
  }
  const fault = (said.fault ?? said.err) as {message?: unknown; stack?: unknown} | undefined
  const rest = Object.entries(said).filter(([name]) => !LEFT_OUT.includes(name))
  const parts = [
    String(said.time ?? '').slice(11, 19),
    said.level === 'info' ? '' : String(said.level ?? ''),
    String(said.msg ?? ''),
    fault?.message === undefined ? '' : `(${String(fault.message)})`,
    ...rest.map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`),
  ]
  return plain(parts.filter(Boolean).join(' '))
}
