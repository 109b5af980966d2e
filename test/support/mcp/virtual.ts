import {openRaw, RAW_INITIALIZE, type RawFixture, type Scripts} from './raw-server.ts'
import type {McpGateway} from './served.ts'

export interface PlainTool {
  readonly name: string
  readonly description?: string
  readonly [member: string]: unknown
}

/** A legacy server with these tools: a call of one gives the words of the server, and the tool's own name. */
export function openTools(words: string, tools: readonly PlainTool[], scripts: Scripts = {}): Promise<RawFixture> {
  return openRaw({
    initialize: answer =>
      answer.headers({'mcp-session-id': `${words}-session`}).result({...RAW_INITIALIZE, instructions: `Of ${words}.`}),
    'tools/list': answer => answer.result({tools: tools.map(each => ({inputSchema: {type: 'object'}, ...each}))}),
    'tools/call': (answer, {message}) => {
      const {name, arguments: given} = message!.params as {name: string; arguments?: object}
      answer.result({content: [{type: 'text', text: `${words} ${name} ${JSON.stringify(given ?? null)}`}]})
    },
    ...scripts,
  })
}

export interface ChosenTool {
  readonly server: string
  readonly tool: string
  readonly name?: string
}

/** Makes a virtual server in the first workspace. */
export async function virtualServer(mcp: McpGateway, slug: string, tools: readonly ChosenTool[], more: object = {}) {
  const {id} = await mcp.workspace()
  const virtual = {tools, ...more}
  await mcp.gateway.admin('POST', '/mcp-servers', {name: slug, slug, workspace_id: id, virtual})
}

/** The requests of a method that a server had. */
export function requestsOf({requests}: RawFixture, method: string) {
  return requests.filter(({message}) => message?.method === method)
}
