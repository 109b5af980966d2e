import {own} from '../../base/json-member.ts'
import {CALL_TOOL, FIND_TOOLS} from '../../schema/mcp-virtual.ts'
import type {McpServer} from '../call/server.ts'
import {McpFault} from '../wire/faults.ts'
import type {RpcRequest} from '../wire/messages.ts'
import {ranked, type SearchedText} from './search.ts'
import {isForModels, type ShownTool} from './shown-tools.ts'

/** The two tools by which a long list is searched and called. */

const MOST_FOUND = 30
const USUALLY_FOUND = 10

/** Their definitions: JSON texts. `tools`: those that a search may find. */
export function ownTools({virtual}: McpServer): readonly string[] {
  const servers = [...new Set(virtual!.tools.map(({server}) => server.slug))].join(', ')
  const find = {
    name: FIND_TOOLS,
    title: 'Find tools',
    description:
      'Finds tools by words in their names and descriptions, best first. ' +
      `${virtual!.tools.length} tools are offered here${servers && `, of ${servers}`}. Each comes with the schema of its arguments; call it by ${CALL_TOOL}.`,
    inputSchema: {
      type: 'object',
      properties: {
        query: {type: 'string', description: 'Words that name or describe the tool; none gives the first tools.'},
        limit: {type: 'integer', minimum: 1, maximum: MOST_FOUND, description: `Usually ${USUALLY_FOUND}.`},
      },
      required: ['query'],
    },
    annotations: {readOnlyHint: true, openWorldHint: false},
  }
  const call = {
    name: CALL_TOOL,
    title: 'Call a tool',
    description: `Calls a tool that ${FIND_TOOLS} found, by its name there and with arguments that fit its schema.`,
    inputSchema: {
      type: 'object',
      properties: {
        name: {type: 'string', description: 'The name of the tool.'},
        arguments: {type: 'object', description: 'Its arguments.'},
      },
      required: ['name'],
    },
  }
  return [JSON.stringify(find), JSON.stringify(call)]
}

/** The result of a search: JSON text. Throws `params_invalid`. */
export function foundTools({params, id_text}: RpcRequest, shown: readonly ShownTool[]): string {
  const given = own(params, 'arguments')
  const query = own(given, 'query') ?? ''
  const limit = own(given, 'limit') ?? USUALLY_FOUND
  const invalid = (reason: string) => new McpFault('params_invalid', {reason}, {id_text})
  if (typeof query !== 'string') throw invalid('query has to be a text')
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1)
    throw invalid('limit has to be a whole number from 1 on')
  const searched = shown.filter(isForModels)
  const places = query.trim() === '' ? [...searched.keys()] : ranked(query, searched.map(textsOf))
  const texts = places.slice(0, Math.min(limit, MOST_FOUND)).map(at => searched[at]!.text)
  const found = `{"tools":[${texts.join(',')}]}`
  return `{"content":[{"type":"text","text":${JSON.stringify(found)}}],"structuredContent":${found}}`
}

const NAME_WEIGHT = 3
const TITLE_WEIGHT = 2

function textsOf({tool, entry}: ShownTool): readonly SearchedText[] {
  const texts = [{text: `${tool.name} ${tool.tool}`, weight: NAME_WEIGHT}]
  for (const [member, weight] of [
    ['title', TITLE_WEIGHT],
    ['description', 1],
  ] as const) {
    const text = own(entry, member)
    if (typeof text === 'string') texts.push({text, weight})
  }
  return texts
}
