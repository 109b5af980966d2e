import {
  acceptedContent,
  completable,
  createMcpHandler,
  fromJsonSchema,
  inputRequired,
  inputResponse,
  McpServer,
  ResourceTemplate,
  type ServerNotifier,
} from '@modelcontextprotocol/server'
import {z} from 'zod'
import {listen, type McpListener} from './listener.ts'
import {FixtureState, QUESTION, SAMPLING, text} from './tools.ts'
import {serveWeb} from './web.ts'

export interface ModernOptions {
  readonly port?: number
  readonly reply?: 'auto' | 'sse' | 'json'
}

export interface ModernFixture extends McpListener {
  readonly url: string
  readonly state: FixtureState
  /** Announces changes to those that listen. */
  readonly notify: ServerNotifier
}

/** A server on the official SDK v2, which speaks 2026-07-28 alone. */
export async function openModern({port, reply = 'auto'}: ModernOptions = {}): Promise<ModernFixture> {
  const state = new FixtureState()
  const handler = createMcpHandler(() => modernServer(state), {legacy: 'reject', responseMode: reply, keepAliveMs: 0})
  const listener = await listen((request, response, {body}) => serveWeb(handler.fetch, request, response, body), port)
  return {
    ...listener,
    url: `${listener.origin}/mcp`,
    state,
    notify: handler.notify,
    async close() {
      await handler.close()
      await listener.close()
    },
  }
}

function modernServer(state: FixtureState): McpServer {
  const server = new McpServer(
    {name: 'modern-fixture', version: '2.3.4'},
    {
      capabilities: {logging: {}, resources: {subscribe: true, listChanged: true}, tools: {listChanged: true}},
      instructions: 'Call echo.',
    },
  )
  addPlainTools(server, state)
  addAskingTools(server, state)
  addOthers(server)
  return server
}

function addPlainTools(server: McpServer, state: FixtureState) {
  server.registerTool('echo', {description: 'Says it again', inputSchema: z.object({text: z.string()})}, input => {
    state.ran('echo')
    return text(input.text)
  })
  const two = z.object({a: z.number(), b: z.number()})
  server.registerTool('add', {inputSchema: two, outputSchema: z.object({sum: z.number()})}, ({a, b}) => ({
    ...text(String(a + b)),
    structuredContent: {sum: a + b},
  }))
  server.registerTool('count', {}, () => {
    state.ran('count')
    return text(String(state.runs('count')))
  })
  server.registerTool('slow', {inputSchema: z.object({steps: z.number()})}, async ({steps}, {mcpReq}) => {
    const progressToken = mcpReq._meta?.progressToken
    for (let progress = 1; progressToken !== undefined && progress <= steps; progress++)
      await mcpReq.notify({method: 'notifications/progress', params: {progressToken, progress, total: steps}})
    return text(`${steps} steps`)
  })
  server.registerTool('hold', {inputSchema: z.object({tag: z.string().optional()})}, async ({tag}, {mcpReq}) => {
    state.ran('hold')
    return text(`${tag ?? ''} ${await state.hold(mcpReq.signal)}`.trim())
  })
  server.registerTool('log', {inputSchema: z.object({words: z.string()})}, async ({words}, {mcpReq}) => {
    await mcpReq.log('warning', words)
    return text('logged')
  })
  server.registerTool('fail', {}, () => ({...text('It failed.'), isError: true}))
  const marked = {type: 'string' as const, 'x-mcp-header': 'Region'}
  const region = fromJsonSchema<{region: string}>({type: 'object', properties: {region: marked}, required: ['region']})
  server.registerTool('region', {inputSchema: region}, input => text(input.region))
  const numbers = fromJsonSchema<number[]>({type: 'array', items: {type: 'number'}})
  server.registerTool('numbers', {outputSchema: numbers}, () => ({content: [], structuredContent: [1, 2, 3]}))
}

function addAskingTools(server: McpServer, state: FixtureState) {
  server.registerTool('ask', {}, ({mcpReq}) => {
    state.ran('ask')
    const view = inputResponse(mcpReq.inputResponses, 'sure')
    if (view.kind !== 'elicit')
      return inputRequired({inputRequests: {sure: inputRequired.elicit({mode: 'form', ...QUESTION})}})
    return text(`${view.action} ${JSON.stringify(acceptedContent(mcpReq.inputResponses, 'sure') ?? null)}`)
  })
  server.registerTool('sample', {}, ({mcpReq}) => {
    const view = inputResponse(mcpReq.inputResponses, 'model')
    if (view.kind !== 'sampling') return inputRequired({inputRequests: {model: inputRequired.createMessage(SAMPLING)}})
    return text(JSON.stringify(view.result.content))
  })
  server.registerTool('roots', {}, ({mcpReq}) => {
    const view = inputResponse(mcpReq.inputResponses, 'roots')
    if (view.kind !== 'roots') return inputRequired({inputRequests: {roots: inputRequired.listRoots()}})
    return text(view.roots.map(({uri}) => uri).join(' '))
  })
}

function addOthers(server: McpServer) {
  server.registerResource('note', 'note://one', {mimeType: 'text/plain'}, () => ({
    contents: [{uri: 'note://one', text: 'first'}],
  }))
  const template = new ResourceTemplate('page://{number}', {list: undefined, complete: {number: () => ['1', '2']}})
  server.registerResource('page', template, {}, (uri, {number}) => ({
    contents: [{uri: uri.href, text: `page ${String(number)}`}],
  }))
  const argsSchema = z.object({name: completable(z.string(), () => ['Ada', 'Alan'])})
  server.registerPrompt('greet', {argsSchema}, ({name}) => ({
    messages: [{role: 'user', content: {type: 'text', text: `Greet ${name}`}}],
  }))
}
