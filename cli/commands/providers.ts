import {type Command, Option} from 'commander'
import {change, type DryRunOption, withDryRun} from '../change.ts'
import type {BodyOf, RowOf} from '../client.ts'
import {type Gateway, withGateway} from '../connect.ts'
import {warnOfNoAddress, warnOfNoCredential} from '../credential.ts'
import {CommandFault, usageFault} from '../fault.ts'
import {slugsOf} from '../finding/slugs.ts'
import {type LimitOptions, limitChangesOf, limitsOf, withLimits} from '../limit-options.ts'
import {readPairs} from '../option-parsers.ts'
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
import type {TableColumn} from '../table.ts'
import {workspaceFor} from '../workspace.ts'
import {capabilities, catalog} from './catalog.ts'
import {configurationsOf, type PlaceOptions, withPlace} from './locations.ts'
import {deleteCommand, inputOf, listCommand, minute, type Noun, named, showCommand} from './rows.ts'

export interface ListedProvider {
  readonly slug: string
  readonly name: string
  readonly status: string
  readonly integration_id: string
  readonly ai_provider_id: string
  readonly created_at: string
}

const providerNoun: Noun<'providers'> = {
  command: 'providers',
  one: 'provider',
  many: 'providers',
  operations: 'providers',
  param: 'slug',
  example: 'my-openai',
  one_in_workspace: true,
  columns: columnsOf(new Map()),
  columnsFor: async gateway => columnsOf(await slugsOf(gateway, 'integrations.list')),
}

/** `integrations` are slugs by id. */
function columnsOf(integrations: ReadonlyMap<string, string>): readonly TableColumn<RowOf<'providers.list'>>[] {
  return [
    {title: 'slug', value: row => row.slug, whole: true},
    {title: 'name', value: row => row.name},
    {title: 'kind', value: row => row.ai_provider_id},
    {title: 'integration', value: ({integration_id: id}) => integrations.get(id) ?? id, optional: 1},
    {title: 'status', value: row => row.status},
    {title: 'created', value: row => minute(row.created_at), optional: 2},
  ]
}

/** `gateway providers`: what models are called through, as `@slug`. */
export function providers(): Command {
  return group('providers', 'Providers: what a workspace calls models through, as @slug', [
    create(),
    listCommand(providerNoun),
    showCommand(providerNoun),
    update(),
    deleteCommand(providerNoun, 'calls to it are refused'),
    catalog(),
    capabilities(),
  ])
}

interface WriteOptions extends LimitOptions, ExpiryOption {
  readonly name?: string
  readonly note?: string
  readonly tag?: readonly string[]
}

interface CreateOptions extends WriteOptions, WorkspaceOption, SecretOptions, PlaceOptions {
  readonly kind?: string
  readonly integration?: string
}

function create(): Command {
  const command = leaf('create', 'Create a provider, and with --kind the integration that holds its credentials', [
    'gateway providers create my-openai --kind openai --key-file openai.key --workspace research',
    'gateway providers create local --kind ollama --custom-host http://10.0.0.5:11434',
    'gateway providers create my-openai --integration shared-openai --budget 50 --reset monthly',
  ])
    .argument('<slug>', 'callers say @slug')
    .addOption(
      new Option('--kind <provider>', 'kind of provider: makes an integration of this slug too').conflicts(
        'integration',
      ),
    )
    .addOption(new Option('--integration <slug>', 'integration to make it of'))
  withSecret(withPlace(withWorkspace(command, 'workspace it is for')))
  writes(command)
  return withLimits(command).action((slug: string, options: CreateOptions, self: Command) =>
    withGateway(self, async gateway => {
      const secret = await secretOf(options, gateway.world, gateway.print.note)
      const configurations = await configurationsOf(options, gateway.world)
      if (options.kind === undefined && options.integration === undefined)
        throw usageFault(
          'Say what it is made of: --kind for a new integration, --integration for one that is there.',
          'For example: gateway providers create my-openai --kind openai --key-file openai.key',
        )
      if (options.kind === undefined && (secret !== undefined || configurations))
        throw usageFault('Credentials belong to the integration: give them with --kind, or change that integration.')
      const workspace_id = await workspaceFor(gateway, options.workspace)
      const body = {
        slug,
        name: options.name ?? slug,
        ...(workspace_id !== undefined && {workspace_id}),
        ...limitsOf(options),
        ...written(options, gateway),
      }
      const reply =
        options.kind === undefined
          ? await createOf(gateway, options.integration!, body)
          : await createWhole(
              gateway,
              {
                ai_provider_id: options.kind,
                ...(secret !== undefined && {key: secret}),
                ...(configurations && {configurations}),
              },
              body,
            )
      gateway.print.made(
        reply,
        reply.slug,
        `Created the provider @${reply.slug}. Call it as the model @${reply.slug}/MODEL.`,
      )
      if (options.kind !== undefined) {
        await warnOfNoCredential(gateway, options.kind, reply.slug, {
          ...(secret !== undefined && {key: secret}),
          ...(configurations && {configurations}),
        })
        await warnOfNoAddress(gateway, options.kind, reply.slug, configurations)
      }
    }),
  )
}

