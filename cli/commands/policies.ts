import type {Command} from 'commander'
import {TOOL_RATE_UNITS} from '../../src/schema/limits.ts'
import {change, type DryRunOption, withDryRun} from '../change.ts'
import {type Gateway, withGateway} from '../connect.ts'
import {usageFault} from '../fault.ts'
import {readNumber, readPairs, readRate, readReset} from '../option-parsers.ts'
import {
  type EnforcementOption,
  enforcementOf,
  group,
  leaf,
  type PageOptions,
  pageOf,
  type WorkspaceOption,
  withEnforcement,
  withPage,
  withWorkspace,
} from '../options.ts'
import type {TableColumn} from '../table.ts'
import {workspaceFor} from '../workspace.ts'
import {deleteCommand, inputOf, listCommand, listed, minute, type Noun, named, showCommand} from './rows.ts'

interface PolicyRow {
  readonly id: string
  readonly name: string | null
  readonly target: string
  readonly conditions: readonly {
    readonly key: string
    readonly value: string | readonly string[]
    readonly excludes?: string | readonly string[]
  }[]
  readonly group_by: readonly {readonly key: string}[]
  readonly type: string
  readonly status: string
  readonly created_at: string
}

interface EntityRow {
  readonly id: string
  readonly value_key: string
  readonly current_usage: number
  readonly status: string
}

const EXAMPLE = '0197f0a2-6d1e-4c3b-9f0e-2b1f6a1c9d20'
const WHO: readonly TableColumn<PolicyRow>[] = [
  {title: 'id', value: row => row.id, whole: true},
  {title: 'name', value: row => row.name},
  {title: 'target', value: row => row.target, optional: 4},
  {title: 'when', value: row => row.conditions.map(conditionText).join(' ')},
  {title: 'per', value: row => row.group_by.map(({key}) => key).join(' '), optional: 1},
]

const usageNoun: Noun<'usage_policies'> = {
  command: 'policies usage',
  one: 'usage policy',
  many: 'usage policies',
  operations: 'usage_policies',
  param: 'policyUsageLimitsId',
  example: EXAMPLE,
  one_in_workspace: false,
  columns: [
    ...WHO,
    {
      title: 'limit',
      value: row => (row.type === 'cost' ? `$${row.credit_limit}` : `${row.credit_limit} tokens`),
      align: 'right',
    },
    {title: 'resets', value: row => row.periodic_reset ?? 'never', optional: 2},
    {title: 'created', value: row => minute(row.created_at), optional: 3},
  ],
}

const rateNoun: Noun<'rate_policies'> = {
  command: 'policies rate',
  one: 'rate policy',
  many: 'rate policies',
  operations: 'rate_policies',
  param: 'rateLimitsPolicyId',
  example: EXAMPLE,
  one_in_workspace: false,
  columns: [
    ...WHO,
    {
      title: 'limit',
      value: row => `${row.value} ${row.type} ${row.unit}`,
      short: row => `${row.value}${row.unit}${row.type === 'tokens' ? ' tokens' : ''}`,
      align: 'right',
    },
    {title: 'created', value: row => minute(row.created_at), optional: 3},
  ],
}

const ENTITY_COLUMNS: readonly TableColumn<EntityRow>[] = [
  {title: 'id', value: row => row.id, whole: true},
  {title: 'entity', value: row => row.value_key},
  {title: 'used', value: row => row.current_usage, align: 'right'},
  {title: 'status', value: row => row.status},
]

/** `gateway policies`: limits for the calls that meet conditions. */
export function policies(): Command {
  return group('policies', 'Policies: limits for the calls that meet conditions, counted for each group of them', [
    group('usage', 'Budgets of cost or tokens', [
      createUsage(),
      listCommand(usageNoun),
      showCommand(usageNoun),
      updateUsage(),
      deleteCommand(usageNoun, 'it holds no calls any more'),
      entities(usageNoun),
      reset(),
    ]),
    group('rate', 'Requests or tokens a minute, hour or day', [
      createRate(),
      listCommand(rateNoun),
      showCommand(rateNoun),
      updateRate(),
      deleteCommand(rateNoun, 'it holds no calls any more'),
      entities(rateNoun),
    ]),
  ])
}

interface CoverOptions extends WorkspaceOption, EnforcementOption {
  readonly name?: string
  readonly target?: string
  readonly when: readonly string[]
  readonly except?: readonly string[]
  readonly per?: readonly string[]
}

function withCover(command: Command): Command {
  command
    .requiredOption(
      '--when <key=value...>',
      'which calls: api_key, provider, model, config, metadata.NAME, mcp_server, mcp_tool ...; * is any, a,b is a or b',
    )
    .option('--target <target>', 'llm for calls of models (default), mcp_tools for calls of MCP tools')
    .option('--except <key=value...>', 'values that a condition leaves out')
    .option('--per <key...>', 'what to count by, for example api_key or metadata._user; of tools it may be left out')
    .option('--name <name>', 'what to call it')
  return withWorkspace(withEnforcement(command), 'workspace it is for')
}

