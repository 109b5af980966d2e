import {isObject, type JsonObject, own} from '../../base/json-member.ts'
import {memberText} from '../../base/json-splice.ts'
import {elementsOf} from '../../base/json-text.ts'
import type {McpServer} from '../call/server.ts'
import {checkedList} from '../content/lists.ts'
import {judgedEntry} from '../relay/allowed.ts'
import type {ServingParts} from '../serve/exchange.ts'
import {WALK_LIMITS} from '../sync/walk.ts'
import type {Hello, McpUpstream, RequestOptions} from '../upstream/upstream.ts'
import {edited, type TextEdit} from '../wire/edits.ts'
import {McpFault} from '../wire/faults.ts'
import {resultText} from '../wire/messages.ts'
import type {Era} from '../wire/versions.ts'

/** The definition of a tool as clients of an era have it. */
export interface ToolDefinition {
  readonly entry: JsonObject
  /** JSON text; the name in it is that of its own server. */
  readonly text: string
}

/** The tools of one server, by their own names. */
export interface MemberTools {
  /** Null where the server did not say what it is. */
  readonly hello: Hello | null
  readonly tools: ReadonlyMap<string, ToolDefinition>
  readonly bytes: number
}

const SINK = {notification: () => undefined, question: () => undefined}
const METHOD_UNKNOWN = -32601
const METHOD = 'tools/list'

/** Reads the whole list of a server's tools; keeps those of `chosen`. Rejects where it cannot be read. */
export async function readTools(
  upstream: McpUpstream,
  {server, client_era, chosen}: {server: McpServer; client_era: Era; chosen: ReadonlySet<string>},
  {services, tools: book}: ServingParts,
  options: RequestOptions,
): Promise<MemberTools> {
  const {hello} = upstream
  const tools = new Map<string, ToolDefinition>()
  const seen = new Set<string>()
  const cursors = new Set<string>()
  let cursor: string | undefined
  let bytes = 0
  for (let page = 0; page < WALK_LIMITS.most_pages; page++) {
    const params = cursor === undefined ? undefined : JSON.stringify({cursor})
    const answer = await upstream.request({method: METHOD, params}, SINK, options)
    const {result, error} = answer
    if (error?.code === METHOD_UNKNOWN) break
    if (!result) throw nonsense(server, `it answered ${METHOD} with the error ${error?.code}`)
    const text = resultText(answer)!
    bytes += Buffer.byteLength(text)
    const eras = {client: client_era, upstream: hello.era}
    const entries = definitionsIn(text, result, eras, seen)
    if (hello.era === 'modern')
      book.note(
        server,
        entries.map(({entry}) => entry),
      )
    const news = entries.filter(({key, entry}) => judgedEntry(METHOD, {at: 0, key, entry}, server).is_news)
    if (news.length > 0)
      services.sighted(
        server.integration,
        METHOD,
        news.map(({entry}) => entry),
      )
    for (const {key, ...definition} of entries) if (chosen.has(key)) tools.set(key, definition)
    const next = own(result, 'nextCursor')
    if (typeof next !== 'string' || cursors.has(next)) break
    if (seen.size > WALK_LIMITS.most_capabilities || bytes > WALK_LIMITS.most_bytes)
      throw nonsense(server, 'its list of tools is too long')
    cursors.add(next)
    cursor = next
  }
  return {hello, tools, bytes}
}

/** Definitions that were stored, as a list of them would be read. */
export function storedDefinitions(
  entries: readonly JsonObject[],
  eras: {readonly client: Era; readonly upstream: Era},
): MemberTools {
  const result = {tools: entries}
  const text = JSON.stringify(result)
  const definitions = definitionsIn(text, result, eras, new Set())
  const tools = new Map(definitions.map(({key, ...definition}) => [key, definition]))
  return {hello: null, tools, bytes: Buffer.byteLength(text)}
}

/** The sound entries of a page, each with the edits for its client's era made. */
function definitionsIn(
  text: string,
  result: JsonObject,
  eras: {readonly client: Era; readonly upstream: Era},
  seen: Set<string>,
): readonly (ToolDefinition & {readonly key: string})[] {
  const {edits, listed} = checkedList(METHOD, result, eras, seen)
  const list = memberText(text, 'tools')!
  const places = elementsOf(list)
  const by_place = new Map<number, TextEdit[]>()
  for (const edit of edits) {
    const [, at, ...path] = edit.path
    if (typeof at !== 'number' || path.length === 0) continue
    by_place.set(at, [...(by_place.get(at) ?? []), {...edit, path}])
  }
  return listed.flatMap(({at, key, entry}) => {
    const place = places[at]
    if (!place || !isObject(entry)) return []
    return [{key, entry, text: edited(list.slice(place.start, place.end), by_place.get(at) ?? [])}]
  })
}

function nonsense({slug}: McpServer, reason: string): McpFault {
  return new McpFault('upstream_nonsense', {server: slug, reason})
}
