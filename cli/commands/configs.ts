import type {Command} from 'commander'
import {withGateway} from '../connect.ts'
import {CommandFault, EXIT, usageFault} from '../fault.ts'
import {slugByName} from '../finding/by-name.ts'
import {group, jsonFrom, leaf, type WorkspaceOption, withWorkspace} from '../options.ts'
import {openSession} from '../session.ts'
import type {TableColumn} from '../table.ts'
import {workspaceFor} from '../workspace.ts'
import {explain} from './explain.ts'
import {
  deleteCommand,
  inputOf,
  listCommand,
  minute,
  type Noun,
  named,
  showCommand,
  VERSION_COLUMNS,
  type VersionOf,
  versionsCommand,
} from './rows.ts'
import {test} from './suite.ts'

const configNoun: Noun<'configs'> = {
  command: 'configs',
  one: 'config',
  many: 'configs',
  operations: 'configs',
  param: 'slug',
  example: 'pc-main-1a2b3c',
  one_in_workspace: true,
  find: (gateway, named, workspace_id) => slugByName(gateway, 'configs.list', named, workspace_id),
  columns: [
    {title: 'slug', value: row => row.slug, whole: true},
    {title: 'name', value: row => row.name},
    {title: 'default', value: row => row.is_default === 1},
    {title: 'status', value: row => row.status},
    {title: 'changed', value: row => minute(row.last_updated_at)},
  ],
}

const VERSIONS: readonly TableColumn<VersionOf<'configs'>>[] = [
  ...VERSION_COLUMNS,
  {title: 'config', value: row => row.config, optional: 2},
]

/** `gateway configs`: saved routing. */
export function configs(): Command {
  return group('configs', 'Configs: saved routing that calls name by slug', [
    create(),
    listCommand(configNoun),
    showCommand(configNoun),
    update(),
    deleteCommand(configNoun, 'calls that name it are refused'),
    versionsCommand(configNoun, VERSIONS),
    lint(),
    explain(),
    test(),
  ])
}

interface WriteOptions extends WorkspaceOption {
  readonly name?: string
  readonly config?: string
  readonly default?: boolean
}

function create(): Command {
  const command = leaf('create', 'Save a config', [
    'gateway configs create main --config main.json --workspace research --default',
    'echo \'{"provider":"@my-openai"}\' | gateway configs create main --config -',
  ])
    .argument('<name>', 'what to call it; its slug follows from it')
    .requiredOption('--config <file>', 'JSON file with the routing, or - for stdin')
    .option('--default', 'for calls of the workspace that name none')
  return withWorkspace(command, 'workspace it is for').action(
    (name: string, options: WriteOptions & {config: string}, self: Command) =>
      withGateway(self, async gateway => {
        const config = await jsonFrom(gateway.world, options.config, '--config')
        const workspace_id = await workspaceFor(gateway, options.workspace)
        const body = {
          name,
          config,
          ...(workspace_id !== undefined && {workspace_id}),
          ...(options.default && {isDefault: 1 as const}),
        }
        const reply = await gateway.call('configs.create', {body})
        gateway.print.made(reply, reply.data.slug, `Saved the config ${name}: ${reply.data.slug}`)
      }),
  )
}

function update(): Command {
  return named(
    leaf('update', 'Change a config; other routing is a new version', [
      'gateway configs update pc-main-1a2b3c --config main.json',
      'gateway configs update pc-main-1a2b3c --no-default',
    ]),
    configNoun,
  )
    .option('--config <file>', 'JSON file with the routing, or - for stdin')
    .option('--name <name>', 'a new name')
    .option('--default', 'for calls of the workspace that name none')
    .option('--no-default', 'not for those any more')
    .action((slug: string, options: WriteOptions, self: Command) =>
      withGateway(self, async gateway => {
        const body = {
          ...(options.name !== undefined && {name: options.name}),
          ...(options.config !== undefined && {config: await jsonFrom(gateway.world, options.config, '--config')}),
          ...(options.default !== undefined && {isDefault: options.default ? (1 as const) : (0 as const)}),
        }
        if (!Object.keys(body).length)
          throw usageFault('Nothing to change was said.', 'See: gateway configs update --help')
        const reply = await gateway.call('configs.update', {
          ...(await inputOf(gateway, configNoun, slug, options)),
          body,
        })
        gateway.print.done(reply, `Changed the config ${slug}.`)
      }),
    )
}

function lint(): Command {
  return leaf('lint', 'Check routing without saving it: what is wrong, and what would have no effect', [
    'gateway configs lint main.json',
    'cat main.json | gateway configs lint - --json',
  ])
    .argument('<file>', 'JSON file with the routing, or - for stdin')
    .action(async (file: string, _: object, self: Command) => {
      const {world, print} = await openSession(self)
      const [{lint}, {find, nearestSlugs}, {guardrailFaults, SOME_GUARDRAIL}] = await Promise.all([
        import('../../src/routing/lint.ts'),
        import('../../src/providers/registry.ts'),
        import('../../src/guardrails/config-faults.ts'),
      ])
      const unknownKind = (kind: string) => {
        if (find(kind)) return undefined
        const [close] = nearestSlugs(kind)
        return `is no kind of provider${close ? `; did you mean ${close}?` : ''}`
      }
      const linted = lint(await jsonFrom(world, file, 'FILE'), {
        unknownKind,
        hookIssues: nodes => guardrailFaults(nodes, () => SOME_GUARDRAIL),
      })
      const {ok, targets, issues} = linted
      if (ok) return print.done(linted, `OK: ${targets} ${targets === 1 ? 'target' : 'targets'}.`)
      if (print.json) print.json_reply(linted)
      else for (const {path, message} of issues) print.line(`${path}: ${message}`)
      const count = issues.length === 1 ? 'one thing is' : `${issues.length} things are`
      throw new CommandFault(`The config would not be saved: ${count} wrong with it.`, {
        exit: EXIT.failure,
        code: 'config_refused',
      })
    })
}
