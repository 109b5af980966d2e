import type {Command} from 'commander'
import {type Gateway, withGateway} from '../connect.ts'
import {usageFault} from '../fault.ts'
import {type ConfirmOption, confirmed, group, leaf, type PageOptions, withConfirm, withPage} from '../options.ts'
import type {TableColumn} from '../table.ts'
import {workspaceFor} from '../workspace.ts'
import {minute} from './rows.ts'
import {camelPageOf} from './users.ts'

interface InviteRow {
  readonly id: string
  readonly email: string
  readonly role: string
  readonly status: string
  readonly expires_at: string
}

const COLUMNS: readonly TableColumn<InviteRow>[] = [
  {title: 'id', value: row => row.id, whole: true},
  {title: 'email', value: row => row.email},
  {title: 'role', value: row => row.role, optional: 1},
  {title: 'status', value: row => row.status},
  {title: 'expires', value: row => minute(row.expires_at)},
]

/** `gateway invites`: the way into the organisation. */
export function invites(): Command {
  return group('invites', 'Invites into the organisation', [create(), list(), show(), remove(), resend(), accept()])
}

interface CreateOptions {
  readonly role: string
  readonly workspace?: readonly string[]
  readonly keyScope?: readonly string[]
}

function create(): Command {
  return leaf('create', 'Invite a person; hand on the link, which works for 2 days', [
    'gateway invites create ada@example.com --workspace research:manager',
    'gateway invites create ada@example.com --role admin',
    'gateway invites create ada@example.com --workspace research:member --key-scope completions.write',
  ])
    .argument('<email>', 'e-mail address')
    .option('--role <role>', 'role in the organisation: admin or member', 'member')
    .option('-w, --workspace <workspace:role...>', 'workspaces to be admin, manager or member of')
    .option('--key-scope <scope...>', 'makes a user key with these permissions in each of the workspaces')
    .action((email: string, options: CreateOptions, self: Command) =>
      withGateway(self, async gateway => {
        const workspaces = []
        for (const place of options.workspace ?? []) workspaces.push(await placeOf(gateway, place))
        const scopes = options.keyScope
        const body = {email, role: options.role, workspaces, ...(scopes && {workspace_api_key_details: {scopes}})}
        const reply = await gateway.call('invites.create', {body})
        gateway.print.made(reply, reply.invite_link, `Invited ${email}: ${reply.invite_link}`)
      }),
    )
}

function list(): Command {
  const command = leaf('list', 'List invites', [
    'gateway invites list',
    'gateway invites list --status pending',
  ]).option('--status <status>', 'only pending, accepted, cancelled or expired ones')
  return withPage(command).action((options: PageOptions & {status?: string}, self: Command) =>
    withGateway(self, async ({call, print}) => {
      const query = {...camelPageOf(options), status: options.status}
      const reply = await call('invites.list', {query})
      print.list(reply, reply.data, COLUMNS, reply.total)
    }),
  )
}

function show(): Command {
  return leaf('show', 'Show an invite', ['gateway invites show 0b6f2a52-7c1e-4f0e-9c38-6a4d1f2b3c4d'])
    .argument('<id>', 'which invite')
    .action((inviteId: string, _: object, self: Command) =>
      withGateway(self, async ({call, print}) => {
        const reply = await call('invites.get', {params: {inviteId}})
        print.view(reply, reply)
      }),
    )
}

function remove(): Command {
  const command = leaf('delete', 'Cancel an invite: its link works no longer', [
    'gateway invites delete 0b6f2a52-7c1e-4f0e-9c38-6a4d1f2b3c4d',
  ]).argument('<id>', 'which invite')
  return withConfirm(command).action((inviteId: string, options: ConfirmOption, self: Command) =>
    withGateway(self, async ({call, print, world}) => {
      await confirmed(world, `Cancel the invite ${inviteId}`, options)
      print.done(await call('invites.delete', {params: {inviteId}}), `Cancelled the invite ${inviteId}.`)
    }),
  )
}

function resend(): Command {
  return leaf('resend', 'Make a new link for an invite, for another 2 days', [
    'gateway invites resend 0b6f2a52-7c1e-4f0e-9c38-6a4d1f2b3c4d',
  ])
    .argument('<id>', 'which invite')
    .action((inviteId: string, _: object, self: Command) =>
      withGateway(self, async ({call, print}) => {
        const reply = await call('invites.resend', {params: {inviteId}})
        print.made(reply, reply.inviteLink, reply.inviteLink)
        print.note('The link before works no longer.')
      }),
    )
}

function accept(): Command {
  return leaf('accept', 'Accept an invite; shows a session of an hour and the keys that were promised', [
    'gateway invites accept "https://gateway.example.com/v1/invites/accept#token=gi-..." --url https://gateway.example.com',
  ])
    .argument('<link>', 'the link, or the token in it')
    .option('--first-name <name>', 'first name')
    .option('--last-name <name>', 'last name')
    .action((link: string, {firstName, lastName}: {firstName?: string; lastName?: string}, self: Command) =>
      withGateway(self, async ({call, print}) => {
        const body = {
          token: link.split('#token=').at(-1) ?? link,
          ...(firstName !== undefined && {first_name: firstName}),
          ...(lastName !== undefined && {last_name: lastName}),
        }
        const reply = await call('invites.accept', {body})
        const keys = reply.api_keys.map(({workspace_id, key}) => `API key of the workspace ${workspace_id}: ${key}`)
        print.made(
          reply,
          reply.session.token ?? '',
          [`Session until ${minute(reply.session.expires_at)} UTC: ${reply.session.token ?? ''}`, ...keys].join('\n'),
        )
        print.note('Keep them now: they are not shown again.')
      }),
    )
}

/** `research:manager` as an invite takes it. */
async function placeOf(gateway: Gateway, place: string) {
  const [, name, role] = /^(.+):(\w+)$/.exec(place) ?? []
  if (!name || !role)
    throw usageFault(
      `--workspace ${place} says no role: expected a workspace and admin, manager or member, as research:member.`,
    )
  return {id: (await workspaceFor(gateway, name)) ?? name, role}
}
