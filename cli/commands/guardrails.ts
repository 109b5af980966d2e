import type {Command} from 'commander'
import {isObject} from '../../src/base/json-object.ts'
import {type Unchecked, unchecked} from '../client.ts'
import {type Gateway, withGateway} from '../connect.ts'
import {usageFault} from '../fault.ts'
import {slugByName} from '../finding/by-name.ts'
import {type DefaultGuardrailOptions, defaultGuardrailsOf, withDefaultGuardrails} from '../guardrail.ts'
import {group, leaf, type WorkspaceOption, withWorkspace} from '../options.ts'
import {structuredFrom} from '../structured.ts'
import type {TableColumn} from '../table.ts'
import {workspaceFor} from '../workspace.ts'
import {coverage} from './guardrails-coverage.ts'
import {evaluate} from './guardrails-eval.ts'
import {test} from './guardrails-test.ts'
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

const noun: Noun<'guardrails'> = {
  command: 'guardrails',
  one: 'guardrail',
  many: 'guardrails',
  operations: 'guardrails',
  param: 'guardrailId',
  example: 'pg-house-1a2b3c',
  one_in_workspace: false,
  find: (gateway, named) => slugByName(gateway, 'guardrails.list', named),
  columns: [
    {title: 'slug', value: row => row.slug, whole: true},
    {title: 'name', value: row => row.name},
    {title: 'shared', value: row => row.workspace_id === null},
    {title: 'changed', value: row => minute(row.last_updated_at)},
  ],
}

const VERSIONS: readonly TableColumn<VersionOf<'guardrails'>>[] = [
  ...VERSION_COLUMNS,
  {title: 'denies', value: row => row.actions.deny === true, optional: 2},
  {title: 'checks', value: row => row.checks.map(({id}) => id).join(', '), optional: 3},
]

/** `gateway guardrails`: saved checks that configs, calls and defaults name by slug. */
export function guardrails(): Command {
  return group('guardrails', 'Guardrails: saved checks that configs, calls and defaults name by slug', [
    create(),
    listCommand(noun),
    showCommand(noun),
    update(),
    deleteCommand(noun, 'no default and no saved config may name it'),
    versionsCommand(noun, VERSIONS),
    defaults(),
    servers(),
    test(),
    evaluate(),
    coverage(),
  ])
}

interface WriteOptions extends WorkspaceOption {
  readonly file?: string
  readonly name?: string
  readonly shared?: true
}

function create(): Command {
  const command = leaf('create', 'Save a guardrail', [
    'gateway guardrails create house-words --file guardrail.json --workspace research',
    'gateway guardrails create house-words --file guardrail.yaml --shared',
  ])
    .argument('<name>', 'what to call it; its slug follows from it')
    .requiredOption('--file <file>', 'JSON or YAML with checks and actions, or - for stdin')
    .option('--shared', 'for every workspace of the organisation')
  return withWorkspace(command, 'workspace it is for').action(
    (name: string, options: WriteOptions & {file: string}, self: Command) =>
      withGateway(self, async gateway => {
        const guardrail = await guardrailIn(gateway, options.file)
        const body = {actions: {}, ...guardrail, name, ...(await placeOf(gateway, options))}
        const reply = await gateway.call('guardrails.create', {body})
        gateway.print.made(reply, reply.slug, `Saved the guardrail ${name}: ${reply.slug}`)
      }),
  )
}

async function placeOf(gateway: Gateway, {shared, workspace}: WriteOptions) {
  if (!shared) {
    const workspace_id = await workspaceFor(gateway, workspace)
    return workspace_id === undefined ? {} : {workspace_id}
  }
  if (workspace !== undefined) throw usageFault('--shared and --workspace are both given; keep one.')
  const {data} = await gateway.call('api_keys.list', {query: {page_size: 1}})
  if (!data[0])
    throw usageFault('The organisation is not known, for it has no API key.', 'See: gateway keys create --help')
  return {organisation_id: data[0].organisation_id}
}

function update(): Command {
  return named(
    leaf('update', 'Change a guardrail; other checks or actions are a new version', [
      'gateway guardrails update pg-house-1a2b3c --file guardrail.json',
      'gateway guardrails update pg-house-1a2b3c --name "House words"',
    ]),
    noun,
  )
    .option('--file <file>', 'JSON or YAML with checks, actions or both, or - for stdin')
    .option('--name <name>', 'a new name')
    .action((slug: string, options: WriteOptions, self: Command) =>
      withGateway(self, async gateway => {
        const guardrail = options.file === undefined ? {} : await guardrailIn(gateway, options.file)
        const body = {...guardrail, ...(options.name !== undefined && {name: options.name})}
        if (!Object.keys(body).length)
          throw usageFault('Nothing to change was said.', 'See: gateway guardrails update --help')
        const reply = await gateway.call('guardrails.update', {...(await inputOf(gateway, noun, slug, options)), body})
        gateway.print.done(reply, `Changed the guardrail ${slug}.`)
      }),
    )
}

function defaults(): Command {
  const command = leaf(
    'defaults',
    'Show, or change, the shared guardrails that run on every call of the organisation',
    [
      'gateway guardrails defaults',
      'gateway guardrails defaults --input-guardrails pg-house-1a2b3c --no-output-guardrails',
    ],
  )
  return withDefaultGuardrails(command, 'it').action((options: DefaultGuardrailOptions, self: Command) =>
    withGateway(self, async gateway => {
      const body = await defaultGuardrailsOf(gateway, options)
      const {call} = gateway
      const reply = Object.keys(body).length
        ? await call('organisation_defaults.update', {body})
        : await call('organisation_defaults.get')
      gateway.print.view(reply, reply)
    }),
  )
}

interface ServerOptions {
  readonly server?: readonly string[] | false
  readonly runOn?: string
}

function servers(): Command {
  return named(
    leaf('servers', 'Show, or set, the MCP servers whose calls of tools a guardrail judges', [
      'gateway guardrails servers pg-house-1a2b3c',
      'gateway guardrails servers pg-tools-1a2b3c --server docs --run-on input',
    ]),
    noun,
  )
    .option('--server <slug...>', 'these servers, in the place of all others')
    .option('--no-server', 'no server')
    .option('--run-on <side>', 'input, output or both (default: both)')
    .action((slug: string, {server, runOn}: ServerOptions, self: Command) =>
      withGateway(self, async gateway => {
        const {params} = await inputOf(gateway, noun, slug, {})
        if (server === undefined && runOn !== undefined)
          throw usageFault('--run-on says how servers are judged: name them with --server too.')
        const body = unchecked({mcp_servers: [...(server || [])], ...(runOn !== undefined && {run_on: runOn})})
        const reply =
          server === undefined
            ? await gateway.call('guardrails.get_mcp_servers', {params})
            : await gateway.call('guardrails.update_mcp_servers', {params, body})
        gateway.print.view(reply, reply)
      }),
    )
}

async function guardrailIn({world}: Gateway, path: string): Promise<Unchecked> {
  const parsed = await structuredFrom(world, path, '--file')
  if (isObject(parsed)) return parsed
  throw usageFault(`${path === '-' ? 'Stdin' : path} should hold an object with checks and actions.`)
}
