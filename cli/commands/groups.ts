import type {Command} from 'commander'
import {unchecked} from '../client.ts'
import {withGateway} from '../connect.ts'
import {slugsOf} from '../finding/slugs.ts'
import {
  type ConfirmOption,
  confirmed,
  group,
  leaf,
  type WorkspaceOption,
  withConfirm,
  withWorkspace,
} from '../options.ts'
import type {TableColumn} from '../table.ts'
import {workspaceFor, workspaceIfSaid} from '../workspace.ts'

interface MappingRow {
  readonly id: string
  readonly scim_group: string
  readonly workspace_id: string
  readonly role: string
}

/** `workspaces` are slugs by id. */
const columnsOf = (workspaces: ReadonlyMap<string, string>): readonly TableColumn<MappingRow>[] => [
  {title: 'group', value: row => row.scim_group},
  {title: 'role', value: row => row.role},
  {title: 'workspace', value: row => workspaces.get(row.workspace_id) ?? row.workspace_id, optional: 1},
  {title: 'id', value: row => row.id, whole: true, essential: true},
]

/** `gateway groups`: what groups of a directory may do in workspaces. */
export function groups(): Command {
  return group('groups', 'Groups of a directory (SCIM), and the role their people have in workspaces', [
    map(),
    list(),
    unmap(),
  ])
}

function map(): Command {
  const command = leaf('map', 'Give a group a role in a workspace, also before its directory tells of it', [
    'gateway groups map "Search team" --workspace research --role member',
  ])
    .argument('<group>', 'name of the group')
    .option('--role <role>', 'admin, manager or member', 'member')
  return withWorkspace(command, 'which workspace').action(
    (name: string, options: WorkspaceOption & {role: string}, self: Command) =>
      withGateway(self, async gateway => {
        const workspace_id = await workspaceFor(gateway, options.workspace)
        const body = unchecked({scim_group_name: name, role: options.role, workspace_id})
        const reply = await gateway.call('scim_mappings.create', {body})
        gateway.print.made(reply, reply.id, `The group ${name} is ${options.role} there: ${reply.id}`)
      }),
  )
}

function list(): Command {
  const command = leaf('list', 'List the groups that are mapped', ['gateway groups list --workspace research']).option(
    '--role <role>',
    'only admins, managers or members',
  )
  return withWorkspace(command, 'only those of this workspace').action(
    (options: WorkspaceOption & {role?: string}, self: Command) =>
      withGateway(self, async gateway => {
        const query = {
          workspace_id: await workspaceIfSaid(gateway, options.workspace),
          role: options.role,
          page_size: 1000,
        }
        const reply = await gateway.call('scim_mappings.list', {query})
        const workspaces = reply.mappings.length ? await slugsOf(gateway, 'workspaces.list') : new Map()
        gateway.print.list(reply, reply.mappings, columnsOf(workspaces), reply.total_count)
      }),
  )
}

function unmap(): Command {
  const command = leaf('unmap', 'Take the role from a group', [
    'gateway groups unmap 0b5f6c1e-8a55-4e0b-9d5c-3a8f0c1d2e3f',
  ]).argument('<id>', 'id of the mapping, as the list has it')
  return withConfirm(command).action((id: string, options: ConfirmOption, self: Command) =>
    withGateway(self, async gateway => {
      await confirmed(gateway.world, `Delete the mapping ${id}`, options)
      const reply = await gateway.call('scim_mappings.delete', {params: {scimWorkspaceGroupId: id}})
      gateway.print.done(reply, `Deleted the mapping ${id}.`)
    }),
  )
}
