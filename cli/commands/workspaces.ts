import {type Command, Option} from 'commander'
import {UNREADABLE_BODIES, type UnreadableBodies} from '../../src/schema/guardrails.ts'
import {change, type DryRunOption, withDryRun} from '../change.ts'
import {type Gateway, withGateway} from '../connect.ts'
import {usageFault} from '../fault.ts'
import {type DefaultGuardrailOptions, defaultGuardrailsOf, withDefaultGuardrails} from '../guardrail.ts'
import {type LimitOptions, limitChangesOf, limitsOf, withLimits} from '../limit-options.ts'
import {type ModelOptions, modelsOf, withModels} from '../model-options.ts'
import {readPairs} from '../option-parsers.ts'
import {type ConfirmOption, confirmed, group, leaf, type PageOptions, pageOf, withPage} from '../options.ts'
import {workspaceFor} from '../workspace.ts'
import {readSecurity, SECURITY_WORDS} from './organisations.ts'
import {minute, type Noun, showCommand} from './rows.ts'

const workspaceNoun: Noun<'workspaces'> = {
  command: 'workspaces',
  one: 'workspace',
  many: 'workspaces',
  operations: 'workspaces',
  param: 'workspaceId',
  example: 'research',
  one_in_workspace: false,
  find: async (gateway, name) => (await workspaceFor(gateway, name)) ?? name,
  columns: [
    {title: 'slug', value: row => row.slug, whole: true},
    {title: 'name', value: row => row.name},
    {title: 'status', value: row => row.status},
    {title: 'default', value: row => row.is_default},
    {title: 'created', value: row => minute(row.created_at), optional: 1},
  ],
}

/** `gateway workspaces`: teams, each with its keys, providers and configs. */
export function workspaces(): Command {
  return group('workspaces', 'Workspaces: teams with keys, providers and configs of their own', [
    create(),
    list(),
    showCommand(workspaceNoun),
    update(),
    remove(),
    settings(),
  ])
}

interface WriteOptions extends LimitOptions, ModelOptions, DefaultGuardrailOptions {
  readonly name?: string
  readonly description?: string
  readonly metadata?: readonly string[]
  readonly restore?: true
  readonly unreadableBodies?: UnreadableBodies | 'inherit'
}

function create(): Command {
  const command = leaf('create', 'Create a workspace', [
    'gateway workspaces create research',
    'gateway workspaces create research --budget 500 --reset monthly',
  ]).argument('<name>', 'what to call it')
  withModels(writes(command))
  return withLimits(command).action((name: string, options: WriteOptions, self: Command) =>
    withGateway(self, async gateway => {
      const body = {name, ...limitsOf(options), ...(await written(gateway, options))}
      const reply = await gateway.call('workspaces.create', {body})
      gateway.print.made(reply, reply.slug, `Created the workspace ${name}: ${reply.slug}`)
    }),
  )
}

function list(): Command {
  const command = leaf('list', 'List workspaces', [
    'gateway workspaces list',
    'gateway workspaces list --archived --json',
  ]).option('--archived', 'archived ones too')
  return withPage(command).action((options: PageOptions & {archived?: true}, self: Command) =>
    withGateway(self, async ({call, print}) => {
      const query = {...pageOf(options), ...(options.archived && {status: 'active,archived'})}
      const reply = await call('workspaces.list', {query})
      print.list(reply, reply.data, workspaceNoun.columns, reply.total)
    }),
  )
}

function update(): Command {
  const command = leaf('update', 'Change a workspace, or bring an archived one back', [
    'gateway workspaces update research --name "Research and development"',
    'gateway workspaces update research --input-guardrails pg-house-1a2b3c --no-output-guardrails',
    'gateway workspaces update ws-research-1a2b3c --restore',
    "gateway workspaces update research --deny-models 'o1*' '@legacy/*'",
  ])
    .argument('<name>', 'which workspace')
    .option('--name <name>', 'a new name')
    .option('--restore', 'bring an archived workspace back, empty (name it by slug)')
    .addOption(
      new Option(
        '--unreadable-bodies <word>',
        'calls with bodies that guardrails cannot read; inherit: as the setting says',
      ).choices([...UNREADABLE_BODIES, 'inherit']),
    )
  withModels(writes(command), {clears: true})
  withDefaultGuardrails(command, 'it')
  return withDryRun(withLimits(command, {clears: true})).action(
    (name: string, options: WriteOptions & DryRunOption, self: Command) =>
      withGateway(self, async gateway => {
        const workspaceId = options.restore ? name : ((await workspaceFor(gateway, name)) ?? name)
        const input = {params: {workspaceId}}
        const current = async () => (await gateway.call('workspaces.get', input)).rate_limits
        const body = {
          ...(options.name !== undefined && {name: options.name}),
          ...(options.restore && {status: 'active'}),
          ...(await written(gateway, options)),
          ...(await limitChangesOf(options, current)),
        }
        if (!Object.keys(body).length)
          throw usageFault('Nothing to change was said.', 'See: gateway workspaces update --help')
        await change(gateway, 'workspaces.update', {...input, body}, `the workspace ${name}`, options)
      }),
  )
}

function remove(): Command {
  return leaf('delete', 'Archive a workspace', [
    'gateway workspaces delete research',
    'gateway workspaces delete research --force',
  ])
    .argument('<name>', 'which workspace')
    .option('--force', 'archive what lives in it too: keys, providers, configs')
    .option('-y, --yes', 'do not ask first')
    .action((name: string, {force, yes}: {force?: true} & ConfirmOption, self: Command) =>
      withGateway(self, async gateway => {
        await confirmed(gateway.world, `Archive the workspace ${name}`, {yes})
        const workspaceId = (await workspaceFor(gateway, name)) ?? name
        // The operation asks for the exact name as a guard against a wrong id; a slug names one already.
        const {name: exact} = await gateway.call('workspaces.get', {params: {workspaceId}})
        const reply = await gateway.call('workspaces.delete', {
          params: {workspaceId},
          body: {name: exact, ...(force && {force_delete: true})},
        })
        gateway.print.done(reply, `Archived the workspace ${name}.`)
      }),
    )
}

function settings(): Command {
  return leaf('settings', 'Show or change the security settings of a workspace', [
    'gateway workspaces settings research',
    'gateway workspaces settings research --security logs.membersViewLogs=false',
  ])
    .argument('<name>', 'which workspace')
    .option('--security <setting...>', SECURITY_WORDS)
    .action((name: string, {security}: {security?: readonly string[]}, self: Command) =>
      withGateway(self, async gateway => {
        const workspaceId = (await workspaceFor(gateway, name)) ?? name
        if (security)
          await gateway.call('workspace_settings.update', {
            params: {workspaceId},
            body: {security: readSecurity(security)},
          })
        const reply = await gateway.call('workspace_settings.get', {params: {workspaceId}})
        gateway.print.view(reply, reply.effective)
      }),
    )
}

function writes(command: Command): Command {
  return command
    .option('--description <text>', 'what it is for')
    .option('--metadata <name=value...>', 'metadata that every call of it carries')
}

async function written(gateway: Gateway, options: WriteOptions) {
  const {metadata} = options
  const defaults = {
    ...(metadata && {metadata: readPairs(metadata, '--metadata')}),
    ...(await defaultGuardrailsOf(gateway, options)),
    ...(options.unreadableBodies !== undefined && {
      unreadable_bodies: options.unreadableBodies === 'inherit' ? null : options.unreadableBodies,
    }),
  }
  return {
    ...(options.description !== undefined && {description: options.description}),
    ...modelsOf(options),
    ...(Object.keys(defaults).length && {defaults}),
  }
}
