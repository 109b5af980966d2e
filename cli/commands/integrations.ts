import type {Command} from 'commander'
import {change, type DryRunOption, withDryRun} from '../change.ts'
import {withGateway} from '../connect.ts'
import {warnOfNoAddress, warnOfNoCredential} from '../credential.ts'
import {usageFault} from '../fault.ts'
import {readPairs} from '../option-parsers.ts'
import {
  group,
  jsonFrom,
  leaf,
  type SecretOptions,
  secretOf,
  type WorkspaceOption,
  withSecret,
  withWorkspace,
} from '../options.ts'
import type {TableColumn} from '../table.ts'
import {workspaceFor, workspaceIfSaid} from '../workspace.ts'
import {configurationsOf, type PlaceOptions, withPlace} from './locations.ts'
import {deleteCommand, inputOf, listCommand, minute, type Noun, named, showCommand} from './rows.ts'

const integrationNoun: Noun<'integrations'> = {
  command: 'integrations',
  one: 'integration',
  many: 'integrations',
  operations: 'integrations',
  param: 'slug',
  example: 'shared-openai',
  one_in_workspace: false,
  columns: [
    {title: 'slug', value: row => row.slug, whole: true},
    {title: 'name', value: row => row.name},
    {title: 'kind', value: row => row.ai_provider_id},
    {title: 'of', value: row => row.type},
    {title: 'status', value: row => row.status},
    {title: 'created', value: row => minute(row.created_at), optional: 1},
  ],
}

/** `gateway integrations`: where credentials live. */
export function integrations(): Command {
  return group('integrations', 'Integrations: credentials of a provider, opened to workspaces', [
    create(),
    listCommand(integrationNoun),
    showCommand(integrationNoun),
    update(),
    deleteCommand(integrationNoun, 'the providers made of it go with it'),
    models(),
    workspaces(),
  ])
}

interface WriteOptions extends SecretOptions, PlaceOptions {
  readonly name?: string
  readonly description?: string
  readonly tag?: readonly string[]
}

function create(): Command {
  const command = leaf(
    'create',
    "Create an integration: the organisation's, or with --workspace that workspace's own",
    [
      'gateway integrations create shared-openai --kind openai --key-file openai.key',
      'vault read -field=key models/openai | gateway integrations create shared-openai --kind openai --key-stdin',
    ],
  )
    .argument('<slug>', 'slug to give it')
    .requiredOption('--kind <provider>', 'kind of provider')
  writes(withWorkspace(command, 'of this workspace alone; it gets a provider of this slug'))
  return command.action((slug: string, options: WriteOptions & WorkspaceOption & {kind: string}, self: Command) =>
    withGateway(self, async gateway => {
      const workspace_id = await workspaceIfSaid(gateway, options.workspace)
      const home = workspace_id === undefined ? {} : {workspace_id, default_provider_slug: slug}
      const body = {slug, name: slug, ai_provider_id: options.kind, ...home, ...(await written(options, gateway))}
      const reply = await gateway.call('integrations.create', {body})
      gateway.print.made(reply, reply.slug, `Created the integration ${reply.slug}.`)
      await warnOfNoCredential(gateway, options.kind, reply.slug, body)
      await warnOfNoAddress(gateway, options.kind, reply.slug, body.configurations)
      if (!workspace_id)
        gateway.print.note(
          `Open it to a workspace: ${gateway.typed(`integrations workspaces ${reply.slug} --open WORKSPACE`)}`,
        )
    }),
  )
}

function update(): Command {
  const command = named(
    leaf('update', 'Change an integration; a new key takes effect on the next call', [
      'gateway integrations update shared-openai --key-file openai.key',
    ]),
    integrationNoun,
  )
  writes(command)
  return withDryRun(command).action((slug: string, options: WriteOptions & DryRunOption, self: Command) =>
    withGateway(self, async gateway => {
      const params = {slug}
      const current = async () => (await gateway.call('integrations.get', {params})).configurations
      const body = await written(options, gateway, current)
      if (!Object.keys(body).length)
        throw usageFault('Nothing to change was said.', 'See: gateway integrations update --help')
      await change(gateway, 'integrations.update', {params, body}, `the integration ${slug}`, options)
    }),
  )
}

interface ModelRow {
  readonly slug: string
  readonly enabled: boolean
  readonly is_custom: boolean
  readonly pricing_config: object | null
}

const MODEL_COLUMNS: readonly TableColumn<ModelRow>[] = [
  {title: 'model', value: row => row.slug, whole: true},
  {title: 'enabled', value: row => row.enabled},
  {title: 'custom', value: row => row.is_custom},
  {title: 'own price', value: row => row.pricing_config !== null},
]

const ALL_MODELS =
  'No model is named here, so all models of the provider may be called. GET /v1/models lists those that a key can call.'
const NO_MODELS =
  'No model is named here, and only named models may be called: name some with --allow, or let all through with --all.'

interface ModelOptions {
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
  readonly add?: readonly string[]
  readonly remove?: readonly string[]
  readonly only?: true
  readonly all?: true
  readonly file?: string
}

