import type {Command} from 'commander'
import {withGateway} from '../connect.ts'
import {type ConfirmOption, confirmed, group, leaf, withConfirm} from '../options.ts'
import type {TableColumn} from '../table.ts'

interface DomainRow {
  readonly domain: string
  readonly status: string
  readonly allow_subdomains: boolean
  readonly id: string
}

const COLUMNS: readonly TableColumn<DomainRow>[] = [
  {title: 'domain', value: row => row.domain, whole: true},
  {title: 'status', value: row => row.status},
  {title: 'below it too', value: row => (row.allow_subdomains ? 'yes' : 'no')},
  {title: 'id', value: row => row.id, optional: 1},
]

/** `gateway domains`: the domains whose people an organisation takes from outside. */
export function domains(): Command {
  return group('domains', 'Domains of the organisation: a directory brings people of these alone', [
    create(),
    list(),
    update(),
    remove(),
  ])
}

function create(): Command {
  return leaf('create', 'Add a domain that the operator vouches for; on the data directory', [
    'gateway domains create example.org',
    'gateway domains create example.net --allow-subdomains',
  ])
    .argument('<domain>', 'for example example.com')
    .option('--allow-subdomains', 'what is below it counts as well')
    .action((domain: string, {allowSubdomains}: {allowSubdomains?: true}, self: Command) =>
      withGateway(self, async ({call, print}) => {
        const body = {domain, ...(allowSubdomains && {allow_subdomains: true})}
        const reply = await call('domains.create', {body})
        print.made(reply, reply.domain, `Added the domain ${reply.domain}.`)
      }),
    )
}

function list(): Command {
  return leaf('list', 'List the domains', ['gateway domains list']).action((_: object, self: Command) =>
    withGateway(self, async ({call, print}) => {
      const reply = await call('domains.list')
      print.list(reply, reply.data, COLUMNS, reply.total)
    }),
  )
}

function update(): Command {
  return leaf('update', 'Say whether what is below a domain counts as well', [
    'gateway domains update example.com --allow-subdomains',
    'gateway domains update example.com --no-allow-subdomains',
  ])
    .argument('<domain>', 'the domain, or its id')
    .option('--allow-subdomains', 'what is below it counts as well')
    .option('--no-allow-subdomains', 'only the domain itself counts')
    .action((domain: string, {allowSubdomains = false}: {allowSubdomains?: boolean}, self: Command) =>
      withGateway(self, async ({call, print}) => {
        const body = {allow_subdomains: allowSubdomains}
        print.done(await call('domains.update', {params: {domainId: domain}, body}), `Changed the domain ${domain}.`)
      }),
    )
}

function remove(): Command {
  const command = leaf('delete', 'Take a domain away: a directory brings no more people of it', [
    'gateway domains delete example.com --yes',
  ]).argument('<domain>', 'the domain, or its id')
  return withConfirm(command).action((domain: string, options: ConfirmOption, self: Command) =>
    withGateway(self, async ({call, print, world}) => {
      await confirmed(world, `Take the domain ${domain} away`, options)
      print.done(await call('domains.delete', {params: {domainId: domain}}), `Took the domain ${domain} away.`)
    }),
  )
}
