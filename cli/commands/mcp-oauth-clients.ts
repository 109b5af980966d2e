import type {Command} from 'commander'
import {withGateway} from '../connect.ts'
import {usageFault} from '../fault.ts'
import {group, leaf, type WorkspaceOption, withWorkspace} from '../options.ts'
import {workspaceIfSaid} from '../workspace.ts'
import {deleteCommand, listCommand, minute, type Noun, named, showCommand} from './rows.ts'

const noun: Noun<'mcp_oauth_clients'> = {
  command: 'mcp-oauth-clients',
  one: 'OAuth client',
  many: 'OAuth clients of MCP',
  operations: 'mcp_oauth_clients',
  param: 'clientId',
  example: 'mcp_client_house-assistant',
  one_in_workspace: false,
  of_organisation: true,
  columns: [
    {title: 'id', value: row => row.id, whole: true},
    {title: 'name', value: row => row.name},
    {title: 'secret', value: row => row.token_endpoint_auth_method !== 'none'},
    {title: 'consent', value: row => (row.skips_consent ? 'skipped' : 'by each person'), optional: 1},
    {title: 'last used', value: row => (row.last_used_at === null ? 'never' : minute(row.last_used_at))},
  ],
}

/** `gateway mcp-oauth-clients`: programs that people and machines use MCP servers with, made by an administrator. */
export function mcpOauthClients(): Command {
  return group('mcp-oauth-clients', 'OAuth clients of MCP that an administrator makes', [
    create(),
    listCommand(noun),
    showCommand(noun),
    update(),
    deleteCommand(noun, 'its tokens work no longer'),
  ])
}

interface RuleOptions {
  readonly redirect?: readonly string[]
  readonly scope?: readonly string[]
  readonly skipsConsent?: boolean
  readonly actsForItself?: boolean
}

interface CreateOptions extends RuleOptions, WorkspaceOption {
  readonly secret?: boolean
}

function create(): Command {
  const command = leaf('create', 'Make an OAuth client; its secret is shown this once', [
    'gateway mcp-oauth-clients create assistant --redirect https://assistant.example.com/callback --skips-consent',
    'gateway mcp-oauth-clients create nightly --secret --acts-for-itself --scope mcp:tools:list --quiet',
  ])
    .argument('<name>', 'what people see')
    .option('--secret', 'it keeps a secret: a service, not a program of people')
  return withWorkspace(rules(command), 'only the servers of this workspace').action(
    (name: string, options: CreateOptions, self: Command) =>
      withGateway(self, async gateway => {
        const workspace_id = await workspaceIfSaid(gateway, options.workspace)
        const method = options.secret ? {token_endpoint_auth_method: 'client_secret_basic' as const} : {}
        const body = {name, ...method, ...written(options), ...(workspace_id !== undefined && {workspace_id})}
        const reply = await gateway.call('mcp_oauth_clients.create', {body})
        gateway.print.made(reply, reply.client_secret ?? reply.id, `Made the OAuth client ${reply.id}.`)
        if (reply.client_secret === null) return
        gateway.print.note(`Its secret is ${reply.client_secret}. Keep it now: it is not shown again.`)
      }),
  )
}

function update(): Command {
  const command = leaf('update', 'Change what an OAuth client may do', [
    'gateway mcp-oauth-clients update mcp_client_house-assistant --no-skips-consent',
  ])
    .option('--name <name>', 'what people see')
    .option('--no-skips-consent', 'people see the page of consent')
    .option('--no-acts-for-itself', 'it gets no tokens without a person')
  return rules(named(command, noun)).action((id: string, options: RuleOptions & {name?: string}, self: Command) =>
    withGateway(self, async gateway => {
      const body = {...written(options), ...(options.name !== undefined && {name: options.name})}
      if (!Object.keys(body).length)
        throw usageFault('Nothing to change was named.', 'See: gateway mcp-oauth-clients update --help')
      const reply = await gateway.call('mcp_oauth_clients.update', {params: {clientId: id}, body})
      gateway.print.done(reply, `Changed the OAuth client ${id}.`)
    }),
  )
}

function rules(command: Command): Command {
  return command
    .option('--redirect <uri...>', 'where it hears the answer: https, http to localhost, or a scheme of an app')
    .option('--scope <scope...>', 'the most that it may have (default: any)')
    .option('--skips-consent', 'people see no page of consent')
    .option('--acts-for-itself', 'it gets tokens without a person; needs a secret')
}

function written({redirect, scope, skipsConsent, actsForItself}: RuleOptions) {
  return {
    ...(redirect !== undefined && {redirect_uris: [...redirect]}),
    ...(scope !== undefined && {scopes: [...scope]}),
    ...(skipsConsent !== undefined && {skips_consent: skipsConsent}),
    ...(actsForItself !== undefined && {acts_for_itself: actsForItself}),
  }
}
