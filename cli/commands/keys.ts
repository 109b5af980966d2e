import {type Command, Option} from 'commander'
import {change, type DryRunOption, withDryRun} from '../change.ts'
import {type Gateway, withGateway} from '../connect.ts'
import {usageFault} from '../fault.ts'
import {isKeyName, keyId, type ListedKey} from '../finding/key.ts'
import {slugsOf} from '../finding/slugs.ts'
import {type LimitOptions, limitChangesOf, limitsOf, withLimits} from '../limit-options.ts'
import {type BudgetWords, budgetsOf, money} from '../limit-words.ts'
import {type ModelOptions, modelsOf, withModels} from '../model-options.ts'
import {readDuration} from '../option-parsers.ts'
import {type ExpiryOption, expiryOf, group, leaf, type WorkspaceOption, withExpiry, withWorkspace} from '../options.ts'
import type {TableColumn} from '../table.ts'
import {userFor} from '../user.ts'
import {workspaceFor} from '../workspace.ts'
import {deleteCommand, inputOf, listCommand, minute, type Noun, named, showCommand} from './rows.ts'

/** The first two groups of an id: random enough for the keys of an organisation. */
const SHORT_ID = 13

const keyNoun: Noun<'api_keys'> = {
  command: 'keys',
  one: 'API key',
  many: 'API keys, masked',
  operations: 'api_keys',
  param: 'id',
  example: 'blue',
  one_in_workspace: false,
  find: keyId,
  columns: columnsOf(new Map()),
  columnsFor: async gateway => columnsOf(await slugsOf(gateway, 'workspaces.list')),
}

/** `workspaces` are slugs by id. */
function columnsOf(workspaces: ReadonlyMap<string, string>): readonly TableColumn<ListedKey>[] {
  const budget = (row: ListedKey) => budgetsOf(row)[0]
  return [
    {title: 'id', value: row => row.id, short: row => row.id.slice(0, SHORT_ID), whole: true},
    {title: 'name', value: row => row.name},
    {title: 'workspace', value: ({workspace_id: id}) => id && (workspaces.get(id) ?? id), optional: 1},
    {title: 'key', value: row => row.key, optional: 3},
    {title: 'type', value: row => row.type, optional: 4},
    {title: 'status', value: row => row.status},
    {title: 'budget', value: row => amountIn(budget(row), 'amount'), align: 'right'},
    {title: 'used', value: row => amountIn(budget(row), 'used'), align: 'right', optional: 2},
    {title: 'expires', value: row => minute(row.expires_at) ?? 'never'},
    {title: 'created', value: row => minute(row.created_at), optional: 5},
  ]
}

function amountIn(budget: BudgetWords | undefined, member: 'amount' | 'used'): string | null {
  const amount = budget?.[member]
  return budget === undefined || amount === undefined ? null : money(budget, amount)
}

/** `gateway keys`: the keys that callers use. */
export function keys(): Command {
  return group('keys', 'API keys that clients call with', [
    create(),
    listCommand(keyNoun),
    showCommand(keyNoun),
    self(),
    update(),
    rotate(),
    deleteCommand(keyNoun, 'it works no longer'),
  ])
}

interface WriteOptions extends LimitOptions, ExpiryOption, ModelOptions {
  readonly scope?: readonly string[]
  readonly config?: string
  readonly description?: string
}

interface CreateOptions extends WriteOptions, WorkspaceOption {
  readonly admin?: true
  readonly user?: string
}

function self(): Command {
  return leaf('self', 'Show the API key that asks, at a URL', [
    'gateway keys self --url https://gateway.example.com',
  ]).action((_: object, self: Command) =>
    withGateway(self, async ({call, print}) => {
      const reply = await call('api_keys.self')
      print.view(reply, reply)
    }),
  )
}

function create(): Command {
  const command = leaf('create', 'Create an API key; the key itself is shown this once', [
    'gateway keys create blue --workspace research',
    'gateway keys create blue --expires 90d --budget 25 --reset monthly --rate 60rpm',
    'KEY=$(gateway keys create ci --quiet)',
    "gateway keys create intern --allow-models 'gpt-4o-mini' '@local/*' --deny-models '*-preview'",
    'gateway keys create automation --admin',
  ])
    .argument('<name>', 'what to call it')
    .option('--admin', 'a key of the whole organisation, to administer with; it cannot call models')
    .option('--user <user>', 'a key of one user, by e-mail address or id')
    .option('--scope <scope...>', 'permissions, or "all" (default: completions.write; of an admin key, all)')
  withWorkspace(command, 'workspace the key belongs to')
  withModels(writes(command))
  return withLimits(command).action((name: string, options: CreateOptions, self: Command) =>
    withGateway(self, async gateway => {
      const body = {
        name,
        ...(await homeOf(gateway, options)),
        ...limitsOf(options),
        ...written(options, gateway),
        scopes: await scopesFor(options),
      }
      const {print} = gateway
      const is_taken = !print.json && !print.quiet && (await isKeyName(gateway, name))
      const reply = await gateway.call('api_keys.create', {params: kindOf(options), body})
      print.made(reply, reply.key, reply.key)
      print.note('Keep it now: it is not shown again.')
      if (is_taken)
        print.note(`Note: another API key has the name ${name} too. Commands need the id of this one: ${reply.id}`)
    }),
  )
}

