import type {Command} from 'commander'
import type {JsonValue} from '../../src/base/json-member.ts'
import {paramHeadersOf, paramHeaderValues} from '../../src/mcp/wire/param-headers.ts'
import {type Gateway, withGateway} from '../connect.ts'
import {CommandFault, EXIT, usageFault} from '../fault.ts'
import {type McpProgress, type McpQuestion, type McpResult, mcpFault, mcpRequest} from '../mcp-client.ts'
import {readJson, readPairs} from '../option-parsers.ts'
import {leaf} from '../options.ts'
import {progressOn} from '../progress.ts'
import {plain} from '../width.ts'

interface CallOptions {
  readonly arg?: readonly string[]
  readonly jsonArgs?: string
}

const MOST_ROUNDS = 10
/** Characters of a message beside the bar. */
const MOST_MESSAGE = 40
/** Headers and body differ (2026-07-28). */
const HEADERS_DIFFER = -32020

/** `gateway mcp call`: one call of a tool, through the gateway. */
export function called(): Command {
  return leaf('call', 'Call a tool of a server through the gateway, with your key', [
    'gateway mcp call docs search --arg query=billing --arg limit=5',
    `gateway mcp call docs search --json-args '{"query": "billing"}' --json`,
  ])
    .argument('<server>', 'slug of the MCP server')
    .argument('<tool>', 'name of the tool')
    .option('--arg <name=value...>', 'arguments; a value that is JSON is taken as that, any other as text')
    .option('--json-args <json>', 'all arguments as one JSON object')
    .action((server: string, tool: string, options: CallOptions, self: Command) =>
      withGateway(self, async gateway => {
        const result = await callTool(gateway, server, {name: tool, arguments: argumentsOf(options)})
        show(gateway, result)
        if (result.isError === true)
          throw new CommandFault(`The tool ${tool} reports an error.`, {exit: EXIT.failure, code: 'tool_error'})
      }),
    )
}

function argumentsOf({arg, jsonArgs}: CallOptions): object {
  if (arg && jsonArgs !== undefined) throw usageFault('Give --arg or --json-args, not both.')
  if (jsonArgs === undefined)
    return Object.fromEntries(
      Object.entries(readPairs(arg ?? [], '--arg')).map(([name, text]) => [name, argumentValue(text)]),
    )
  const given = readJson(jsonArgs, '--json-args')
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw usageFault('--json-args takes a JSON object.', `For example: --json-args '{"query": "billing"}'`)
  return given
}

function argumentValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The result of a call; questions on the way are answered at the terminal, and declined where there is none. */
async function callTool(gateway: Gateway, server: string, params: Readonly<Record<string, unknown>>) {
  const {ask} = gateway.world
  const capabilities = {elicitation: {form: {}, url: {}}}
  let more: Record<string, unknown> = {}
  let headers: Readonly<Record<string, string>> = {}
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const once = () =>
      withBar(gateway, onProgress =>
        mcpRequest(
          gateway,
          server,
          {method: 'tools/call', params: {...params, ...more}, headers, onProgress},
          capabilities,
        ),
      )
    let {result, error} = await once()
    if (error?.code === HEADERS_DIFFER && round === 0) {
      headers = await argumentHeaders(gateway, server, params)
      ;({result, error} = await once())
    }
    if (error) throw mcpFault(error, server, gateway)
    if (result!.resultType !== 'input_required') return result!
    const inputResponses: Record<string, unknown> = {}
    for (const [key, question] of Object.entries(result!.inputRequests ?? {}))
      inputResponses[key] = await answerTo(question, gateway, ask)
    more = {inputResponses, ...(result!.requestState !== undefined && {requestState: result!.requestState})}
  }
  throw new CommandFault(`The server had more than ${MOST_ROUNDS} rounds of questions.`, {
    exit: EXIT.failure,
    code: 'too_many_rounds',
  })
}

/** Draws how far the work has come, as the server says it. */
async function withBar<T>({world, print}: Gateway, work: (onProgress: (at: McpProgress) => void) => Promise<T>) {
  const bar = progressOn(world, print)
  try {
    return await work(({progress, total, message}) =>
      bar.step(progress, total ?? progress, plain(message ?? '').slice(0, MOST_MESSAGE)),
    )
  } finally {
    bar.end()
  }
}

/** Headers that repeat arguments: those that the tool's schema marks with `x-mcp-header`. */
async function argumentHeaders(
  gateway: Gateway,
  server: string,
  {name, arguments: args}: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, string>>> {
  const {result} = await mcpRequest(gateway, server, {method: 'tools/list'})
  const tools = (result?.tools ?? []) as readonly {readonly name: string; readonly inputSchema?: JsonValue}[]
  const {headers} = paramHeadersOf(tools.find(each => each.name === name)?.inputSchema)
  return paramHeaderValues(headers, args as JsonValue)
}

type Ask = Gateway['world']['ask']

async function answerTo({method, params = {}}: McpQuestion, {print}: Gateway, ask: Ask): Promise<object> {
  if (method !== 'elicitation/create' || !ask) {
    print.note(`The server asks something, and nobody can answer: declined. ${plain(params.message ?? '')}`.trim())
    return {action: 'decline'}
  }
  print.note(plain(params.message ?? 'The server asks:'))
  if (params.mode === 'url') {
    const done = await ask(`Open ${plain(params.url ?? '')} and press Enter when you are done, or type n to decline: `)
    return {action: /^\s*n/i.test(done) ? 'decline' : 'accept'}
  }
  const content: Record<string, unknown> = {}
  for (const [name, {type}] of Object.entries(params.requestedSchema?.properties ?? {})) {
    const text = await ask(`${plain(name)}${type === undefined ? '' : ` (${plain(String(type))})`}, empty to decline: `)
    if (text.trim() === '') return {action: 'decline'}
    content[name] = type === 'string' || type === undefined ? text.trim() : argumentValue(text.trim())
  }
  return {action: 'accept', content}
}

function show({print}: Gateway, result: McpResult) {
  if (print.json) return print.json_reply(result)
  const {content = [], structuredContent} = result as {
    readonly content?: readonly {readonly type: string; readonly text?: string; readonly uri?: string}[]
    readonly structuredContent?: unknown
  }
  for (const {type, text, uri} of content)
    for (const line of (text ?? `[${type}${uri === undefined ? '' : ` ${uri}`}]`).split('\n')) print.line(plain(line))
  if (content.length === 0 && structuredContent !== undefined) print.line(plain(JSON.stringify(structuredContent)))
}
