import type {Command} from 'commander'
import {withGateway} from '../connect.ts'
import {usageFault} from '../fault.ts'
import {readDuration} from '../option-parsers.ts'
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

interface SessionRow {
  readonly id: string
  readonly email: string
  readonly kind: string
  readonly method: string
  readonly last_seen_at: string
  readonly created_at: string
  readonly expires_at: string
}

const COLUMNS: readonly TableColumn<SessionRow>[] = [
  {title: 'id', value: row => row.id, whole: true},
  {title: 'user', value: row => row.email},
  {title: 'of', value: row => `${row.kind} (${row.method})`, optional: 1},
  {title: 'opened', value: row => minute(row.created_at), short: row => minute(row.created_at)?.slice(5)},
  {title: 'last used', value: row => minute(row.last_seen_at), optional: 2},
  {title: 'ends', value: row => minute(row.expires_at)},
]

/** `gateway sessions`: who is signed in, and the operator's own way to let a person in. */
export function sessions(): Command {
  return group(
    'sessions',
    'Sessions of users: those of browsers and command lines, and those that the operator opens',
    [create(), list(), revoke()],
  )
}

function create(): Command {
  return leaf('create', 'Open a session of a user; its token is shown this once', [
    'gateway sessions create --user ada@example.com',
    'TOKEN=$(gateway sessions create --user ada@example.com --ttl 8h --quiet)',
  ])
    .requiredOption('--user <email>', 'whose session')
    .option('--ttl <time>', 'how long it lasts: 30m, 8h, 7d', '1h')
    .action(({user, ttl}: {user: string; ttl: string}, self: Command) =>
      withGateway(self, async ({call, print}) => {
        const body = {email: user, ttl_s: readDuration(ttl, '--ttl') / 1000}
        const reply = await call('sessions.create', {body})
        print.made(reply, reply.token, reply.token)
        print.note(
          `Keep it now: it is not shown again. It administers until ${minute(reply.expires_at)} UTC, and calls no models.`,
        )
      }),
    )
}

function list(): Command {
  const command = leaf('list', 'List sessions that can be used', [
    'gateway sessions list',
    'gateway sessions list --user ada@example.com',
  ])
  return withPage(command.option('--user <user>', 'only those of this user')).action(
    (options: PageOptions & {user?: string}, self: Command) =>
      withGateway(self, async gateway => {
        const user_id = options.user === undefined ? undefined : await userFor(gateway, options.user)
        const reply = await gateway.call('sessions.list', {query: {...pageOf(options), user_id}})
        gateway.print.list(reply, reply.data, COLUMNS, reply.total)
      }),
  )
}

function revoke(): Command {
  const command = leaf('revoke', 'End a session, or all of a user', [
    'gateway sessions revoke 0b6f2a52-7c1e-4f0e-9c38-6a4d1f2b3c4d',
    'gateway sessions revoke --user ada@example.com --yes',
  ])
    .argument('[id]', 'which session')
    .option('--user <user>', 'all those of this user')
  return withConfirm(command).action(
    (sessionId: string | undefined, options: ConfirmOption & {user?: string}, self: Command) =>
      withGateway(self, async gateway => {
        const {call, print, world} = gateway
        if ((sessionId === undefined) === (options.user === undefined))
          throw usageFault('Name a session, or a user with --user.', 'gateway sessions list shows them.')
        if (sessionId !== undefined) {
          await confirmed(world, `End the session ${sessionId}`, options)
          print.done(await call('sessions.revoke', {params: {sessionId}}), `Ended the session ${sessionId}.`)
          return
        }
        await confirmed(world, `End all sessions of ${options.user}`, options)
        const reply = await call('sessions.revoke_of_user', {params: {userId: await userFor(gateway, options.user!)}})
        print.done(reply, `Ended ${reply.ended} sessions of ${options.user}.`)
      }),
  )
}