async function coverOf({target, when, except = [], per, name, workspace, ...options}: CoverOptions, gateway: Gateway) {
  if (!per && target !== 'mcp_tools') throw usageFault('--per is missing: name what to count by, for example api_key.')
  const excludes = new Map(Object.entries(readPairs(except, '--except')))
  const conditions = Object.entries(readPairs(when, '--when')).map(([key, value]) => {
    const out = excludes.get(key)
    excludes.delete(key)
    return {key, value: oneOrMore(value), ...(out !== undefined && {excludes: oneOrMore(out)})}
  })
  const [alone] = excludes.keys()
  if (alone !== undefined)
    throw usageFault(
      `--except ${alone} leaves values out of a condition that is not there.`,
      `Add --when '${alone}=*'.`,
    )
  const workspace_id = await workspaceFor(gateway, workspace)
  return {
    ...(name !== undefined && {name}),
    ...(target !== undefined && {target}),
    conditions,
    ...(per && {group_by: per.map(key => ({key}))}),
    ...enforcementOf(options),
    ...(workspace_id !== undefined && {workspace_id}),
  }
}

interface BudgetOptions extends EnforcementOption {
  readonly name?: string
  readonly budget?: string
  readonly tokenBudget?: string
  readonly reset?: string | false
  readonly alert?: string | false
}

function createUsage(): Command {
  const command = leaf('create', 'Create a usage policy', [
    "gateway policies usage create --when 'metadata._user=*' --per metadata._user --budget 5 --reset weekly",
    'gateway policies usage create --when model=@main/* --per api_key model --token-budget 1000000 --enforcement strict',
  ])
  return withCover(command)
    .option('--budget <usd>', 'most that each group may spend, in US dollars')
    .option('--token-budget <n>', 'most tokens that each group may use')
    .option('--reset <period>', 'weekly or monthly (default: never)')
    .option('--alert <n>', 'amount at which to alert')
    .action((options: CoverOptions & BudgetOptions, self: Command) =>
      withGateway(self, async gateway => {
        const {budget, tokenBudget} = options
        if ((budget === undefined) === (tokenBudget === undefined))
          throw usageFault('Give one of --budget and --token-budget.')
        const cover = await coverOf(options, gateway)
        const {credit_limit = 0, ...terms} = termsOf(options)
        const body = {...cover, type: budget === undefined ? 'tokens' : 'cost', credit_limit, ...terms}
        const reply = await gateway.call('usage_policies.create', {body})
        gateway.print.made(reply, reply.id, `Created the usage policy ${reply.id}.`)
      }),
    )
}

function updateUsage(): Command {
  const command = leaf('update', 'Change a usage policy; what it covers stays', [
    `gateway policies usage update ${EXAMPLE} --budget 10 --no-alert`,
    `gateway policies usage update ${EXAMPLE} --reset-usage metadata._user:bob`,
  ])
  return withDryRun(withEnforcement(named(command, usageNoun)))
    .option('--name <name>', 'what to call it')
    .option('--budget <usd>', 'most that each group may spend, in US dollars')
    .option('--token-budget <n>', 'most tokens that each group may use')
    .option('--reset <period>', 'weekly or monthly')
    .option('--no-reset', 'never')
    .option('--alert <n>', 'amount at which to alert')
    .option('--no-alert', 'no alert before all is used up')
    .option('--reset-usage <entity>', 'count this entity from zero again')
    .action((id: string, options: BudgetOptions & DryRunOption & {resetUsage?: string}, self: Command) =>
      withGateway(self, async gateway => {
        const body = {
          ...(options.name !== undefined && {name: options.name}),
          ...termsOf(options),
          ...enforcementOf(options),
          ...(options.resetUsage !== undefined && {reset_usage_for_value: options.resetUsage}),
        }
        if (!Object.keys(body).length)
          throw usageFault('Nothing to change was said.', 'See: gateway policies usage update --help')
        const input = {...(await inputOf(gateway, usageNoun, id, {})), body}
        await change(gateway, 'usage_policies.update', input, `the usage policy ${id}`, options)
      }),
    )
}

/** The limit in words, as the operations take it; what was not given is absent. */
function termsOf({budget, tokenBudget, reset, alert}: BudgetOptions) {
  const amount = budget ?? tokenBudget
  const never = reset === false || reset === 'none'
  const period = reset === undefined || never ? {} : readReset(reset)
  if ('periodic_reset_days' in period)
    throw usageFault(`--reset ${reset} is no period of a policy: expected weekly or monthly.`)
  return {
    ...(amount !== undefined && {
      credit_limit: readNumber(amount, budget === undefined ? '--token-budget' : '--budget'),
    }),
    ...(never ? {periodic_reset: null} : period),
    ...(alert === false || alert === 'none'
      ? {alert_threshold: null}
      : alert !== undefined && {alert_threshold: readNumber(alert, '--alert')}),
  }
}

