import type {Command} from 'commander'
import {usd} from '../../src/base/money.ts'
import type {LedgerReport} from '../../src/store/ledger/index.ts'
import {CommandFault, EXIT, usageFault} from '../fault.ts'
import {group, leaf} from '../options.ts'
import type {Printer} from '../print.ts'
import {progressOn} from '../progress.ts'
import {openSession} from '../session.ts'
import {withStore} from '../store.ts'
import {type TableColumn, tableLines} from '../table.ts'
import {minute} from './rows.ts'

type Recovered = LedgerReport['recovered']['newest'][number]

const MAX_LISTED = 20
const WORDS = {entries: 'Entries', sums: 'Sums', logs: 'Log rows'} as const
export const RECOVERED_COLUMNS: readonly TableColumn<Recovered>[] = [
  {title: 'call', value: row => row.call_id, whole: true},
  {title: 'attempt', value: row => row.attempt, align: 'right', optional: 1},
  {title: 'admitted', value: row => minute(row.admitted_at), short: row => minute(row.admitted_at)?.slice(5)},
  {title: 'provider', value: row => row.provider, optional: 2},
  {title: 'model', value: row => row.model},
  {title: 'cost $', value: row => usd(BigInt(row.cost_nanousd)), align: 'right'},
]

/** `gateway ledger`: what was spent, and whether that is still what was written. */
export function ledger(): Command {
  return group('ledger', 'The ledger of all that was spent', [verify()])
}

function verify(): Command {
  const command = leaf(
    'verify',
    'Check the hash chain of every writer, and the sums and log rows against the entries; exit 1 when broken',
    ['gateway ledger verify', 'gateway ledger verify --json'],
  )
  return command.action(async (_: object, self: Command) => {
    const {world, print, options, found: read} = await openSession(self)
    const {settings} = await read()
    if (options.url !== undefined || (settings.url !== undefined && options.dataDir === undefined))
      throw usageFault(
        'The ledger is verified where it lies.',
        'Run this on the machine of the gateway, with --data-dir and without --url.',
      )
    const {verifyLedger} = await import('../../src/store/ledger/index.ts')
    const progress = progressOn(world, print)
    const report = await withStore(settings, store =>
      verifyLedger(store, ({part, done, total}) => progress.step(done, total, WORDS[part])),
    ).finally(() => progress.end())
    say(report, print)
    const [first] = report.breaks
    if (!first) return
    const others = report.breaks.length > 1 ? ` ${report.breaks.length - 1} more of its kind or others follow.` : ''
    throw new CommandFault(`The ledger is broken. ${first.text}${others}`, {exit: EXIT.failure, code: 'ledger_broken'})
  })
}

function say(report: LedgerReport, print: Printer) {
  const {entries, writers, recovered, sums, logs, set_aside, breaks} = report
  if (print.json) return print.json_reply(replyOf(report))
  print.line(
    `${counted(entries, 'entry', 'entries')} of ${counted(writers, 'writer', 'writers')} ${breaks.length ? 'were read' : 'hold'}.`,
  )
  if (sums.from)
    print.line(`${counted(sums.checked, 'hourly sum', 'hourly sums')} from ${sums.from} on were held against them.`)
  if (sums.at_bound > 0)
    print.line(
      `${counted(sums.at_bound, 'of them stands', 'of them stand')} at the most that 64 bits hold; what was used beyond is in the entries alone.`,
    )
  if (logs.from)
    print.line(`${counted(logs.checked, 'log row', 'log rows')} from ${logs.from} on were held against them.`)
  for (const {text} of breaks.slice(1)) print.line(text)
  if (set_aside.records > 0) print.line(asidesOf(set_aside))
  if (recovered.entries === 0) return
  const cost = `${usd(recovered.cost_nanousd)} US dollars`
  print.line(
    `${counted(recovered.entries, 'entry is', 'entries are')} recovered, ${cost}: estimates of calls that an end of the process cut off.`,
  )
  for (const line of tableLines(recovered.newest.slice(0, MAX_LISTED), RECOVERED_COLUMNS, {
    columns: undefined,
    style: (_, text) => text,
  }))
    print.line(line)
}

function asidesOf({records, uncharged, last_at}: LedgerReport['set_aside']): string {
  const cost =
    uncharged === 0
      ? 'what they cost is in the ledger'
      : `the cost of ${uncharged.toLocaleString('en-US')} is not in the ledger`
  const told = `${counted(records, 'record', 'records')} of the journal could not be entered as they are, the last at ${last_at}; ${cost}.`
  return `${told} They are kept in journal/set-aside.jsonl of the data directory that recorded them.`
}

function replyOf({recovered, breaks, ...report}: LedgerReport) {
  const {cost_nanousd, prompt_tokens, ...rest} = recovered
  return {
    object: 'ledger-verification',
    ok: breaks.length === 0,
    ...report,
    recovered: {...rest, cost_usd: usd(cost_nanousd), prompt_tokens: Number(prompt_tokens)},
    breaks,
  }
}

function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`
}
