import type {Command} from 'commander'
import {USAGE_DIMENSIONS, type UsageDimension} from '../../src/schema/usage-dimensions.ts'
import type {UsageSum} from '../../src/schema/usage-sums.ts'
import {withGateway} from '../connect.ts'
import {usageFault} from '../fault.ts'
import {readSince, readUntil} from '../option-parsers.ts'
import {leaf, type WorkspaceOption, withWorkspace} from '../options.ts'
import type {Cell, TableColumn} from '../table.ts'
import {reportedWorkspace} from '../workspace.ts'

interface UsageOptions extends WorkspaceOption {
  readonly by: string
  readonly since: string
  readonly until?: string
  readonly csv?: true
}

const AMOUNTS = [
  'requests',
  'failures',
  'unpriced',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'cost_usd',
] as const

/** `gateway usage`: who and what used how much. */
export function usage(): Command {
  const command = leaf('usage', 'Sum requests, tokens and cost, by what is asked for', [
    'gateway usage --by model --since 30d',
    'gateway usage --by key,day --since 2026-01-01 --workspace research --csv',
  ])
    .requiredOption('--by <dimensions>', `up to four of ${USAGE_DIMENSIONS.join(', ')}, with commas`)
    .option('--since <time>', 'from when: 24h, 30d, 2w, or a date such as 2026-01-31', '30d')
    .option('--until <time>', 'up to when, in the same words; a date is counted whole (default: now)')
    .option('--csv', 'print rows of comma separated values')
  return withWorkspace(command, 'only calls of this workspace').action((options: UsageOptions, self: Command) =>
    withGateway(self, async gateway => {
      const {print, world} = gateway
      const by = dimensionsOf(options.by)
      const since = readSince(options.since, world.now())
      const until = options.until === undefined ? undefined : readUntil(options.until, world.now())
      if (options.csv && print.json) throw usageFault('--csv and --json are both given; keep one.')
      const workspace_id = await reportedWorkspace(gateway, options.workspace)
      const reply = await gateway.call('usage.list', {query: {by: by.join(','), since, until, workspace_id}})
      if (options.csv) return printCsv(reply.data, by, print.line)
      print.list(reply, reply.data, columnsOf(by, reply.data))
    }),
  )
}

function dimensionsOf(text: string): UsageDimension[] {
  const names = text.split(',').map(each => each.trim())
  const known = names.map(name => USAGE_DIMENSIONS.find(each => each === name))
  const unknown = names.find((_, at) => known[at] === undefined)
  if (unknown !== undefined) throw usageFault(`--by ${unknown} is not known: expected ${USAGE_DIMENSIONS.join(', ')}.`)
  return known.filter(each => each !== undefined)
}

function columnsOf(by: readonly UsageDimension[], rows: readonly UsageSum[]): TableColumn<UsageSum>[] {
  return [
    ...by.map(dimension => {
      const shared = sharedNames(rows, dimension)
      return {title: dimension, value: (row: UsageSum) => shown(row[dimension], shared)}
    }),
    {title: 'requests', value: row => row.requests, align: 'right'},
    {title: 'failed', value: row => row.failures, align: 'right', optional: 1},
    {title: 'input', value: row => row.prompt_tokens, align: 'right', optional: 3},
    {title: 'output', value: row => row.completion_tokens, align: 'right', optional: 2},
    {title: 'unpriced', value: row => row.unpriced, align: 'right'},
    {title: 'cost $', value: row => row.cost_usd, align: 'right'},
  ]
}

/** A name where there is one, with the id where another row has that name too; else the id. */
function shown(value: UsageSum[UsageDimension], shared: ReadonlySet<string>): Cell {
  if (typeof value !== 'object' || value === null) return value
  const {id, name} = value
  return name !== null && shared.has(name) ? `${name} (${id})` : (name ?? id)
}

/** Names that several keys, users or workspaces of the rows have. */
function sharedNames(rows: readonly UsageSum[], dimension: UsageDimension): ReadonlySet<string> {
  const ids = new Map<string, string | null>()
  const shared = new Set<string>()
  for (const {[dimension]: value} of rows) {
    if (typeof value !== 'object' || value === null || value.name === null) continue
    const {id, name} = value
    if ((ids.get(name) ?? id) !== id) shared.add(name)
    ids.set(name, id)
  }
  return shared
}

function printCsv(rows: readonly UsageSum[], by: readonly UsageDimension[], line: (text: string) => void) {
  line(
    [...by.flatMap(dimension => (isNamed(dimension) ? [`${dimension}_id`, dimension] : [dimension])), ...AMOUNTS].join(
      ',',
    ),
  )
  for (const row of rows) {
    const parts = by.flatMap(dimension => {
      const value = row[dimension]
      return isNamed(dimension) && typeof value === 'object'
        ? [value?.id, value?.name]
        : [value as string | null | undefined]
    })
    line([...parts, ...AMOUNTS.map(amount => row[amount])].map(csvCell).join(','))
  }
}

const isNamed = (dimension: UsageDimension) => dimension === 'key' || dimension === 'user' || dimension === 'workspace'

/**
 * RFC 4180; a text that a spreadsheet would take for a formula begins with an apostrophe, for names come from anybody.
 */
function csvCell(value: string | number | null | undefined): string {
  if (typeof value === 'number') return String(value)
  const text = (value ?? '').replace(/^(?=[=+\-@\t\r])/, "'")
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
