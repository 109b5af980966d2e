import type {Command} from 'commander'
import type {ConnectionShown} from '../../src/schema/sso.ts'
import {unchecked} from '../client.ts'
import {type Gateway, withGateway} from '../connect.ts'
import {CommandFault, EXIT, usageFault} from '../fault.ts'
import {type ConfirmOption, confirmed, fileText, group, leaf, withConfirm} from '../options.ts'
import type {TableColumn} from '../table.ts'
import {plain} from '../width.ts'
import {check} from './sso-check.ts'

const COLUMNS: readonly TableColumn<ConnectionShown>[] = [
  {title: 'name', value: row => row.name, whole: true},
  {title: 'type', value: row => row.type},
  {title: 'state', value: row => (row.enabled ? 'enabled' : 'disabled')},
  {title: 'provider', value: row => placeOf(row)},
  {title: 'domains', value: row => (row.domains.length ? row.domains.join(', ') : 'all verified')},
  {title: 'owners', value: row => (row.lets_owners_in ? 'come in' : 'do not'), optional: 1},
]

function placeOf({type, oidc, saml, ldap}: ConnectionShown): string {
  const place = {
    oidc: oidc?.issuer,
    saml: saml?.metadata_url ?? saml?.entity_id ?? 'metadata in place',
    ldap: ldap?.url,
  }
  return String(place[type] ?? '')
}

/** `gateway sso`: connections to identity providers, by which people sign in. */
export function sso(): Command {
  return group('sso', 'Single sign-on: connections to identity providers (OpenID Connect, SAML, LDAP)', [
    list(),
    show(),
    create(),
    update(),
    remove(),
    test(),
    check(),
    require(),
    relink(),
  ])
}

async function readSso(gateway: Gateway) {
  const {sso, endpoints} = await gateway.call('organisation_auth.get')
  return {...sso, endpoints}
}

async function named(gateway: Gateway, name: string) {
  const read = await readSso(gateway)
  const connection = read.connections.find(each => each.name === name || each.id === name)
  if (connection) return {...read, connection}
  throw new CommandFault(`No connection is called ${name}.`, {exit: EXIT.not_found, code: 'not_found', status: 404})
}

/** Writes the list with one connection changed, made or left out; refused where it was changed since it was read. */
async function writeList(
  gateway: Gateway,
  {connections, revision}: {readonly connections: readonly {readonly id: string}[]; readonly revision: number},
  change: {readonly of?: string; readonly to: object | null},
) {
  const kept = connections.flatMap(({id}) => (id !== change.of ? [{id}] : change.to ? [{id, ...change.to}] : []))
  const all = change.of === undefined && change.to ? [...kept, change.to] : kept
  return gateway.call('organisation_auth.update', {body: unchecked({sso: {connections: all, revision}})})
}

function list(): Command {
  return leaf('list', 'List the connections', ['gateway sso list', 'gateway sso list --json']).action(
    (_: object, self: Command) =>
      withGateway(self, async gateway => {
        const {connections, required} = await readSso(gateway)
        gateway.print.list({connections, required}, connections, COLUMNS)
        if (required) gateway.print.note('They are the only way in (gateway sso require).')
      }),
  )
}

function show(): Command {
  return leaf('show', 'Show a connection, and the addresses to type in at its provider', ['gateway sso show entra'])
    .argument('<connection>', 'its name or id')
    .action((name: string, _: object, self: Command) =>
      withGateway(self, async gateway => {
        const {connection, endpoints} = await named(gateway, name)
        const {type, oidc, saml, ldap, ...rest} = connection
        gateway.print.view({...connection, endpoints}, {...rest, type, ...(oidc ?? saml ?? ldap), ...endpoints})
      }),
    )
}

interface ConnectionOptions {
  readonly set?: readonly string[]
  readonly setFile?: readonly string[]
  readonly domain?: readonly string[]
  readonly name?: string
  readonly off?: true
  readonly on?: true
}

