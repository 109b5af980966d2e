import type {Command} from 'commander'
import {type Gateway, withGateway} from '../connect.ts'
import {usageFault} from '../fault.ts'
import {group, leaf} from '../options.ts'
import {structuredFrom} from '../structured.ts'
import {type AllowedOptions, allowedOf, withAllowed} from './allowed.ts'
import {deleteCommand, listCommand, minute, type Noun, named, showCommand} from './rows.ts'

const noun: Noun<'deployments'> = {
  command: 'deployments',
  one: 'deployment',
  many: 'deployments',
  operations: 'deployments',
  param: 'deploymentId',
  example: 'eu-1',
  one_in_workspace: false,
  of_organisation: true,
  columns: [
    {title: 'slug', value: row => row.slug, whole: true},
    {title: 'name', value: row => row.name},
    {title: 'type', value: row => row.type},
    {
      title: 'workspaces',
      value: row => (row.allow_all_workspaces ? 'all' : row.allowed_workspaces.length),
      align: 'right',
    },
    {title: 'created', value: row => minute(row.created_at), optional: 1},
  ],
}

/** `gateway deployments`: the gateways an organisation runs. */
export function deployments(): Command {
  return group('deployments', 'Deployments: the gateways an organisation runs, and the workspaces each is for', [
    create(),
    listCommand(noun),
    showCommand(noun),
    update(),
    deleteCommand(noun, 'the gateway itself runs on'),
  ])
}

interface WriteOptions extends AllowedOptions {
  readonly name?: string
  readonly type?: string
  readonly config?: string
}

function create(): Command {
  const command = leaf('create', 'Register a deployment', [
    'gateway deployments create eu-1 --type production --only research',
  ])
    .argument('<slug>', 'slug to give it')
    .requiredOption('--type <type>', 'production or non-production')
  return writes(command).action((slug: string, options: WriteOptions & {type: string}, self: Command) =>
    withGateway(self, async gateway => {
      const body = {slug, name: slug, ...(await written(gateway, options)), type: options.type}
      const reply = await gateway.call('deployments.create', {body})
      gateway.print.made(reply, reply.slug, `Registered the deployment ${reply.slug}.`)
    }),
  )
}

function update(): Command {
  const command = named(
    leaf('update', 'Change a deployment', ['gateway deployments update eu-1 --everywhere']),
    noun,
  ).option('--type <type>', 'production or non-production')
  return writes(command).action((slug: string, options: WriteOptions, self: Command) =>
    withGateway(self, async gateway => {
      const body = await written(gateway, options)
      if (!Object.keys(body).length)
        throw usageFault('Nothing to change was said.', 'See: gateway deployments update --help')
      const reply = await gateway.call('deployments.update', {params: {deploymentId: slug}, body})
      gateway.print.done(reply, `Changed the deployment ${slug}.`)
    }),
  )
}

function writes(command: Command): Command {
  return withAllowed(command)
    .option('--name <name>', 'name to show (default: the slug)')
    .option('--config <file>', 'JSON or YAML of what you keep about it, or - for stdin; no place for secrets')
}

async function written(gateway: Gateway, {name, type, config, ...allowed}: WriteOptions) {
  return {
    ...(name !== undefined && {name}),
    ...(type !== undefined && {type}),
    ...(config !== undefined && {config: await structuredFrom(gateway.world, config, '--config')}),
    ...(await allowedOf(gateway, allowed)),
  }
}
