import type {Sink} from './environment.ts'
import {plain} from './width.ts'

/** Members of a line that say nothing to a person, or are shown otherwise. */
const LEFT_OUT = ['time', 'level', 'service', 'msg', 'fault', 'err']

/** Turns the JSON lines of a log into short lines for a person: time, level, message, the rest as `name=value`. */
export function humanLines(sink: Sink): (line: string) => void {
  return line => sink.write(`${humanLine(line)}\n`)
}

function humanLine(line: string): string {
  let fields: Record<string, unknown>
  try {
    fields = JSON.parse(line) as Record<string, unknown>
  } catch {
    return plain(line.trimEnd())
  }
  const fault = (fields.fault ?? fields.err) as {message?: unknown; stack?: unknown} | undefined
  const rest = Object.entries(fields).filter(([name]) => !LEFT_OUT.includes(name))
  const parts = [
    String(fields.time ?? '').slice(11, 19),
    fields.level === 'info' ? '' : String(fields.level ?? ''),
    String(fields.msg ?? ''),
    fault?.message === undefined ? '' : `(${String(fault.message)})`,
    ...rest.map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`),
  ]
  return plain(parts.filter(Boolean).join(' '))
}
