import type {Command} from 'commander'
import {type Gateway, withGateway} from '../connect.ts'
import {group, leaf, type WorkspaceOption, withWorkspace} from '../options.ts'
import {type TableColumn, tableLines} from '../table.ts'
import {workspaceFor} from '../workspace.ts'
import {minute} from './rows.ts'

interface LimitRow {
  readonly entity: string
  readonly name: string
  readonly kind: 'budget' | 'rate'
  readonly type: 'cost' | 'tokens' | 'requests'
  readonly enforcement: string
  readonly label: string
  readonly limit: number
  readonly used: number | null
  readonly remaining: number | null
  readonly status: string
  readonly resets_at: string | null
  readonly corrected: {readonly by: number; readonly at: string} | null
}

const BAR_WIDTH = 20
const WATCH_EVERY_MS = 2000
const CLEAR = '\x1b[H\x1b[2J'

const COLUMNS: readonly TableColumn<LimitRow>[] = [
  {title: 'limit', value: row => row.label, short: nameFirst},
  {title: 'left', value: barOf, short: row => percentOf(shareOf(row)), whole: true},
  {title: 'used', value: row => (row.used === null ? null : amountOf(row.type, row.used)), align: 'right'},
  {title: 'of', value: row => amountOf(row.type, row.limit), align: 'right'},
  {title: 'enforcement', value: row => row.enforcement, optional: 1},
  {title: 'status', value: row => row.status},
  {title: 'resets', value: row => minute(row.resets_at) ?? 'never'},
]

/** `gateway limits`: the state of limits. */
export function limits(): Command {
  return group('limits', 'Limits: how far budgets and rates are used up', [status()])
}

interface StatusOptions extends WorkspaceOption {
  readonly entity?: string
  readonly watch?: true
}

function status(): Command {
  const command = leaf('status', 'Show what is left of the limits of a workspace', [
    'gateway limits status --workspace research',
    'gateway limits status --watch',
    'gateway limits status --entity policy --json',
  ])
  return withWorkspace(command, 'workspace to look at')
    .option('--entity <kind>', 'only key, workspace, provider, integration or policy')
    .option('--watch', 'again every two seconds, until Ctrl-C')
    .action((options: StatusOptions, self: Command) =>
      withGateway(self, gateway => (options.watch ? watch(gateway, options) : show(gateway, options))),
    )
}

async function show(gateway: Gateway, options: StatusOptions): Promise<void> {
  const reply = await ask(gateway, options)
  gateway.print.list(reply, reply.data, COLUMNS, reply.total)
  for (const {corrected, label, type} of reply.data) {
    if (!corrected) continue
    const by = `${amountOf(type, Math.abs(corrected.by))} ${corrected.by < 0 ? 'less' : 'more'}`
    gateway.print.note(
      `The counter of ${label} said ${by} than the ledger; it was put right at ${minute(corrected.at)}.`,
    )
  }
  if (gateway.kind === 'here' && reply.data.some(({kind, used}) => kind === 'rate' && used === null))
    gateway.print.note('Rates are counted in the gateway that serves: see them with --url and a key.')
}

/** Until a signal comes or the reader of stdout goes. With --json each look is one line. */
async function watch(gateway: Gateway, options: StatusOptions): Promise<void> {
  const {world, print} = gateway
  const ended = new AbortController()
  const off = world.onSignal(() => ended.abort())
  try {
    while (!ended.signal.aborted && !world.stdout.closed) {
      const reply = await ask(gateway, options)
      if (print.json) print.line(JSON.stringify(reply))
      else {
        if (world.stdout.isTTY) world.stdout.write(CLEAR)
        for (const text of tableLines(reply.data, COLUMNS, {columns: world.stdout.columns, style: (_, text) => text}))
          print.line(text)
      }
      await world.sleep(WATCH_EVERY_MS, ended.signal)
    }
  } finally {
    off()
  }
}

async function ask(gateway: Gateway, {workspace, entity}: StatusOptions) {
  const workspace_id = await workspaceFor(gateway, workspace)
  return gateway.call('limits.status', {query: {workspace_id, entity}})
}

/** The remainder, as a bar; empty when all is used up. */
function barOf(row: LimitRow): string | null {
  const share = shareOf(row)
  if (share === null) return null
  const full = Math.round(share * BAR_WIDTH)
  return `${'█'.repeat(full)}${'░'.repeat(BAR_WIDTH - full)} ${percentOf(share)?.padStart(4)}`
}

/** The part that is left; null where it is not known. */
function shareOf({limit, remaining}: LimitRow): number | null {
  if (remaining === null) return null
  return limit > 0 ? remaining / limit : 0
}

function percentOf(share: number | null): string | null {
  return share === null ? null : `${Math.floor(share * 100)}%`
}

/** The label with the name in front, so that a cut takes the words that all limits share. */
function nameFirst({label, name}: LimitRow): string {
  return name !== '' && label.endsWith(` ${name}`) ? `${name}: ${label.slice(0, -name.length - 1)}` : label
}

function amountOf(type: LimitRow['type'], amount: number): string {
  return type === 'cost' ? `$${Number(amount.toFixed(6))}` : String(amount)
}
