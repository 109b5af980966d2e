import type {Command} from 'commander'
import {withGateway} from '../connect.ts'
import {
  type ConfirmOption,
  confirmed,
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

interface IdentityRow {
  readonly id: string
  readonly email: string
  readonly issuer: string
  readonly subject: string
  readonly last_seen_at: string
}

const COLUMNS: readonly TableColumn<IdentityRow>[] = [
  {title: 'id', value: row => row.id, whole: true},
  {title: 'user', value: row => row.email},
  {title: 'issuer', value: row => row.issuer},
  {title: 'subject', value: row => row.subject},
  {title: 'last seen', value: row => minute(row.last_seen_at), optional: 1},
]

/** `gateway identities`: by which subjects at providers users are known. */
export function identities(): Command {
  return group('identities', 'Links of users to subjects at identity providers', [list(), link(), remove()])
}

function list(): Command {
  const command = leaf('list', 'List links', [
    'gateway identities list',
    'gateway identities list --user ada@example.com',
  ])
    .option('--user <user>', 'only those of this user')
    .option('--issuer <issuer>', 'only those of this issuer')
  return withPage(command).action((options: PageOptions & {user?: string; issuer?: string}, self: Command) =>
    withGateway(self, async gateway => {
      const user_id = options.user === undefined ? undefined : await userFor(gateway, options.user)
      const query = {...pageOf(options), user_id, issuer: options.issuer}
      const reply = await gateway.call('identities.list', {query})
      gateway.print.list(reply, reply.data, COLUMNS, reply.total)
    }),
  )
}

function link(): Command {
  return leaf('link', 'Link a user to a subject, on the data directory: owners are not linked by address alone', [
    'gateway identities link ada@example.com --subject 00u1a2b3c4 --issuer https://login.example.com',
  ])
    .argument('<email>', 'address of the user')
    .requiredOption('--subject <text>', 'the subject at the provider, as the audit log shows it')
    .option('--issuer <issuer>', 'whose subject it is')
    .option('--connection <name>', 'or the connection whose issuer that is; the first where neither is named')
    .action((email: string, options: {subject: string; issuer?: string; connection?: string}, self: Command) =>
      withGateway(self, async ({call, print}) => {
        const {subject, issuer, connection} = options
        const body = {
          email,
          subject,
          ...(issuer !== undefined && {issuer}),
          ...(connection !== undefined && {connection}),
        }
        const reply = await call('identities.create', {body})
        print.made(reply, reply.id, `Linked ${email} to ${reply.subject} at ${reply.issuer}.`)
      }),
    )
}

function remove(): Command {
  const command = leaf('delete', 'Delete a link: the next sign-in of its user links', [
    'gateway identities delete 0b6f2a52-7c1e-4f0e-9c38-6a4d1f2b3c4d --yes',
  ]).argument('<id>', 'its id, as the list shows it')
  return withConfirm(command).action((identityId: string, options: ConfirmOption, self: Command) =>
    withGateway(self, async ({call, print, world}) => {
      await confirmed(world, `Delete the link ${identityId}`, options)
      print.done(await call('identities.delete', {params: {identityId}}), 'Deleted the link.')
    }),
  )
}
