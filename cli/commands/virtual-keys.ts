import type {Command} from 'commander'
import {change, type DryRunOption, withDryRun} from '../change.ts'
import {type Gateway, withGateway} from '../connect.ts'
import {usageFault} from '../fault.ts'
import {type LimitOptions, limitChangesOf, limitsOf, withLimits} from '../limit-options.ts'
import {
  type ExpiryOption,
  expiryOf,
  group,
  leaf,
  type SecretOptions,
  secretOf,
  type WorkspaceOption,
  withExpiry,
  withSecret,
  withWorkspace,
} from '../options.ts'
import {workspaceFor} from '../workspace.ts'
import {configurationsOf, type PlaceOptions, withPlace} from './locations.ts'
import {deleteCommand, inputOf, listCommand, minute, type Noun, named, showCommand} from './rows.ts'

const virtualKeyNoun: Noun<'virtual_keys'> = {
  command: 'virtual-keys',
  one: 'virtual key',
  many: 'virtual keys',
  operations: 'virtual_keys',
  param: 'slug',
  example: 'old-openai',
  one_in_workspace: true,
  columns: [
    {title: 'slug', value: row => row.slug, whole: true},
    {title: 'name', value: row => row.name},
    {title: 'kind', value: row => row.provider},
    {title: 'status', value: row => row.status},
    {title: 'expires', value: row => minute(row.expires_at) ?? 'never'},
    {title: 'created', value: row => minute(row.created_at), optional: 1},
  ],
}

/** `gateway virtual-keys`: providers under their older name. */
export function virtualKeys(): Command {
  return group('virtual-keys', 'Virtual keys: the older form of providers, each with its own credential', [
    create(),
    listCommand(virtualKeyNoun),
    showCommand(virtualKeyNoun),
    update(),
    deleteCommand(virtualKeyNoun, 'calls with it are refused'),
  ])
}

interface WriteOptions extends LimitOptions, ExpiryOption, SecretOptions, PlaceOptions, WorkspaceOption {
  readonly name?: string
  readonly note?: string
}

function create(): Command {
  const command = leaf('create', 'Create a virtual key', [
    'gateway virtual-keys create old-openai --kind openai --key-file openai.key --workspace research',
  ])
    .argument('<slug>', 'slug to give it')
    .requiredOption('--kind <provider>', 'kind of provider')
  writes(withWorkspace(command, 'workspace it is for'))
  return withLimits(command).action((slug: string, options: WriteOptions & {kind: string}, self: Command) =>
    withGateway(self, async gateway => {
      const fields = {...limitsOf(options), ...(await written(options, gateway, async () => ({})))}
      const workspace_id = await workspaceFor(gateway, options.workspace)
      const body = {
        slug,
        name: slug,
        provider: options.kind,
        ...(workspace_id !== undefined && {workspace_id}),
        ...fields,
      }
      const reply = await gateway.call('virtual_keys.create', {body})
      gateway.print.made(reply, reply.data.slug, `Created the virtual key ${reply.data.slug}.`)
    }),
  )
}

function update(): Command {
  const command = named(
    leaf('update', 'Change a virtual key', ['gateway virtual-keys update old-openai --key-file openai.key']),
    virtualKeyNoun,
  ).option('--reset-usage', 'count its use from zero again')
  writes(command)
  return withDryRun(withLimits(command, {clears: true})).action(
    (slug: string, options: WriteOptions & DryRunOption & {resetUsage?: true}, self: Command) =>
      withGateway(self, async gateway => {
        const input = await inputOf(gateway, virtualKeyNoun, slug, options)
        const current = () => gateway.call('virtual_keys.get', input)
        const body = {
          ...(options.resetUsage && {reset_usage: true}),
          ...(await written(options, gateway, async () => (await current()).model_config)),
          ...(await limitChangesOf(options, async () => (await current()).rate_limits ?? [])),
        }
        if (!Object.keys(body).length)
          throw usageFault('Nothing to change was said.', 'See: gateway virtual-keys update --help')
        await change(gateway, 'virtual_keys.update', {...input, body}, `the virtual key ${slug}`, options)
      }),
  )
}

function writes(command: Command) {
  withExpiry(withSecret(withPlace(command)))
    .option('--name <name>', 'name to show (default: the slug)')
    .option('--note <text>', 'what it is for')
}

async function written(options: WriteOptions, {world, print}: Gateway, current: () => Promise<object>) {
  const key = await secretOf(options, world, print.note)
  const model_config = await configurationsOf(options, world, current)
  return {
    ...expiryOf(options, world),
    ...(options.name !== undefined && {name: options.name}),
    ...(options.note !== undefined && {note: options.note}),
    ...(key !== undefined && {key}),
    ...(model_config && {model_config}),
  }
}
