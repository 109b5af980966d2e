import {type Command, Option} from 'commander'
import {type Gateway, withGateway} from '../connect.ts'
import {usageFault} from '../fault.ts'
import {type ConfirmOption, confirmed, group, leaf, withConfirm} from '../options.ts'
import type {TableColumn} from '../table.ts'
import {minute} from './rows.ts'

interface DomainRow {
  readonly domain: string
  readonly status: string
  readonly proof: string | null
  readonly looked_at: string | null
  readonly lost_at: string | null
  readonly allow_subdomains: boolean
  readonly id: string
}

const COLUMNS: readonly TableColumn<DomainRow>[] = [
  {title: 'domain', value: row => row.domain, whole: true},
  {title: 'status', value: row => row.status},
  {title: 'proof', value: row => (row.proof === null ? '' : row.lost_at === null ? row.proof : `${row.proof}, lost`)},
  {title: 'last look', value: row => (row.looked_at === null ? '' : minute(row.looked_at))},
  {title: 'below it too', value: row => (row.allow_subdomains ? 'yes' : 'no'), optional: 1},
  {title: 'id', value: row => row.id, optional: 2},
]

/** `gateway domains`: the domains whose people an organisation takes from outside. */
export function domains(): Command {
  return group('domains', 'Domains of the organisation: a directory brings people of these alone', [
    create(),
    verify(),
    list(),
    update(),
    remove(),
  ])
}

interface CreateOptions {
  readonly allowSubdomains?: true
  readonly verified?: true
}

function create(): Command {
  return leaf(
    'create',
    'Add a domain: on the data directory the operator vouches for it, at a URL it is to be proven',
    ['gateway domains create example.org', 'gateway domains create example.net --allow-subdomains'],
  )
    .argument('<domain>', 'for example example.com')
    .option('--allow-subdomains', 'what is below it counts as well')
    .option('--verified', 'without a proof; on the data directory, where it is so in any case')
    .action((domain: string, {allowSubdomains, verified}: CreateOptions, self: Command) =>
      withGateway(self, async gateway => {
        const {call, print, kind} = gateway
        const body = {domain, ...(allowSubdomains && {allow_subdomains: true})}
        if (kind === 'here' || verified) {
          const reply = await call('domains.create_verified', {body})
          return print.made(reply, reply.domain, `Added the domain ${reply.domain}.`)
        }
        const reply = await call('domains.create', {body})
        print.made(reply, reply.domain, `Added the domain ${reply.domain}. It allows nothing before it is verified.`)
        if (reply.verification) print.note(steps(gateway, reply.domain, reply.verification))
      }),
    )
}

interface Challenge {
  readonly dns_name: string
  readonly dns_value: string | null
  readonly mail_to: readonly string[]
}

/** The record, as zone files have it, and the command that follows. */
function steps({typed}: Gateway, domain: string, {dns_name, dns_value, mail_to}: Challenge): string {
  return [
    'Add this record to its DNS:',
    '',
    `  ${dns_name}. TXT "${dns_value}"`,
    '',
    `Then: ${typed(`domains verify ${domain}`)}`,
    `Without access to its DNS, a code goes to ${mail_to[0]}: ${typed(`domains verify ${domain} --method mail`)}`,
  ].join('\n')
}

interface VerifyOptions {
  readonly method?: 'dns' | 'mail'
  readonly mailTo?: string
  readonly code?: string
}

function verify(): Command {
  return leaf(
    'verify',
    'Prove a domain by its DNS record or by mail; on the data directory the operator vouches for it',
    [
      'gateway domains verify example.com',
      'gateway domains verify example.com --method dns',
      'gateway domains verify example.com --method mail --mail-to postmaster@example.com',
      'gateway domains verify example.com --code BCDFG-HJKLM',
    ],
  )
    .argument('<domain>', 'the domain, or its id')
    .addOption(new Option('--method <how>', 'dns looks for the record, mail sends a code').choices(['dns', 'mail']))
    .option('--mail-to <address>', 'where the code goes: admin, hostmaster or postmaster of the domain')
    .option('--code <code>', 'the code that came by mail')
    .action((domain: string, options: VerifyOptions, self: Command) =>
      withGateway(self, gateway => verified(gateway, domain, options)),
    )
}

async function verified({call, print, kind, typed}: Gateway, domainId: string, {method, mailTo, code}: VerifyOptions) {
  const params = {domainId}
  if (mailTo !== undefined && code !== undefined)
    throw usageFault('--mail-to is for a new code, and --code for the one that came; give one of them.')
  const is_mail = code !== undefined || mailTo !== undefined || method === 'mail'
  if (is_mail && method === 'dns') throw usageFault('--mail-to and --code are for --method mail.')
  if (kind === 'here' && !is_mail && method === undefined) {
    const reply = await call('domains.vouch', {params})
    return print.done(reply, `Verified the domain ${reply.domain}.`)
  }
  const body = is_mail
    ? ({method: 'mail', ...(mailTo !== undefined && {mail_to: mailTo}), ...(code !== undefined && {code})} as const)
    : ({method: 'dns'} as const)
  const reply = await call('domains.verify', {params, body})
  if (reply.status === 'verified') return print.done(reply, `Verified the domain ${reply.domain}.`)
  const to = mailTo ?? reply.verification?.mail_to[0]
  print.done(reply, `Sent a code to ${to}. Then: ${typed(`domains verify ${reply.domain} --code CODE`)}`)
}

function list(): Command {
  return leaf('list', 'List the domains, how each was proven, and the last look for its record', [
    'gateway domains list',
  ]).action((_: object, self: Command) =>
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
