import type {Command} from 'commander'
import {withGateway} from '../connect.ts'
import {usageFault} from '../fault.ts'
import {
  type ConfirmOption,
  confirmed,
  fileText,
  group,
  leaf,
  type PageOptions,
  pageOf,
  withConfirm,
  withPage,
} from '../options.ts'
import type {TableColumn} from '../table.ts'
import {userFor} from '../user.ts'
import {minute} from './rows.ts'

interface UserRow {
  readonly id: string
  readonly email: string
  readonly first_name: string | null
  readonly last_name: string | null
  readonly role: string
  readonly workspace_ids: readonly string[]
  readonly created_at: string
}

const COLUMNS: readonly TableColumn<UserRow>[] = [
  {title: 'email', value: row => row.email, whole: true},
  {title: 'name', value: row => [row.first_name, row.last_name].filter(Boolean).join(' ')},
  {title: 'role', value: row => row.role},
  {title: 'workspaces', value: row => row.workspace_ids.length, align: 'right', optional: 2},
  {title: 'id', value: row => row.id, whole: true, optional: 3},
  {title: 'since', value: row => minute(row.created_at), optional: 1},
]

/** The page of a list whose parameters are in camel case. */
export function camelPageOf(options: PageOptions) {
  const {current_page, page_size} = pageOf(options)
  return {currentPage: current_page, pageSize: page_size}
}

/** `gateway users`: the people of the organisation. */
export function users(): Command {
  return group('users', 'Users: the people of the organisation', [
    create(),
    list(),
    show(),
    update(),
    remove(),
    setPassword(),
  ])
}

function create(): Command {
  return leaf('create', 'Make a user, on the data directory; anywhere else people come by invite', [
    'gateway users create ada@example.com --role owner',
    'gateway users create ada@example.com --role member --first-name Ada',
  ])
    .argument('<email>', 'e-mail address')
    .requiredOption('--role <role>', 'owner, admin or member')
    .option('--first-name <name>', 'first name')
    .option('--last-name <name>', 'last name')
    .action(
      (
        email: string,
        {role, firstName, lastName}: {role: string; firstName?: string; lastName?: string},
        self: Command,
      ) =>
        withGateway(self, async ({call, print}) => {
          const body = {
            email,
            role,
            ...(firstName !== undefined && {first_name: firstName}),
            ...(lastName !== undefined && {last_name: lastName}),
          }
          const reply = await call('users.create', {body})
          print.made(reply, reply.id, `Created the user ${reply.email} (${reply.role}).`)
        }),
    )
}

function list(): Command {
  const command = leaf('list', 'List users', ['gateway users list', 'gateway users list --role admin --json'])
    .option('--role <role>', 'only owners, admins or members')
    .option('--email <email>', 'only the one with this address')
  return withPage(command).action((options: PageOptions & {role?: string; email?: string}, self: Command) =>
    withGateway(self, async ({call, print}) => {
      const query = {...camelPageOf(options), role: options.role, email: options.email}
      const reply = await call('users.list', {query})
      print.list(reply, reply.data, COLUMNS, reply.total)
    }),
  )
}

function show(): Command {
  return leaf('show', 'Show a user', ['gateway users show ada@example.com'])
    .argument('<user>', 'e-mail address or id')
    .action((user: string, _: object, self: Command) =>
      withGateway(self, async gateway => {
        const reply = await gateway.call('users.get', {params: {userId: await userFor(gateway, user)}})
        gateway.print.view(reply, reply)
      }),
    )
}

function update(): Command {
  return leaf('update', 'Change the role of a user; an owner is made on the data directory only', [
    'gateway users update ada@example.com --role admin',
  ])
    .argument('<user>', 'e-mail address or id')
    .requiredOption('--role <role>', 'admin or member, or owner')
    .action((user: string, {role}: {role: string}, self: Command) =>
      withGateway(self, async gateway => {
        const reply = await gateway.call('users.update', {params: {userId: await userFor(gateway, user)}, body: {role}})
        gateway.print.done(reply, `${user} is ${role} now.`)
      }),
    )
}

function remove(): Command {
  const command = leaf('delete', 'Take a user out of the organisation: memberships, keys and sessions end', [
    'gateway users delete ada@example.com',
    'gateway users delete ada@example.com --yes',
  ]).argument('<user>', 'e-mail address or id')
  return withConfirm(command).action((user: string, options: ConfirmOption, self: Command) =>
    withGateway(self, async gateway => {
      await confirmed(gateway.world, `Take ${user} out of the organisation`, options)
      const reply = await gateway.call('users.delete', {params: {userId: await userFor(gateway, user)}})
      gateway.print.done(reply, `${user} is no user of the organisation any more.`)
    }),
  )
}

function setPassword(): Command {
  return leaf(
    'set-password',
    'Give an owner a password, on the data directory, for when no identity provider answers',
    [
      'gateway users set-password owner@example.com --password-file password.txt',
      'gateway users set-password owner@example.com --none',
    ],
  )
    .argument('<email>', 'address of an active owner')
    .option('--password-file <file>', 'file that holds it, 14 characters at least; - for stdin')
    .option('--none', 'take the password out')
    .action((email: string, options: {passwordFile?: string; none?: true}, self: Command) =>
      withGateway(self, async ({call, print, world}) => {
        const {passwordFile, none} = options
        if ((passwordFile === undefined) === (none === undefined))
          throw usageFault('Name a file with --password-file, or --none to take the password out.')
        const text =
          passwordFile === '-'
            ? await world.readStdin()
            : passwordFile && fileText(world, passwordFile, '--password-file')
        const password = text === undefined ? null : text.replace(/\r?\n$/, '')
        const reply = await call('users.set_password', {body: {email, password}})
        print.done(reply, reply.has_password ? `${email} has a password now.` : `${email} has no password any more.`)
        if (reply.has_password)
          print.note('It opens /v2/auth/password from BREAK_GLASS_ADDRESSES alone (docs/sign-in.md).')
      }),
    )
}
