import type {Command} from 'commander'
import {type Gateway, withGateway} from '../connect.ts'
import {usageFault} from '../fault.ts'
import {
  type ConfirmOption,
  confirmed,
  group,
  leaf,
  type PageOptions,
  pageOf,
  type WorkspaceOption,
  withConfirm,
  withPage,
  withWorkspace,
} from '../options.ts'
import type {TableColumn} from '../table.ts'
import {memberFor, userFor} from '../user.ts'
import {workspaceFor} from '../workspace.ts'
import {minute} from './rows.ts'

interface MemberRow {
  readonly id: string
  readonly email: string
  readonly role: string
  readonly org_role: string
  readonly created_at: string
}

const COLUMNS: readonly TableColumn<MemberRow>[] = [
  {title: 'email', value: row => row.email, whole: true},
  {title: 'role', value: row => row.role},
  {title: 'in the organisation', value: row => row.org_role, optional: 1},
  {title: 'id', value: row => row.id, whole: true, optional: 2},
  {title: 'since', value: row => minute(row.created_at)},
]

/** `gateway members`: who is in a workspace, and as what. */
export function members(): Command {
  return group('members', 'Members of a workspace', [add(), list(), show(), update(), remove()])
}

function add(): Command {
  const command = leaf('add', 'Make users of the organisation members of a workspace', [
    'gateway members add ada@example.com --workspace research --role manager',
  ])
    .argument('<user...>', 'e-mail addresses or ids')
    .option('--role <role>', 'admin, manager or member', 'member')
  return withWorkspace(command, 'which workspace').action(
    (values: string[], {role, workspace}: WorkspaceOption & {role: string}, self: Command) =>
      withGateway(self, async gateway => {
        const users = []
        for (const user of values) users.push({id: await userFor(gateway, user), role})
        const params = {workspaceId: await placeOf(gateway, workspace)}
        const reply = await gateway.call('members.add', {params, body: {users}})
        gateway.print.done(reply, `${values.join(', ')}: ${role} now.`)
      }),
  )
}

function list(): Command {
  const command = leaf('list', 'List the members of a workspace', ['gateway members list --workspace research']).option(
    '--role <role>',
    'only admins, managers or members',
  )
  return withPage(withWorkspace(command, 'which workspace')).action(
    (options: PageOptions & WorkspaceOption & {role?: string}, self: Command) =>
      withGateway(self, async gateway => {
        const params = {workspaceId: await placeOf(gateway, options.workspace)}
        const query = {...pageOf(options), role: options.role}
        const reply = await gateway.call('members.list', {params, query})
        gateway.print.list(reply, reply.data, COLUMNS, reply.total)
      }),
  )
}

function show(): Command {
  const command = leaf('show', 'Show a member of a workspace and what the role lets do', [
    'gateway members show ada@example.com --workspace research',
  ]).argument('<user>', 'e-mail address or id')
  return withWorkspace(command, 'which workspace').action((user: string, options: WorkspaceOption, self: Command) =>
    withGateway(self, async gateway => {
      const reply = await gateway.call('members.get', {params: await memberAt(gateway, user, options)})
      gateway.print.view(reply, reply)
    }),
  )
}

function update(): Command {
  const command = leaf('update', 'Change the role of a member', [
    'gateway members update ada@example.com --workspace research --role admin',
  ])
    .argument('<user>', 'e-mail address or id')
    .requiredOption('--role <role>', 'admin, manager or member')
  return withWorkspace(command, 'which workspace').action(
    (user: string, options: WorkspaceOption & {role: string}, self: Command) =>
      withGateway(self, async gateway => {
        const params = await memberAt(gateway, user, options)
        const reply = await gateway.call('members.update', {params, body: {role: options.role}})
        gateway.print.done(reply, `${user} is ${options.role} now.`)
      }),
  )
}

function remove(): Command {
  const command = leaf('remove', 'End a membership: the keys of the user in the workspace work no longer', [
    'gateway members remove ada@example.com --workspace research',
  ]).argument('<user>', 'e-mail address or id')
  return withConfirm(withWorkspace(command, 'which workspace')).action(
    (user: string, options: WorkspaceOption & ConfirmOption, self: Command) =>
      withGateway(self, async gateway => {
        await confirmed(gateway.world, `Take ${user} out of the workspace`, options)
        const reply = await gateway.call('members.remove', {params: await memberAt(gateway, user, options)})
        gateway.print.done(reply, `${user} is no member any more.`)
      }),
  )
}

async function memberAt(gateway: Gateway, user: string, {workspace}: WorkspaceOption) {
  const workspaceId = await placeOf(gateway, workspace)
  return {workspaceId, userId: await memberFor(gateway, workspaceId, user)}
}

async function placeOf(gateway: Gateway, text: string | undefined): Promise<string> {
  const workspace = await workspaceFor(gateway, text)
  if (workspace !== undefined) return workspace
  throw usageFault('Which workspace is not said.', 'Name it with --workspace.')
}
