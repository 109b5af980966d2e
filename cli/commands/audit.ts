import type {Command} from 'commander'
import type {InputOf} from '../client.ts'
import {type Gateway, withGateway} from '../connect.ts'
import {CommandFault, EXIT} from '../fault.ts'
import {AUDIT_FILTERS, type FilterOption, filtersOf, withFilter} from '../finding/filters.ts'
import {readMoment, readWhole} from '../option-parsers.ts'
import {group, leaf, type PageOptions, pageOf, withPage} from '../options.ts'
import type {TableColumn} from '../table.ts'

interface AuditRow {
  readonly timestamp: string
  readonly user_type: string
  readonly user_id: string | null
  readonly action: string
  readonly resource_type: string
  readonly resource_id: string | null
  readonly client_ip: string | null
}

const COLUMNS: readonly TableColumn<AuditRow>[] = [
  {
    title: 'time',
    value: row => row.timestamp.slice(0, 19).replace('T', ' '),
    short: row => row.timestamp.slice(5, 16).replace('T', ' '),
    whole: true,
  },
  {title: 'who', value: row => row.user_type},
  {title: 'id', value: row => row.user_id, whole: true, optional: 2},
  {title: 'action', value: row => row.action},
  {title: 'what', value: row => row.resource_type},
  {title: 'which', value: row => row.resource_id, whole: true},
  {title: 'address', value: row => row.client_ip, whole: true, optional: 1},
]
const MAX_PAGE = 100
const DAY_MS = 86_400_000

/** `gateway audit`: every administrative write. */
export function audit(): Command {
  return group('audit', 'The audit log: every administrative write, one chain', [list(), verify(), exported()])
}

interface RangeOptions extends FilterOption {
  readonly since?: string
  readonly before?: string
}

function withRange(command: Command): Command {
  const ranged = command
    .option('--since <time>', 'from this day or moment on, for example 2030-01-31 (default: 30 days ago)')
    .option('--before <time>', 'up to this day or moment (default: now)')
  return withFilter(ranged, AUDIT_FILTERS, 'action=delete what=api-key')
}

function list(): Command {
  const command = leaf('list', 'List administrative writes, the newest first', [
    'gateway audit list',
    'gateway audit list --since 2030-01-01 --filter action=delete --json',
  ])
  return withPage(withRange(command)).action((options: PageOptions & RangeOptions, self: Command) =>
    withGateway(self, async gateway => {
      readWhole(options.limit, '--limit', 1, MAX_PAGE)
      const reply = await page(gateway, {...(await queryOf(gateway, options)), ...pageOf(options)})
      gateway.print.list(reply, reply.records, COLUMNS, reply.total)
    }),
  )
}

function verify(): Command {
  return leaf('verify', 'Check that no row was altered, taken away or moved; exit code 1 when one was', [
    'gateway audit verify',
    'gateway audit verify --json',
  ]).action((_: object, self: Command) =>
    withGateway(self, async ({call, print}) => {
      const reply = await call('audit_logs.verify')
      const older = reply.unlinked ? ` ${reply.unlinked} older rows are not linked.` : ''
      if (reply.holds) return print.done(reply, `The chain holds: ${reply.rows} rows.${older}`)
      if (print.json) print.json_reply(reply)
      const sentence = reply.breaks.map(({text}) => text).join(' ')
      throw new CommandFault(`The audit log is not what was recorded. ${sentence}`, {
        exit: EXIT.failure,
        code: 'audit_broken',
      })
    }),
  )
}

function exported(): Command {
  const command = leaf('export', 'Write rows as JSON lines, the newest first, with the hashes of the chain', [
    'gateway audit export > audit.jsonl',
    'gateway audit export --since 2030-01-01 --before 2030-02-01 > january.jsonl',
  ])
  return withRange(command).action((options: RangeOptions, self: Command) =>
    withGateway(self, async gateway => {
      // one end for all pages: rows that come meanwhile would move them
      const query = await queryOf(gateway, options)
      for (let current_page = 0; ; current_page++) {
        const {records, total} = await page(gateway, {...query, current_page, page_size: MAX_PAGE})
        for (const record of records) gateway.print.line(JSON.stringify(record))
        if (!records.length || (current_page + 1) * MAX_PAGE >= total) return
      }
    }),
  )
}

async function queryOf(gateway: Gateway, options: RangeOptions) {
  const {since, before} = options
  const {world} = gateway
  const end_time = before === undefined ? new Date(world.now()).toISOString() : readMoment(before, '--before')
  const start_time =
    since === undefined ? new Date(Date.parse(end_time) - 30 * DAY_MS).toISOString() : readMoment(since, '--since')
  return {...(await filtersOf(gateway, 'audit_logs.list', AUDIT_FILTERS, options)), start_time, end_time}
}

function page({call}: Gateway, query: InputOf<'audit_logs.list'>['query']) {
  return call('audit_logs.list', {query})
}
