import {isObject, type JsonObject, own} from '../../base/json-member.ts'
import type {McpUpstream, RequestOptions} from '../upstream/upstream.ts'

const MOST_PAGES = 50
const SINK = {notification: () => undefined, question: () => undefined}

/** The `outputSchema` of a tool, as its upstream lists it now; null for none. Throws the faults of the upstream. */
export async function outputSchemaOf(
  upstream: McpUpstream,
  tool: string,
  options: RequestOptions,
): Promise<JsonObject | null> {
  let cursor: string | undefined
  for (let page = 0; page < MOST_PAGES; page++) {
    const params = cursor === undefined ? undefined : JSON.stringify({cursor})
    const {result} = await upstream.request({method: 'tools/list', params}, SINK, options)
    const tools = own(result, 'tools')
    const found = Array.isArray(tools) ? tools.find(each => own(each, 'name') === tool) : undefined
    if (found) {
      const schema = own(found, 'outputSchema')
      return isObject(schema) ? schema : null
    }
    const next = own(result, 'nextCursor')
    if (typeof next !== 'string' || next === cursor) return null
    cursor = next
  }
  return null
}
