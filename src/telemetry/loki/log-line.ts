import {isObject, object, parsedObject} from '../../base/json-object.ts'
import {textWithin} from '../spans/bounded.ts'

/** A line of the process log as it is sent. */
export interface LokiLine {
  readonly level: string
  readonly at_ms: number
  readonly text: string
}

const MAX_LINE_BYTES = 256 * 1024
const LEVEL = /^[a-z]{1,10}$/

/**
 * Facts of a line without quotes: they are ids and names of the gateway's own. Numbers and words of yes and no are
 * kept under any name.
 */
const PLAIN: ReadonlySet<string> = new Set(
  (
    'level time service msg refused method path url mcp_url signal worker trace_id call_id request_id id name slug ' +
    'server integration mcp_integration_id organisation_id workspace_id client_id grant_id export_id reference manager ' +
    'export sink domain dns_name issuer client_ip code expires_at entity reloaded need_restart'
  ).split(' '),
)
const CODE = /^[\w.-]{1,64}$/
/** The message of a refused call may be one of its provider. */
const REFUSED = 'a call was refused'

/**
 * Reads a line (JSON) of the log. Without `has_content` it quotes neither calls nor their providers: messages of faults
 * and reasons are left out, and so is every text under a name that is not known. Undefined where it is no line.
 */
export function lokiLine(line: string, has_content: boolean): LokiLine | undefined {
  const facts = parsedObject(line)
  if (!facts) return undefined
  const {level, time} = facts
  const at_ms = typeof time === 'string' ? Date.parse(time) : Number.NaN
  if (typeof level !== 'string' || !LEVEL.test(level) || Number.isNaN(at_ms)) return undefined
  const text = has_content ? line.trimEnd() : JSON.stringify(withoutContent(facts))
  return {level, at_ms, text: textWithin(text.toWellFormed(), MAX_LINE_BYTES)}
}

function withoutContent(facts: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept = Object.entries(facts).filter(
    ([name, value]) => typeof value === 'number' || typeof value === 'boolean' || (PLAIN.has(name) && isPlain(value)),
  )
  const fault = facts.fault ?? facts.err
  return {
    ...Object.fromEntries(kept),
    ...(facts.refused !== undefined && {msg: REFUSED}),
    ...(isObject(fault) && {fault: faultWithoutWords(fault)}),
  }
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string' || (Array.isArray(value) && value.every(each => typeof each === 'string'))
}

/** Its kind, its code and its place. */
function faultWithoutWords(fault: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const {name, message, code, stack, cause} = fault
  const head = `${String(name)}: ${String(message)}`
  const found = typeof stack === 'string' && stack.startsWith(`${head}\n`) ? stack.slice(head.length + 1) : undefined
  const word = (value: unknown) => (typeof value === 'string' && CODE.test(value) ? value : undefined)
  // a cause is of the platform, mostly: its code is what helps
  const cause_code = word(object(cause).code)
  return {
    name: word(name),
    code: word(code),
    stack: found,
    ...(cause_code !== undefined && {cause: {code: cause_code}}),
  }
}
