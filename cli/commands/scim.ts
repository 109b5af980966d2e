import type {Command} from 'commander'
import {withGateway} from '../connect.ts'
import {
  type ConfirmOption,
  confirmed,
  type ExpiryOption,
  expiryOf,
  group,
  leaf,
  type WorkspaceOption,
  withConfirm,
  withExpiry,
  withWorkspace,
} from '../options.ts'
import type {TableColumn} from '../table.ts'
import {workspaceIfSaid} from '../workspace.ts'
import {minute} from './rows.ts'

interface TokenRow {
  readonly id: string
  readonly name: string
  readonly masked: string
  readonly expires_at: string | null
  readonly last_used_at: string | null
}

const COLUMNS: readonly TableColumn<TokenRow>[] = [
  {title: 'id', value: row => row.id, whole: true},
  {title: 'name', value: row => row.name},
  {title: 'token', value: row => row.masked},
  {title: 'last used', value: row => (row.last_used_at === null ? 'never' : minute(row.last_used_at))},
  {title: 'ends', value: row => (row.expires_at === null ? 'never' : minute(row.expires_at)), optional: 1},
]

interface GroupRow {
  readonly id: string
  readonly name: string
  readonly external_id: string | null
  readonly members: number
  readonly mappings: readonly object[]
}

const GROUP_COLUMNS: readonly TableColumn<GroupRow>[] = [
  {title: 'name', value: row => row.name},
  {title: 'members', value: row => row.members, align: 'right'},
  {title: 'mapped', value: row => row.mappings.length, align: 'right'},
  {title: 'id', value: row => row.id, whole: true},
  {title: 'external id', value: row => row.external_id ?? '', whole: true, optional: 1},
]

/** `gateway scim`: what a directory needs to bring users and groups. */
export function scim(): Command {
  return group('scim', 'SCIM: a directory brings users and groups', [
    group('tokens', 'Tokens of directories', [create(), list(), remove()]),
    groups(),
  ])
}

function create(): Command {
  const command = leaf('create', 'Make a token for a directory; it is shown this once', [
    'gateway scim tokens create entra',
    'gateway scim tokens create okta --expires 365d --quiet',
  ]).argument('<name>', 'what to call it')
  return withExpiry(command).action((name: string, options: ExpiryOption, self: Command) =>
    withGateway(self, async ({call, print, world}) => {
      const reply = await call('scim_tokens.create', {body: {name, ...expiryOf(options, world)}})
      print.made(reply, reply.token, reply.token)
      print.note('Keep it now: it is not shown again. The directory finds the gateway at /scim/v2.')
    }),
  )
}

function list(): Command {
  return leaf('list', 'List the tokens that work', ['gateway scim tokens list']).action((_: object, self: Command) =>
    withGateway(self, async ({call, print}) => {
      const reply = await call('scim_tokens.list')
      print.list(reply, reply.data, COLUMNS, reply.total)
    }),
  )
}

function remove(): Command {
  const command = leaf('delete', 'Take a token from a directory', [
    'gateway scim tokens delete 0b6f2a52-7c1e-4f0e-9c38-6a4d1f2b3c4d --yes',
  ]).argument('<id>', 'its id, as the list shows it')
  return withConfirm(command).action((id: string, options: ConfirmOption, self: Command) =>
    withGateway(self, async ({call, print, world}) => {
      await confirmed(world, `Take the token ${id} from its directory`, options)
      print.done(await call('scim_tokens.delete', {params: {scimTokenId: id}}), 'The token works no longer.')
    }),
  )
}

function groups(): Command {
  const command = leaf('groups', 'List the groups of directories, and in how many workspaces they are mapped', [
    'gateway scim groups --search sales',
  ]).option('--search <text>', 'only groups with this in their name')
  return withWorkspace(command, 'only those that are mapped there').action(
    (options: WorkspaceOption & {search?: string}, self: Command) =>
      withGateway(self, async gateway => {
        const workspace_id = await workspaceIfSaid(gateway, options.workspace)
        const query = {workspace_id, search: options.search, page_size: 1000}
        const reply = await gateway.call('scim_groups.list', {query})
        gateway.print.list(reply, reply.groups, GROUP_COLUMNS, reply.total_count)
      }),
  )
}
