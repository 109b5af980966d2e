import {administer} from '../subjects/gateway.ts'
import type {CountingServers} from './tool-servers.ts'

/** What the callers of tools of one gateway know in the end. */
export interface ToolLoad {
  /** Markers of calls whose answer came in full. */
  readonly whole: string[]
  readonly sent: string[]
  /** Calls that wait for the answer to their question. */
  readonly waiting: WaitingCall[]
  /** Resolves when all have stopped: their gateway is gone. */
  readonly ended: Promise<void>
}

export interface WaitingCall {
  readonly marker: string
  readonly era: 'legacy' | 'modern'
  readonly state: string
  readonly questions: Readonly<Record<string, unknown>>
}

interface Message {
  readonly result?: {readonly requestState?: string; readonly inputRequests?: Record<string, unknown>}
  readonly error?: {readonly code: number; readonly message: string}
}

type Headers = Readonly<Record<string, string>>

/** Makes the servers `/legacy/mcp` and `/modern/mcp`, whose calls cost something. */
export async function serveTools(origin: string, {urls}: Pick<CountingServers, 'urls'>): Promise<void> {
  const call = administer(origin)
  const workspace_id = (await call<{data: {id: string}[]}>('GET', '/admin/workspaces')).data[0]!.id
  for (const [slug, url] of Object.entries(urls)) {
    const mcp_integration_id = `${slug}-tools`
    await call('POST', '/mcp-integrations', {
      ...{name: slug, slug: mcp_integration_id, url, auth_type: 'none', transport: 'http', workspace_id},
      configurations: {tool_prices: {default: 0.25}},
    })
    await call('POST', '/mcp-servers', {name: slug, slug, mcp_integration_id, workspace_id})
  }
}

/** Lets `clients` clients call tools, answered and asking ones at servers of both eras, until the gateway is gone. */
export function startToolLoad(origin: string, headers: Headers, clients: number, name: string): ToolLoad {
  const whole: string[] = []
  const sent: string[] = []
  const waiting = new Map<string, WaitingCall>()
  const client = async (which: number) => {
    for (let turn = 0; ; turn++) {
      const marker = `${name}-tool-${which}-${turn}`
      const era = (turn + which) % 2 === 0 ? 'legacy' : 'modern'
      const asks = turn % 3 === 2
      sent.push(marker)
      const first = await callTool(origin, headers, era, {name: asks ? 'ask' : 'count', arguments: {marker}})
      if (first === null) return
      if (asks) {
        const {requestState, inputRequests} = first.result ?? {}
        if (requestState === undefined || !inputRequests)
          throw new Error(`call ${marker} of ${era} has no question: ${JSON.stringify(first)}`)
        const call = {marker, era, state: requestState, questions: inputRequests} as const
        waiting.set(marker, call)
        const last = await answerTool(origin, headers, call)
        if (last === null) return
        waiting.delete(marker)
        if (last.error) throw new Error(`call ${marker} of ${era} is answered: ${JSON.stringify(last)}`)
      } else if (first.error) throw new Error(`call ${marker} of ${era} is answered: ${JSON.stringify(first)}`)
      whole.push(marker)
    }
  }
  const load = {
    whole,
    sent,
    get waiting() {
      return [...waiting.values()]
    },
  }
  const ended = Promise.all(Array.from({length: clients}, (_, which) => client(which))).then(() => undefined)
  return Object.assign(load, {ended})
}

/** Gives the answer of a call that waits; null: the gateway is gone. */
export function answerTool(origin: string, headers: Headers, call: WaitingCall): Promise<Message | null> {
  const {marker, era, state: requestState, questions} = call
  const accepted = {action: 'accept', content: {ok: true}}
  const inputResponses = Object.fromEntries(Object.keys(questions).map(key => [key, accepted]))
  return callTool(origin, headers, era, {name: 'ask', arguments: {marker}, requestState, inputResponses})
}

async function callTool(
  origin: string,
  {authorization}: Headers,
  era: 'legacy' | 'modern',
  params: {readonly name: string; readonly arguments: {readonly marker: string}; readonly [key: string]: unknown},
): Promise<Message | null> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {elicitation: {form: {}}},
    'io.modelcontextprotocol/clientInfo': {name: 'crash', version: '1'},
  }
  try {
    const reply = await fetch(`${origin}/${era}/mcp`, {
      method: 'POST',
      headers: {
        ...{authorization: authorization!, 'content-type': 'application/json'},
        ...{accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28'},
        ...{'mcp-method': 'tools/call', 'mcp-name': params.name, 'x-gateway-trace-id': params.arguments.marker},
      },
      body: JSON.stringify({jsonrpc: '2.0', id: 1, method: 'tools/call', params: {...params, _meta}}),
    })
    return messageIn(await reply.text())
  } catch {
    return null
  }
}

/** The last message of a reply; null where it was cut off. */
function messageIn(text: string): Message | null {
  if (text.startsWith('{')) return JSON.parse(text)
  const last = text.split('\n').findLast(line => line.startsWith('data: '))
  return last === undefined ? null : JSON.parse(last.slice('data: '.length))
}