function withFields(command: Command): Command {
  return command
    .option('--set <name=value...>', 'a field of the connection (docs/sign-in.md), as text or JSON; none: its default')
    .option('--set-file <name=file...>', 'the same from a file: for secrets, certificates and metadata')
    .option('--domain <domain...>', 'domains whose people come in by it, or none for every verified one')
    .option('--off', 'nobody comes in by it')
    .option('--on', 'people come in by it')
}

function create(): Command {
  const command = leaf('create', 'Add a connection to an identity provider', [
    'gateway sso create entra --type oidc --set issuer=https://login.example.com/tenant/v2.0 ' +
      'client_id=gateway --set-file client_secret=secret.txt',
    'gateway sso create adfs --type saml --set ' +
      'metadata_url=https://adfs.example.com/FederationMetadata/2007-06/FederationMetadata.xml',
    'gateway sso create house --type ldap --set url=ldaps://ldap.example.com ' +
      'user_base=ou=people,dc=example,dc=com bind_dn=cn=gateway,dc=example,dc=com --set-file ' +
      'bind_password=password.txt',
  ])
    .argument('<name>', 'what people read on its button')
    .requiredOption('--type <type>', 'oidc, saml or ldap')
  return withFields(command).action((name: string, options: ConnectionOptions & {type: string}, self: Command) =>
    withGateway(self, async gateway => {
      const read = await readSso(gateway)
      const {type} = options
      if (read.connections.some(each => each.name === name))
        throw usageFault(`There is a connection ${name} already.`, `See: gateway sso update ${name} --help`)
      const to = {name, type, ...membersOf(gateway, options), [type]: fieldsOf(gateway, options)}
      const reply = await writeList(gateway, read, {to})
      gateway.print.made(reply, name, `Added the connection ${name}. Try it: gateway sso test ${name}`)
      gateway.print.note(`To type in at the provider: gateway sso show ${name}`)
    }),
  )
}

function update(): Command {
  const command = leaf('update', 'Change a connection; what is not named stays', [
    'gateway sso update entra --set groups_claim=groups',
    'gateway sso update entra --off',
  ])
    .argument('<connection>', 'its name or id')
    .option('--name <name>', 'another name')
  return withFields(command).action((name: string, options: ConnectionOptions, self: Command) =>
    withGateway(self, async gateway => {
      const read = await named(gateway, name)
      const {id, type} = read.connection
      const fields = fieldsOf(gateway, options)
      const to = {
        ...membersOf(gateway, options),
        ...(options.name !== undefined && {name: options.name}),
        ...(Object.keys(fields).length > 0 && {[type]: fields}),
      }
      if (!Object.keys(to).length) throw usageFault('Nothing to change was said.', 'See: gateway sso update --help')
      const reply = await writeList(gateway, read, {of: id, to})
      gateway.print.done(reply, `Changed the connection ${name}.`)
    }),
  )
}

function membersOf(_: Gateway, {domain, on, off}: ConnectionOptions) {
  if (on && off) throw usageFault('--on and --off exclude each other: give one of them.')
  return {
    ...(domain && {domains: domain.length === 1 && domain[0] === 'none' ? [] : domain}),
    ...((on || off) && {enabled: on === true}),
  }
}

/** `name=value` pairs as the body has them: JSON where it is such, else a text. */
function fieldsOf({world}: Gateway, {set = [], setFile = []}: ConnectionOptions): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  for (const [option, pairs] of [
    ['--set', set],
    ['--set-file', setFile],
  ] as const)
    for (const pair of pairs) {
      const at = pair.indexOf('=')
      if (at < 1) throw usageFault(`${option} ${pair.slice(0, 40)} is no name=value.`)
      const [name, value] = [pair.slice(0, at), pair.slice(at + 1)]
      fields[name] = option === '--set' ? jsonOrText(value) : fileText(world, value, option).replace(/\r?\n$/, '')
    }
  return fields
}