function update(): Command {
  const command = named(
    leaf('update', 'Change an API key', [
      'gateway keys update blue --rate 120rpm',
      'gateway keys update blue --expires never --no-budget',
    ]),
    keyNoun,
  )
    .option('--name <name>', 'a new name')
    .option('--scope <scope...>', 'permissions, in place of those it has')
    .option('--reset-usage', 'count its use from zero again')
  withModels(writes(command), {clears: true})
  return withDryRun(withLimits(command, {clears: true})).action(
    (name: string, options: WriteOptions & DryRunOption & {name?: string; resetUsage?: true}, self: Command) =>
      withGateway(self, async gateway => {
        const input = await inputOf(gateway, keyNoun, name, {})
        const current = async () => (await gateway.call('api_keys.get', input)).rate_limits
        const body = {
          ...(options.name !== undefined && {name: options.name}),
          ...(options.scope && {scopes: options.scope}),
          ...(options.resetUsage && {reset_usage: true}),
          ...written(options, gateway),
          ...(await limitChangesOf(options, current)),
        }
        if (!Object.keys(body).length)
          throw usageFault('Nothing to change was said.', 'See: gateway keys update --help')
        await change(gateway, 'api_keys.update', {...input, body}, `the API key ${name}`, options)
      }),
  )
}

function rotate(): Command {
  const command = leaf('rotate', 'Give an API key a new secret, shown this once; the one before works on for a while', [
    'gateway keys rotate blue',
    'gateway keys rotate blue --transition 24h',
  ])
  return named(command, keyNoun)
    .option('--transition <time>', 'how long the old secret still works, 30m at least', '30m')
    .action((name: string, {transition}: {transition: string}, self: Command) =>
      withGateway(self, async gateway => {
        const body = {key_transition_period_ms: readDuration(transition, '--transition')}
        const reply = await gateway.call('api_keys.rotate', {
          ...(await inputOf(gateway, keyNoun, name, {})),
          body,
        })
        gateway.print.made(reply, reply.key, reply.key)
        gateway.print.note(
          `Keep it now: it is not shown again. The old secret works until ${minute(reply.key_transition_expires_at)} UTC.`,
        )
      }),
    )
}

function writes(command: Command): Command {
  return withExpiry(command)
    .option('--description <text>', 'what it is for')
    .addOption(new Option('--config <slug>', 'config for calls that name none'))
}

function written(options: WriteOptions, {world}: Gateway) {
  return {
    ...expiryOf(options, world),
    ...modelsOf(options),
    ...(options.description !== undefined && {description: options.description}),
    ...(options.config !== undefined && {defaults: {config_id: options.config}}),
  }
}

function kindOf({admin, user}: CreateOptions) {
  if (admin && user !== undefined) throw usageFault('--admin and --user are both given; keep one.')
  return admin
    ? {type: 'organisation', subtype: 'service'}
    : {type: 'workspace', subtype: user === undefined ? 'service' : 'user'}
}

async function homeOf(gateway: Gateway, {admin, user, workspace}: CreateOptions) {
  if (admin && workspace !== undefined) throw usageFault('An admin key is of no workspace: leave --workspace out.')
  if (admin) return {}
  const workspace_id = await workspaceFor(gateway, workspace)
  return {
    ...(workspace_id !== undefined && {workspace_id}),
    ...(user !== undefined && {user_id: await userFor(gateway, user)}),
  }
}

async function scopesFor({admin, user, scope}: CreateOptions): Promise<readonly string[]> {
  const scopes = scope ?? [admin ? 'all' : 'completions.write']
  if (!scopes.includes('all')) return scopes
  const {scopesOf} = await import('../../src/identity/scopes.ts')
  return [...scopesOf(admin ? 'organisation-service' : user === undefined ? 'workspace-service' : 'workspace-user')]
}
