import {isObject, type JsonObject, type JsonValue, own} from '../../base/json-member.ts'
import {isClean} from '../../base/stored-text.ts'
import type {CapabilityDetails} from '../../schema/mcp-integrations.ts'
import type {CapabilityType} from '../../store/tables/registry.ts'
import type {ListMethod} from '../content/entries.ts'
import {definitionHash, definitionOf} from '../content/pins.ts'
import {printable} from '../wire/faults.ts'
import {paramHeadersOf} from '../wire/param-headers.ts'

/** Entries of lists as rows hold them. */

export const TYPE_OF: Readonly<Record<ListMethod, CapabilityType>> = {
  'tools/list': 'tool',
  'prompts/list': 'prompt',
  'resources/list': 'resource',
  'resources/templates/list': 'resource_template',
}

/** One capability that an upstream offers. */
export interface Offered {
  readonly type: CapabilityType
  readonly name: string
  readonly uri: string | null
  readonly details: CapabilityDetails
  /** JSON: the `inputSchema` of a tool that repeats arguments in headers. */
  readonly header_schema: string | null
  readonly definition: JsonObject
  readonly hash: string
}

/** The row of a capability that is known already. */
export interface KnownName {
  readonly type: CapabilityType
  readonly name: string
  readonly uri: string | null
}

const MOST_NAME_BYTES = 1_024

/**
 * The capabilities of one list. Of two resources of one name the second is named by its address, and one that has a row
 * keeps its name. What cannot be named is left out with a warning.
 */
export function offeredOf(
  type: CapabilityType,
  entries: readonly JsonObject[],
  known: readonly KnownName[],
): {readonly offered: readonly Offered[]; readonly warnings: readonly string[]} {
  const names = new Map(known.flatMap(row => (row.type === type && row.uri !== null ? [[row.uri, row.name]] : [])))
  const taken = new Set<string>()
  const offered: Offered[] = []
  const warnings: string[] = []
  const is_addressed = type === 'resource' || type === 'resource_template'
  const reserved = new Set(entries.flatMap(each => names.get(uriOf(each) ?? '') ?? []))
  for (const entry of entries) {
    const own_name = textOf(entry, 'name')!
    const uri = uriOf(entry)
    const kept = is_addressed ? names.get(uri ?? '') : undefined
    const wanted =
      kept ?? (taken.has(own_name) || (is_addressed && reserved.has(own_name)) ? (uri ?? own_name) : own_name)
    if (taken.has(wanted) || !isNameable(wanted) || (uri !== null && !isClean(uri))) {
      warnings.push(
        printable(`the ${type.replace('_', ' ')} ${wanted} cannot be named: its name is ${faultOf(wanted)}`),
      )
      continue
    }
    taken.add(wanted)
    offered.push(offer(type, wanted, uri, entry))
  }
  return {offered, warnings}

  function faultOf(name: string) {
    return taken.has(name) ? 'taken' : `empty, no clean text, or longer than ${MOST_NAME_BYTES} bytes`
  }
}

/** One entry of a list that passes by; its row is that of `name`. */
export function offer(type: CapabilityType, name: string, uri: string | null, entry: JsonObject): Offered {
  const definition = definitionOf(entry)
  return {
    ...{type, name, uri, definition},
    hash: definitionHash(definition),
    details: detailsOf(entry),
    header_schema: headerSchemaOf(type, entry),
  }
}

export function uriOf(entry: JsonObject): string | null {
  return textOf(entry, 'uri') ?? textOf(entry, 'uriTemplate')
}

function isNameable(name: string): boolean {
  return name !== '' && isClean(name) && Buffer.byteLength(name) <= MOST_NAME_BYTES
}

function headerSchemaOf(type: CapabilityType, entry: JsonObject): string | null {
  if (type !== 'tool') return null
  const schema = own(entry, 'inputSchema')
  const {valid, headers} = paramHeadersOf(schema)
  return valid && headers.length > 0 ? JSON.stringify(schema) : null
}

function detailsOf(entry: JsonObject): CapabilityDetails {
  const size = own(entry, 'size')
  return {
    title: textOf(entry, 'title'),
    description: textOf(entry, 'description'),
    icons: listOf(own(entry, 'icons')),
    input_schema: objectOf(own(entry, 'inputSchema')),
    output_schema: objectOf(own(entry, 'outputSchema')),
    execution: objectOf(own(entry, 'execution')),
    annotations: objectOf(own(entry, 'annotations')),
    arguments: listOf(own(entry, 'arguments')),
    uri: textOf(entry, 'uri'),
    uri_template: textOf(entry, 'uriTemplate'),
    mime_type: textOf(entry, 'mimeType'),
    size: typeof size === 'number' ? size : null,
  }
}

function textOf(entry: JsonObject, key: string): string | null {
  const value = own(entry, key)
  return typeof value === 'string' ? value : null
}

function objectOf(value: JsonValue | undefined): Record<string, unknown> | null {
  return isObject(value) ? value : null
}

function listOf(value: JsonValue | undefined): unknown[] | null {
  return Array.isArray(value) ? [...value] : null
}