function jsonOrText(text: string): unknown {
  if (text === 'none') return null
  if (!/^(?:[[{"]|true$|false$|\d+$)/.test(text)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function remove(): Command {
  const command = leaf('delete', 'Delete a connection: nobody comes in by it, and its sessions end', [
    'gateway sso delete adfs --yes',
  ]).argument('<connection>', 'its name or id')
  return withConfirm(command).action((name: string, options: ConfirmOption, self: Command) =>
    withGateway(self, async gateway => {
      const read = await named(gateway, name)
      await confirmed(gateway.world, `Delete the connection ${name}`, options)
      const reply = await writeList(gateway, read, {of: read.connection.id, to: null})
      gateway.print.done(reply, `Deleted the connection ${name}.`)
    }),
  )
}

interface TestOptions {
  readonly username?: string
  readonly email?: string
  readonly subject?: string
  readonly group?: readonly string[]
  readonly verified?: true
}

function test(): Command {
  return leaf('test', 'Try a connection, and say what the sign-in of a person would do. Exits with 1 when it fails', [
    'gateway sso test entra',
    'gateway sso test house --username ada',
    'gateway sso test entra --email ada@example.com --verified --group gw-admins',
  ])
    .argument('<connection>', 'its name or id')
    .option('--username <name>', 'LDAP: find this person and his groups; no password is needed')
    .option('--email <email>', 'say what a person with this address would meet')
    .option('--subject <text>', 'by this subject at the provider')
    .option('--group <group...>', 'in these groups')
    .option('--verified', 'the provider says that the address is verified')
    .action((name: string, options: TestOptions, self: Command) =>
      withGateway(self, async gateway => {
        const {connection} = await named(gateway, name)
        const body = {part: connection.type, connection: connection.id, ...personOf(options)}
        const {call, print} = gateway
        const tested = await call('organisation_auth.test', {body: unchecked(body)})
        if (print.json) print.json_reply(tested)
        else for (const step of tested.steps) print.line(plain(`${step.ok ? '✓' : '✗'} ${step.name}: ${step.detail}`))
        if (!tested.ok)
          throw new CommandFault('The sign-in would be refused.', {exit: EXIT.failure, code: 'sign_in_refused'})
      }),
    )
}

function personOf({username, email, subject, group, verified}: TestOptions) {
  const says = [email, subject, group, verified].some(each => each !== undefined)
  return {
    ...(username !== undefined && {username}),
    ...(says && {
      statement: {
        ...(email !== undefined && {email}),
        ...(subject !== undefined && {subject}),
        ...(group && {groups: group}),
        ...(verified && {email_verified: true}),
      },
    }),
  }
}

function require(): Command {
  return leaf('require', 'Make the connections the only way in, or let invites and others in again', [
    'gateway sso require off',
    'gateway sso require on --force',
  ])
    .argument('<on|off>', 'on: only connections, sessions of the operator, and owners with a password')
    .option('--force', 'on the data directory: before an owner came in by one of them')
    .action((state: string, {force}: {force?: true}, self: Command) =>
      withGateway(self, async ({call, print}) => {
        if (state !== 'on' && state !== 'off') throw usageFault(`${state} is neither on nor off.`)
        const body = {sso: {required: state === 'on', ...(force && {force})}}
        const reply = await call('organisation_auth.update', {body: unchecked(body)})
        print.done(reply, state === 'on' ? 'Connections are the only way in now.' : 'Invites let people in again.')
      }),
    )
}

function relink(): Command {
  const command = leaf('relink', 'Delete the links of a connection: after a new registration the next sign-ins link', [
    'gateway sso relink entra --yes',
  ]).argument('<connection>', 'its name or id')
  return withConfirm(command).action((name: string, options: ConfirmOption, self: Command) =>
    withGateway(self, async gateway => {
      const {connection} = await named(gateway, name)
      const {id, type, oidc} = connection
      const issuer = type === 'oidc' ? String(oidc?.issuer) : `${type}:${id}`
      await confirmed(gateway.world, `Delete all links of ${name}`, options)
      const reply = await gateway.call('identities.relink', {query: {issuer}})
      gateway.print.done(reply, `Deleted ${reply.dropped} links of ${name}.`)
    }),
  )
}
