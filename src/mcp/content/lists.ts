import {isObject, type JsonObject, type JsonValue, own} from '../../base/json-member.ts'
import type {TextEdit} from '../wire/edits.ts'
import {McpFault, printable} from '../wire/faults.ts'
import {paramHeadersOf} from '../wire/param-headers.ts'
import type {Era} from '../wire/versions.ts'
import {entryFault, LISTS, type ListMethod} from './entries.ts'
import {isWrapped, withoutBooleans, wrappedSchema} from './schemas.ts'

/** An entry that a client does not see. */
export interface LeftOutEntry {
  /** Its name or address; null where it has none. */
  readonly key: string | null
  readonly reason: string
  /** `all`: it breaks the revision of the upstream. `era`: clients of this era alone do not see it. */
  readonly for: 'all' | 'era'
}

/** An entry that a client sees. `at`: its index in the upstream's list. */
export interface ListedEntry {
  readonly at: number
  readonly key: string
  readonly entry: JsonObject
}

export interface CheckedList {
  /** Of the result, for a client of the era: further ones may be added before they are made. */
  readonly edits: readonly TextEdit[]
  readonly listed: readonly ListedEntry[]
  /** Each is a warning of the sync. */
  readonly left_out: readonly LeftOutEntry[]
}

export interface ListEras {
  readonly client: Era
  readonly upstream: Era
}

/**
 * One page of an upstream's list for clients of an era. Entries that break a revision are left out and their neighbours
 * keep their bytes; schemas are written as the era has them. `seen` has the keys of the pages before, and gets those of
 * this one. Throws `upstream_nonsense` where there is no list.
 */
export function checkedList(
  method: ListMethod,
  result: JsonObject,
  eras: ListEras,
  seen: Set<string> = new Set(),
): CheckedList {
  const {member, key: key_member} = LISTS[method]
  const entries = own(result, member)
  if (!Array.isArray(entries)) throw new McpFault('upstream_nonsense', {reason: `${method} has no list of ${member}`})
  const edits: TextEdit[] = []
  const listed: ListedEntry[] = []
  const left_out: LeftOutEntry[] = []
  for (const [at, entry] of (entries as readonly JsonValue[]).entries()) {
    const named = own(entry, key_member)
    const key = typeof named === 'string' ? named : null
    const fault = entryFault(method, eras.upstream, entry) ?? (seen.has(key!) ? 'its name comes more than once' : null)
    if (fault === null) seen.add(key!)
    const for_era = fault === null && method === 'tools/list' ? toolForEra(entry as JsonObject, [member, at], eras) : []
    if (fault === null && typeof for_era !== 'string') {
      for (const edit of for_era) edits.push(edit)
      listed.push({at, key: key!, entry: entry as JsonObject})
      continue
    }
    edits.push({path: [member, at], set: undefined})
    const reason = printable(fault ?? String(for_era))
    left_out.push({key: key === null ? null : printable(key), reason, for: fault === null ? 'era' : 'all'})
  }
  return {edits, listed, left_out}
}

/** Edits that write a tool as an era has it, or the reason why clients of the era do not see it. */
function toolForEra(tool: JsonObject, at: readonly (string | number)[], eras: ListEras): readonly TextEdit[] | string {
  const is_across = eras.client !== eras.upstream
  if (is_across && own(own(tool, 'execution'), 'taskSupport') === 'required')
    return 'it runs as a task, which is not relayed between the eras'
  const input = own(tool, 'inputSchema')
  const output = own(tool, 'outputSchema')
  if (eras.client === 'modern') {
    const {fault} = paramHeadersOf(input)
    if (fault !== null) return fault
    return is_across ? (entryFault('tools/list', 'modern', tool) ?? []) : []
  }
  if (!is_across || !isObject(input)) return []
  const edits = [withoutBooleans(input, [...at, 'inputSchema'])]
  const needs_wrap = isObject(output) && isWrapped(output)
  if (needs_wrap) edits.push(wrappedSchema(output, [...at, 'outputSchema']))
  else if (isObject(output)) edits.push(withoutBooleans(output, [...at, 'outputSchema']))
  return legacyFault(tool, input, needs_wrap || !isObject(output) ? undefined : output) ?? edits.flat()
}

/** The fault that a modern tool has for legacy clients beside what its edits change. */
function legacyFault(tool: JsonObject, input: JsonObject, output: JsonObject | undefined): string | null {
  const read = {...tool, inputSchema: withObjects(input), outputSchema: output && withObjects(output)}
  return entryFault('tools/list', 'legacy', read)
}

function withObjects(schema: JsonObject): JsonObject {
  const properties = own(schema, 'properties')
  if (!isObject(properties)) return schema
  const entries = Object.entries(properties).map(([key, value]) => [key, typeof value === 'boolean' ? {} : value])
  return {...schema, properties: Object.fromEntries(entries)}
}

/** The new `nextCursor`, and a warning of the sync where it is left out. */
export interface CheckedCursor {
  readonly edits: readonly TextEdit[]
  /** The cursor of the next page; null of the last one. The empty text is a cursor. */
  readonly next: string | null
  readonly warning: string | null
}

/** Leaves out a cursor that leads nowhere: that of the request itself, and what is no text. */
export function checkedCursor(result: JsonObject, asked_with: string | undefined): CheckedCursor {
  const next = own(result, 'nextCursor')
  if (next === undefined) return {edits: [], next: null, warning: null}
  const edits: readonly TextEdit[] = [{path: ['nextCursor'], set: undefined}]
  if (typeof next !== 'string') return {edits, next: null, warning: 'nextCursor is no text'}
  if (next === asked_with) return {edits, next: null, warning: 'nextCursor is the cursor that the page was asked with'}
  return {edits: [], next, warning: null}
}