interface RateOptions extends EnforcementOption {
  readonly name?: string
  readonly rate?: string
  readonly tokenRate?: string
}

function withRate(command: Command): Command {
  return command
    .option('--rate <rate>', 'most requests, for example 60rpm (rpm, rph, rpd; of tools rpw too)')
    .option('--token-rate <rate>', 'most tokens, for example 90000rpm')
}

function createRate(): Command {
  const command = leaf('create', 'Create a rate policy', [
    "gateway policies rate create --when 'metadata._user=*' --per metadata._user --rate 10rpm",
    'gateway policies rate create --target mcp_tools --when mcp_server=tickets --per api_key --rate 100rpw',
    "gateway policies rate create --when 'provider=*' --except provider=ollama --per api_key --token-rate 90000rpm",
  ])
  return withRate(withCover(command)).action((options: CoverOptions & RateOptions, self: Command) =>
    withGateway(self, async gateway => {
      const rate = rateOf(options)
      if (!rate) throw usageFault('Give one of --rate and --token-rate.')
      const reply = await gateway.call('rate_policies.create', {body: {...(await coverOf(options, gateway)), ...rate}})
      gateway.print.made(reply, reply.id, `Created the rate policy ${reply.id}.`)
    }),
  )
}

function updateRate(): Command {
  const command = leaf('update', 'Change a rate policy; what it covers and counts stays', [
    `gateway policies rate update ${EXAMPLE} --rate 20rpm`,
  ])
  return withDryRun(withRate(withEnforcement(named(command, rateNoun))))
    .option('--name <name>', 'what to call it')
    .action((id: string, options: RateOptions & DryRunOption, self: Command) =>
      withGateway(self, async gateway => {
        const rate = rateOf(options)
        const body = {
          ...(options.name !== undefined && {name: options.name}),
          ...(rate && {unit: rate.unit, value: rate.value}),
          ...enforcementOf(options),
        }
        if (!Object.keys(body).length)
          throw usageFault('Nothing to change was said.', 'See: gateway policies rate update --help')
        const input = {...(await inputOf(gateway, rateNoun, id, {})), body}
        await change(gateway, 'rate_policies.update', input, `the rate policy ${id}`, options)
      }),
    )
}

/** In units of tools too: which of them a policy takes depends on its target. */
function rateOf({rate, tokenRate}: RateOptions) {
  if (rate !== undefined && tokenRate !== undefined)
    throw usageFault('--rate and --token-rate are both given; keep one.')
  if (rate !== undefined) return readRate(rate, 'requests', TOOL_RATE_UNITS)
  return tokenRate === undefined ? undefined : readRate(tokenRate, 'tokens', TOOL_RATE_UNITS)
}

function entities<Name extends 'usage_policies' | 'rate_policies'>(noun: Noun<Name>): Command {
  const command = leaf('entities', 'List the groups that calls made, and what each used', [
    `gateway ${noun.command} entities ${EXAMPLE}`,
    `gateway ${noun.command} entities ${EXAMPLE} --status exhausted --search bob`,
  ])
  return withPage(named(command, noun))
    .option('--status <status>', 'active or exhausted')
    .option('--search <text>', 'only those whose name holds this')
    .action((id: string, options: PageOptions & {status?: string; search?: string}, self: Command) =>
      withGateway(self, async gateway => {
        const {page_size, current_page} = pageOf(options)
        const query = {
          page_size: Math.min(page_size, 100),
          current_page,
          status: options.status,
          search: options.search,
        }
        const input = {...(await inputOf(gateway, noun, id, {})), query}
        const reply = await listed<EntityRow>(gateway, `${noun.operations}.list_entities`, input)
        gateway.print.list(reply, reply.data, ENTITY_COLUMNS, reply.total)
      }),
    )
}

function reset(): Command {
  return named(
    leaf('reset', 'Count an entity from zero again', [
      `gateway policies usage reset ${EXAMPLE} 16a141f3e5d46f16659d31180c2a0f24`,
    ]),
    usageNoun,
  )
    .argument('<entity>', 'id of the entity')
    .action((id: string, entityId: string, _: object, self: Command) =>
      withGateway(self, async gateway => {
        const {params} = await inputOf(gateway, usageNoun, id, {})
        const reply = await gateway.call('usage_policies.reset_entity', {params: {...params, entityId}})
        gateway.print.done(reply, `The entity ${entityId} counts from zero again.`)
      }),
    )
}

function oneOrMore(text: string): string | string[] {
  const values = text.split(',').filter(Boolean)
  return values.length > 1 ? values : text
}

function conditionText({key, value, excludes}: PolicyRow['conditions'][number]): string {
  const text = `${key}=${[value].flat().join(',')}`
  return excludes === undefined ? text : `${text} (not ${[excludes].flat().join(',')})`
}
