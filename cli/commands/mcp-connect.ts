import type {Command} from 'commander'
import {type Gateway, withGateway} from '../connect.ts'
import {CommandFault, EXIT} from '../fault.ts'
import {mcpFault, mcpRequest} from '../mcp-client.ts'
import {readWhole} from '../option-parsers.ts'
import {leaf} from '../options.ts'

interface ConnectOptions {
  readonly timeout: string
}

const LOOK_EVERY_MS = 2000

/** `gateway mcp connect`: the sign-in of a person at the server behind an MCP server. */
export function connected(): Command {
  return leaf('connect', 'Sign in at the server behind an MCP server, where each person does (oauth_auto)', [
    'gateway mcp connect docs',
    'gateway mcp connect docs --timeout 60',
  ])
    .argument('<server>', 'slug of the MCP server')
    .option('--timeout <seconds>', 'how long to wait for the sign-in', '300')
    .action((server: string, options: ConnectOptions, self: Command) =>
      withGateway(self, async gateway => {
        const limit_ms = readWhole(options.timeout, '--timeout', 1, 3600) * 1000
        const {print} = gateway
        const {error} = await mcpRequest(gateway, server, {method: 'tools/list'})
        const url = error?.data?.authorizationUrl
        if (error && url === undefined) throw mcpFault(error, server, gateway)
        if (url !== undefined) {
          print.note(`Open this address, and sign in: ${url}`)
          await waited(gateway, server, limit_ms)
        }
        const reply = await state(gateway, server)
        print.done(reply, `You are connected to ${server}.`)
      }),
    )
}

function state({call}: Gateway, server: string) {
  return call('mcp_servers.get_tokens', {params: {mcpServerId: server.split('/').at(-1)!}})
}

async function waited(gateway: Gateway, server: string, limit_ms: number): Promise<void> {
  const {world} = gateway
  const until = world.now() + limit_ms
  const ended = new AbortController()
  const off = world.onSignal(() => ended.abort())
  try {
    while (!(await state(gateway, server)).connected) {
      if (ended.signal.aborted || world.now() >= until)
        throw new CommandFault('Nobody signed in within the time.', {
          exit: EXIT.failure,
          code: 'not_connected',
          next: `Begin again: ${gateway.typed(`mcp connect ${server}`)}`,
        })
      await world.sleep(LOOK_EVERY_MS, ended.signal)
    }
  } finally {
    off()
  }
}
