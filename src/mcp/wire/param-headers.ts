import {isObject, type JsonObject, type JsonValue, own} from '../../base/json-member.ts'
import {McpFault, printable} from './faults.ts'
import {decodedHeaderValue, encodedHeaderValue, type HeaderFields, headerValue} from './header-values.ts'
import type {RpcRequest} from './messages.ts'

/** Headers that repeat arguments of a tool (2026-07-28, Streamable HTTP, "Schema extension": `x-mcp-header`). */

export type ParamKind = 'string' | 'integer' | 'boolean'

/** One argument that a header repeats. */
export interface ParamHeader {
  /** The header without `Mcp-Param-`, as the schema writes it. */
  readonly name: string
  /** Keys from the root of the arguments on. */
  readonly path: readonly string[]
  readonly kind: ParamKind
}

/** The declarations of a schema. One that breaks a rule makes the tool invalid for modern clients. */
export interface ParamHeaders {
  readonly valid: boolean
  readonly headers: readonly ParamHeader[]
  /** The rule that is broken; null of a valid schema. */
  readonly fault: string | null
}

const KEYWORD = 'x-mcp-header'
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const KINDS: ReadonlySet<unknown> = new Set<ParamKind>(['string', 'integer', 'boolean'])
const PREFIX = 'mcp-param-'
const DECIMAL = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?$/

/** Keywords of JSON Schema with schemas that are not reached by `properties` alone: a schema, or a list of them. */
const SCHEMAS_BELOW: ReadonlySet<string> = new Set(
  `additionalItems additionalProperties allOf anyOf contains contentSchema else if items not oneOf prefixItems
  propertyNames then unevaluatedItems unevaluatedProperties`.split(/\s+/),
)
/** The same of keywords with schemas under names. */
const NAMED_SCHEMAS_BELOW: ReadonlySet<string> = new Set(
  '$defs definitions dependencies dependentSchemas patternProperties'.split(' '),
)

/** A schema that is still to be looked at. */
interface OpenSchema {
  readonly schema: unknown
  readonly path: readonly string[]
  /** Reached from the root through `properties` alone. */
  readonly is_direct: boolean
}

/** The header declarations of an `inputSchema`, each checked by the rules of 2026-07-28. */
export function paramHeadersOf(input_schema: JsonValue | undefined): ParamHeaders {
  const headers: ParamHeader[] = []
  const names = new Set<string>()
  const open: OpenSchema[] = [{schema: input_schema, path: [], is_direct: true}]
  for (let next = open.pop(); next; next = open.pop()) {
    const {schema, path, is_direct} = next
    if (!isObject(schema)) continue
    if (Object.hasOwn(schema, KEYWORD)) {
      const declared = declarationOf(schema, path, is_direct)
      if (typeof declared === 'string') return {valid: false, headers: [], fault: declared}
      const name = declared.name.toLowerCase()
      if (names.has(name)) return {valid: false, headers: [], fault: `${KEYWORD} names ${declared.name} more than once`}
      names.add(name)
      headers.push(declared)
    }
    for (const below of schemasBelow(schema, path, is_direct).toReversed()) open.push(below)
  }
  return {valid: true, headers, fault: null}
}

function declarationOf(schema: JsonObject, path: readonly string[], is_direct: boolean): ParamHeader | string {
  const at = path.length === 0 ? 'the root' : printable(path.join('.'))
  const name = own(schema, KEYWORD)
  const kind = own(schema, 'type')
  if (!is_direct || path.length === 0) return `${KEYWORD} at ${at} is not reached through properties alone`
  if (typeof name !== 'string' || !TOKEN.test(name)) return `${KEYWORD} at ${at} is no name of a header`
  if (!KINDS.has(kind)) return `${KEYWORD} at ${at} is on another type than string, integer or boolean`
  return {name, path, kind: kind as ParamKind}
}

function schemasBelow(schema: JsonObject, path: readonly string[], is_direct: boolean): OpenSchema[] {
  const below: OpenSchema[] = []
  const properties = own(schema, 'properties')
  if (isObject(properties))
    for (const key of Object.keys(properties)) below.push({schema: properties[key], path: [...path, key], is_direct})
  for (const keyword of Object.keys(schema)) {
    const value = own(schema, keyword)
    const is_named = NAMED_SCHEMAS_BELOW.has(keyword)
    if (!is_named && !SCHEMAS_BELOW.has(keyword)) continue
    const parts = Array.isArray(value) ? value : is_named && isObject(value) ? Object.values(value) : [value]
    for (const part of parts) below.push({schema: part, path: [...path, keyword], is_direct: false})
  }
  return below
}

/** The headers of a call, from its arguments. Null and absent ones, and integers beyond 2^53, have none. */
export function paramHeaderValues(
  headers: readonly ParamHeader[],
  args: JsonValue | undefined,
): Readonly<Record<string, string>> {
  const values: Record<string, string> = {}
  for (const {name, path} of headers) {
    const text = argumentText(argumentAt(args, path))
    if (text !== null) values[PREFIX + name.toLowerCase()] = encodedHeaderValue(text)
  }
  return values
}

/**
 * Throws `header_mismatch` where a client's `Mcp-Param-*` differs from an argument, cannot be decoded, or is missing
 * while its argument is there. Integers are compared as numbers. A header without its argument is of no account.
 */
export function checkParamHeaders(declared: readonly ParamHeader[], message: RpcRequest, headers: HeaderFields): void {
  const args = own(message.params, 'arguments')
  for (const {name, path, kind} of declared) {
    const argument = argumentAt(args, path)
    const expected = argumentText(argument)
    if (expected === null) continue
    const mismatch = (what: string) =>
      new McpFault(
        'header_mismatch',
        {reason: `the header Mcp-Param-${name} ${what}; arguments.${path.join('.')} is ${printable(expected)}`},
        {id_text: message.id_text},
      )
    const value = headerValue(headers, PREFIX + name.toLowerCase())
    if (value === undefined) throw mismatch('is missing')
    const decoded = decodedHeaderValue(value)
    if (decoded === null) throw mismatch('opens with =?base64? and is not Base64 of UTF-8')
    const is_same =
      kind === 'integer' && typeof argument === 'number' && DECIMAL.test(decoded)
        ? Number(decoded) === argument
        : decoded === expected
    if (!is_same) throw mismatch(`says ${printable(decoded)}`)
  }
}

function argumentAt(args: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  let value = args
  for (const key of path) value = isObject(value) ? own(value, key) : undefined
  return value
}

/** An argument as a header says it; null where it has none. */
function argumentText(argument: JsonValue | undefined): string | null {
  if (typeof argument === 'string') return argument
  if (typeof argument === 'boolean') return String(argument)
  if (typeof argument !== 'number' || !Number.isFinite(argument)) return null
  return Number.isInteger(argument) && !Number.isSafeInteger(argument) ? null : String(argument)
}