/** Opening an integration to a workspace makes a provider there: a fault about the slug names that one. */
async function createOf({call}: Gateway, integration_id: string, body: ProviderBody) {
  try {
    return await call('providers.create', {body: {...body, integration_id}})
  } catch (fault) {
    if (!(fault instanceof CommandFault) || fault.status !== 409) throw fault
    const {slug, workspace_id} = body
    const [there, integration] = await Promise.all([
      call('providers.get', {params: {slug}, query: {workspace_id}}),
      call('integrations.get', {params: {slug: integration_id}}),
    ]).catch(() => [])
    const is_its = integration && [integration.id, integration.slug].includes(there?.integration_id ?? '')
    if (!is_its) throw fault
    const {exit, code, status} = fault
    throw new CommandFault(`The integration ${integration_id} has the provider @${slug} already.`, {
      ...{exit, code, status},
      next: `Call it as @${slug}/MODEL, change it with gateway providers update ${slug}, or choose another slug.`,
    })
  }
}

type ProviderBody = Omit<BodyOf<'providers.create'>, 'integration_id'> & {readonly slug: string; readonly name: string}
type Credentials = Pick<BodyOf<'integrations.create'>, 'ai_provider_id' | 'key' | 'configurations'>

/**
 * Makes an integration, opens it to the workspace, and makes the provider; where a step is refused, nothing is left
 * behind.
 */
async function createWhole({call}: Gateway, credentials: Credentials, body: ProviderBody) {
  const {slug, name, workspace_id} = body
  const integration = await call('integrations.create', {
    body: {slug, name, create_default_provider: false, ...credentials},
  }).catch(fault => {
    throw fault instanceof CommandFault && fault.status === 409 ? taken(slug, fault) : fault
  })
  const params = {slug: integration.slug}
  try {
    if (workspace_id !== undefined) {
      const workspaces = [{id: workspace_id, enabled: true, create_default_provider: false}]
      await call('integrations.update_workspaces', {params, body: {workspaces}})
    }
    return await call('providers.create', {body: {...body, integration_id: integration.slug}})
  } catch (fault) {
    // The first fault is the one to report; the integration without a provider would only block a second try.
    await call('integrations.delete', {params}).catch(() => undefined)
    throw fault
  }
}

function taken(slug: string, {exit, code}: CommandFault): CommandFault {
  const next = `Make a provider of it with --integration ${slug}, or delete it first: gateway integrations delete ${slug}`
  return new CommandFault(`There is an integration called ${slug} already.`, {exit, code, status: 409, next})
}

function update(): Command {
  const command = leaf('update', 'Change a provider', [
    'gateway providers update my-openai --budget 100 --reset monthly',
    'gateway providers update my-openai --no-rate',
  ])
  named(command, providerNoun).option('--reset-usage', 'count its use from zero again')
  writes(command)
  return withDryRun(withLimits(command, {clears: true})).action(
    (slug: string, options: WriteOptions & WorkspaceOption & DryRunOption & {resetUsage?: true}, self: Command) =>
      withGateway(self, async gateway => {
        const input = await inputOf(gateway, providerNoun, slug, options)
        const current = async () => (await gateway.call('providers.get', input)).rate_limits ?? []
        const body = {
          ...(options.name !== undefined && {name: options.name}),
          ...(options.resetUsage && {reset_usage: true}),
          ...written(options, gateway),
          ...(await limitChangesOf(options, current)),
        }
        if (!Object.keys(body).length)
          throw usageFault('Nothing to change was said.', 'See: gateway providers update --help')
        await change(gateway, 'providers.update', {...input, body}, `the provider ${slug}`, options)
      }),
  )
}

function writes(command: Command) {
  withExpiry(command)
    .option('--name <name>', 'name to show (default: the slug)')
    .option('--note <text>', 'what it is for')
    .option('--tag <name=value...>', 'tags to find it by')
}

function written(options: WriteOptions, {world}: Gateway) {
  return {
    ...expiryOf(options, world),
    ...(options.note !== undefined && {note: options.note}),
    ...(options.tag && {tags: readPairs(options.tag, '--tag')}),
  }
}