function models(): Command {
  return named(
    leaf('models', 'List what is said of models, or change it', [
      'gateway integrations models shared-openai',
      'gateway integrations models shared-openai --allow gpt-5 gpt-5-mini --only',
      'gateway integrations models shared-openai --remove my-tune',
      'gateway integrations models shared-openai --file models.json',
    ]),
    integrationNoun,
  )
    .option('--allow <model...>', 'let calls to these models through')
    .option('--deny <model...>', 'refuse calls to these')
    .option('--add <model...>', "add models of your own that the provider's list does not have")
    .option('--remove <model...>', 'remove models that were added')
    .option('--only', 'refuse every model that is not allowed by name')
    .option('--all', 'let every model through that is not denied by name')
    .option('--file <file>', 'the body of the operation as JSON ({"models": [...]}), with prices; - for stdin')
    .action((slug: string, options: ModelOptions, self: Command) =>
      withGateway(self, async gateway => {
        const params = {slug}
        const body = await modelsBody(options, gateway)
        const {remove} = options
        if (body) await gateway.call('integrations.update_models', {params, body})
        if (remove) await gateway.call('integrations.delete_models', {params, query: {slugs: remove.join(',')}})
        const reply = await gateway.call('integrations.list_models', {params})
        if (reply.models.length > 0 || gateway.print.json) return gateway.print.list(reply, reply.models, MODEL_COLUMNS)
        const {allow_all_models} = await gateway.call('integrations.get', {params})
        gateway.print.note(allow_all_models ? ALL_MODELS : NO_MODELS)
      }),
    )
}

async function modelsBody(
  {allow = [], deny = [], add = [], only, all, file}: ModelOptions,
  {world}: Pick<Parameters<typeof written>[1], 'world'>,
) {
  if (only && all) throw usageFault('--only and --all are both given; keep one.')
  const listed = [
    ...allow.map(slug => ({slug, enabled: true})),
    ...deny.map(slug => ({slug, enabled: false})),
    ...add.map(slug => ({slug, enabled: true, is_custom: true})),
  ]
  if (file !== undefined) {
    if (listed.length || only || all) throw usageFault('--file says everything: give no other change beside it.')
    return jsonFrom(world, file, '--file')
  }
  if (!listed.length && !only && !all) return undefined
  return {models: listed, ...((only || all) && {allow_all_models: all === true})}
}

interface AccessRow {
  readonly slug: string
  readonly name: string
  readonly enabled: boolean
}

const ACCESS_COLUMNS: readonly TableColumn<AccessRow>[] = [
  {title: 'slug', value: row => row.slug, whole: true},
  {title: 'name', value: row => row.name},
  {title: 'open', value: row => row.enabled},
]

interface AccessOptions {
  readonly open?: readonly string[]
  readonly close?: readonly string[]
  readonly all?: true
  readonly provider?: string | false
}

function workspaces(): Command {
  return named(
    leaf('workspaces', 'List the workspaces that may use an integration, or change them', [
      'gateway integrations workspaces shared-openai',
      'gateway integrations workspaces shared-openai --open research --provider my-openai',
    ]),
    integrationNoun,
  )
    .option('--open <workspace...>', 'open it to these workspaces')
    .option('--close <workspace...>', 'close it to these')
    .option('--all', 'open it to every workspace, those to come too')
    .option('--provider <slug>', 'slug of the provider that a newly opened workspace gets')
    .option('--no-provider', 'make no provider in workspaces that are opened')
    .action((slug: string, options: AccessOptions, self: Command) =>
      withGateway(self, async gateway => {
        const input = await inputOf(gateway, integrationNoun, slug, {})
        const {open = [], close = [], all, provider} = options
        if (open.length || close.length || all) {
          const row = async (name: string, enabled: boolean) => ({
            id: (await workspaceFor(gateway, name)) ?? name,
            enabled,
          })
          const rows = await Promise.all([...open.map(name => row(name, true)), ...close.map(name => row(name, false))])
          const body = {
            ...(rows.length && {workspaces: rows}),
            ...(all && {global_workspace_access: {enabled: true}}),
            ...(typeof provider === 'string' && {default_provider_slug: provider}),
            ...(provider === false && {create_default_provider: false}),
          }
          await gateway.call('integrations.update_workspaces', {...input, body})
        } else if (provider !== undefined) throw usageFault('--provider says more of --open or --all: add one of them.')
        const reply = await gateway.call('integrations.list_workspaces', input)
        gateway.print.list(reply, reply.workspaces, ACCESS_COLUMNS)
      }),
    )
}

function writes(command: Command) {
  withSecret(withPlace(command))
    .option('--name <name>', 'name to show (default: the slug)')
    .option('--description <text>', 'what it is for')
    .option('--tag <name=value...>', 'tags to find it by')
}

async function written(
  options: WriteOptions,
  {world, print}: {world: Parameters<typeof secretOf>[1]; print: {note(text: string): void}},
  current?: () => Promise<object>,
) {
  const key = await secretOf(options, world, print.note)
  const configurations = await configurationsOf(options, world, current)
  return {
    ...(options.name !== undefined && {name: options.name}),
    ...(options.description !== undefined && {description: options.description}),
    ...(options.tag && {tags: readPairs(options.tag, '--tag')}),
    ...(key !== undefined && {key}),
    ...(configurations && {configurations}),
  }
}
