import type {Command} from 'commander'
import {withGateway} from '../connect.ts'
import {jsonFrom, leaf} from '../options.ts'
import {type Noun, named} from './rows.ts'

/** Commands about the caller at the server behind an MCP server. */
export function signInCommands(noun: Noun<'mcp_servers'>): readonly Command[] {
  return [mayUse(noun), setTokens(noun), client(noun)]
}

function mayUse(noun: Noun<'mcp_servers'>): Command {
  return named(
    leaf('may-use', 'Say whether you may use an MCP server', ['gateway mcp-servers may-use docs']),
    noun,
  ).action((slug: string, _: object, self: Command) =>
    withGateway(self, async gateway => {
      const reply = await gateway.call('mcp_servers.check_user_access', {params: {mcpServerId: slug}})
      gateway.print.view(reply, reply)
    }),
  )
}

function setTokens(noun: Noun<'mcp_servers'>): Command {
  return named(
    leaf('set-tokens', 'Keep tokens that you have of the server behind an MCP server', [
      'gateway mcp-servers set-tokens docs --file tokens.json --url https://gateway.example.com',
    ]),
    noun,
  )
    .requiredOption('--file <path>', 'JSON with access_token and refresh_token; - reads stdin')
    .action((slug: string, {file}: {readonly file: string}, self: Command) =>
      withGateway(self, async gateway => {
        const body = await jsonFrom(gateway.world, file, '--file')
        const reply = await gateway.call('mcp_servers.set_tokens', {params: {mcpServerId: slug}, body})
        gateway.print.done(reply, `Kept your tokens of the server of ${slug}.`)
      }),
    )
}

function client(noun: Noun<'mcp_servers'>): Command {
  return named(
    leaf('client', 'Show the OAuth client that the gateway is at the server behind an MCP server', [
      'gateway mcp-servers client docs',
    ]),
    noun,
  ).action((slug: string, _: object, self: Command) =>
    withGateway(self, async gateway => {
      const reply = await gateway.call('mcp_servers.get_client_info', {params: {mcpServerId: slug}})
      gateway.print.view(reply, reply)
    }),
  )
}
