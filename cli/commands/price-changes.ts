import type {Command} from 'commander'
import {type Gateway, withGateway} from '../connect.ts'
import {usageFault} from '../fault.ts'
import {readWhole} from '../option-parsers.ts'
import {jsonFrom, leaf, type PageOptions, pageOf, withPage} from '../options.ts'
import {countsOf, printDiff} from '../price-diff.ts'
import {
  applyBundle,
  from,
  type KeyOption,
  printInstalled,
  printWithdrawn,
  publicKeyOf,
  withPublicKey,
} from '../price-install.ts'
import {type PriceSource, readSource} from '../price-source.ts'
import {progressOn} from '../progress.ts'
import {openSession} from '../session.ts'
import type {TableColumn} from '../table.ts'
import {minute} from './rows.ts'

interface Revision {
  readonly revision: number
  readonly kind: string
  readonly origin: string
  readonly serial: number | null
  readonly effective_at: string
  readonly withdrawn_at: string | null
  readonly added: number
  readonly changed: number
  readonly removed: number
}

const REVISIONS: readonly TableColumn<Revision>[] = [
  {title: 'revision', value: row => row.revision, align: 'right'},
  {title: 'kind', value: row => row.kind},
  {title: 'holds from', value: row => minute(row.effective_at)},
  {title: 'until', value: row => (row.withdrawn_at === null ? '' : minute(row.withdrawn_at))},
  {title: 'added', value: row => row.added, align: 'right', optional: 1},
  {title: 'changed', value: row => row.changed, align: 'right', optional: 2},
  {title: 'removed', value: row => row.removed, align: 'right', optional: 3},
  {title: 'origin', value: row => row.origin, optional: 4},
]

interface SourceOptions extends KeyOption {
  readonly provider?: readonly string[]
  readonly from?: string
  readonly all?: true
  readonly dryRun?: true
}

function withSource(command: Command): Command {
  return withPublicKey(
    command
      .argument('<source>', 'a URL, a directory of {provider}.json, a list of prices, or a signed bundle')
      .option('--provider <kind...>', 'providers to ask a pricing service for: URL/pricing/KIND')
      .option('--from <time>', 'when the prices begin to hold: 2030-12-31, or a time with its zone (default: now)')
      .option('--all', 'show every change'),
  )
}

/** `gateway pricing diff`, `sync`, `set`, `unset`, `revisions`, `rollback`: changing what calls are charged at. */
export function priceChanges(): readonly Command[] {
  return [diff(), sync(), set(), unset(), revisions(), rollback()]
}

function diff(): Command {
  return withSource(
    leaf('diff', 'Show what a source of prices would change', [
      'gateway pricing diff ./prices',
      'gateway pricing diff https://prices.example.com/list.json',
    ]),
  ).action((source: string, options: SourceOptions, self: Command) => withSourceRead(source, options, self, compare))
}

function sync(): Command {
  return withSource(
    leaf('sync', 'Install the prices of a source: all of it or nothing, and never for calls that were made before', [
      'gateway pricing sync ./prices',
      'gateway pricing sync https://prices.example.com --provider openai anthropic --from 2030-01-01',
      'gateway pricing sync prices.bundle --public-key prices.pub',
    ]),
  )
    .option('--dry-run', 'only show what would change')
    .action((source: string, options: SourceOptions, self: Command) =>
      withSourceRead(source, options, self, options.dryRun ? compare : install),
    )
}

type Work = (gateway: Gateway, source: PriceSource, options: SourceOptions) => Promise<void>

/** Reads the source before anything is opened, with a bar where that is seen. */
async function withSourceRead(text: string, options: SourceOptions, self: Command, work: Work): Promise<void> {
  const session = await openSession(self)
  const {settings} = await session.settings()
  const progress = progressOn(session.world, session.print)
  const source = await readSource(session.world, text, {providers: options.provider ?? [], progress, settings}).finally(
    () => progress.end(),
  )
  await withGateway(self, gateway => work(gateway, source, options))
}

const compare: Work = async (gateway, source, options) => {
  const {call, print} = gateway
  const fields =
    source.kind === 'bundle'
      ? // one that holds no prices is refused
        (await call('bundles.verify', {body: {bundle: source.bundle, ...publicKeyOf(gateway, options)}})).prices!
      : await call('pricing.diff', {body: {prices: source.prices, origin: source.origin, ...from(options)}})
  if (print.json) return print.json_reply(fields)
  printDiff(print, fields, {whole: options.all === true})
  print.line(`${countsOf(fields)}. Nothing was installed.`)
}

const install: Work = async (gateway, source, options) => {
  const {call, print, world} = gateway
  const progress = progressOn(world, print)
  progress.step(0, 1, 'writing')
  const work =
    source.kind === 'bundle'
      ? applyBundle(gateway, source, options)
      : call('pricing.sync', {body: {prices: source.prices, origin: source.origin, ...from(options)}})
  printInstalled(gateway, await work.finally(() => progress.end()), options)
}

interface SetOptions {
  readonly provider?: string
  readonly input?: string
  readonly output?: string
  readonly cacheRead?: string
  readonly cacheWrite?: string
  readonly reasoning?: string
  readonly unit?: readonly string[]
  readonly file?: string
  readonly from?: string
}

function set(): Command {
  return leaf('set', 'Set the price of one model, above every other source', [
    'gateway pricing set my-model --provider openai --input 2.50 --output 10 --cache-read 1.25',
    'gateway pricing set my-model --provider openai --file price.json --from 2030-01-01',
  ])
    .argument('<model>', 'a model of the provider')
    .requiredOption('--provider <kind>', 'kind of provider')
    .option('--input <usd>', 'US dollars for a million tokens of input')
    .option('--output <usd>', 'the same of output')
    .option('--cache-read <usd>', 'the same of input read from a cache')
    .option('--cache-write <usd>', 'the same of input written to a cache')
    .option('--reasoning <usd>', 'the same of hidden reasoning')
    .option('--unit <name=usd...>', 'US dollars for one of something else, for example web_search=0.01')
    .option('--file <file>', 'the whole price as a pricing config; - reads stdin')
    .option('--from <time>', 'when it begins to hold (default: now)')
    .action((model: string, options: SetOptions, self: Command) =>
      withGateway(self, async gateway => {
        const pricing_config = await configOf(gateway, options)
        const params = {provider: options.provider!, model}
        printInstalled(gateway, await gateway.call('pricing.set', {params, body: {pricing_config, ...from(options)}}))
      }),
    )
}

/**
 * Dollars for a million tokens, in the words of price files (docs/pricing.md, Use your own price files), which have
 * cents for one.
 */
const TOKEN_OPTIONS = {
  input: 'request_token',
  output: 'response_token',
  cacheRead: 'cache_read_input_token',
  cacheWrite: 'cache_write_input_token',
  reasoning: 'reasoning_token',
} as const

async function configOf({world}: Gateway, options: SetOptions) {
  const named = Object.entries(TOKEN_OPTIONS).flatMap(([option, key]) => {
    const text = options[option as keyof typeof TOKEN_OPTIONS]
    return text === undefined ? [] : [[key, {price: shifted(text, -4, hyphened(option))}] as const]
  })
  const units = (options.unit ?? []).map(pair => {
    const [name = '', usd = ''] = pair.split('=', 2)
    if (!name || !usd) throw usageFault('--unit takes name=usd, for example web_search=0.01.')
    return [name, {price: shifted(usd, 2, '--unit')}] as const
  })
  const has_words = named.length > 0 || units.length > 0
  if (options.file !== undefined) {
    if (has_words) throw usageFault('--file holds the whole price; leave the other prices out.')
    return jsonFrom(world, options.file, '--file')
  }
  if (!has_words) throw usageFault('No price is given: add --input and --output, or --file.')
  return {
    pay_as_you_go: {
      ...Object.fromEntries(named),
      ...(units.length > 0 && {additional_units: Object.fromEntries(units)}),
    },
  }
}

/** A decimal with its point moved, without arithmetic on fractions: what was written is what is sent. */
function shifted(text: string, places: number, option: string): number {
  if (!/^\d{1,12}(\.\d{1,12})?$/.test(text))
    throw usageFault(`${option} ${text} is no price: expected US dollars, for example 2.50.`)
  return Number(`${text}e${places}`)
}

function hyphened(option: string): string {
  return `--${option.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`
}

function unset(): Command {
  return leaf('unset', 'Take away a price that was set', ['gateway pricing unset my-model --provider openai'])
    .argument('<model>', 'a model of the provider')
    .requiredOption('--provider <kind>', 'kind of provider')
    .option('--from <time>', 'when it ends (default: now)')
    .action((model: string, options: SetOptions, self: Command) =>
      withGateway(self, async gateway => {
        const {effective_at} = from(options)
        const params = {provider: options.provider!, model}
        printInstalled(gateway, await gateway.call('pricing.unset', {params, body: effective_at ? {effective_at} : {}}))
      }),
    )
}

function revisions(): Command {
  return withPage(leaf('revisions', 'List what was installed, the newest first', ['gateway pricing revisions'])).action(
    (options: PageOptions, self: Command) =>
      withGateway(self, async gateway => {
        const reply = await gateway.call('pricing.revisions', {query: pageOf(options)})
        gateway.print.list(reply, reply.data, REVISIONS, reply.total)
      }),
  )
}

function rollback(): Command {
  return leaf('rollback', 'Withdraw the last installation of prices, or all after one; what was charged stays', [
    'gateway pricing rollback',
    'gateway pricing rollback --to 3',
  ])
    .option('--to <revision>', 'the revision to go back to; 0 for the bundled prices')
    .action(({to}: {readonly to?: string}, self: Command) =>
      withGateway(self, async gateway => {
        const body = to === undefined ? {} : {to_revision: readWhole(to, '--to', 0, Number.MAX_SAFE_INTEGER)}
        printWithdrawn(gateway, await gateway.call('pricing.rollback', {body}))
      }),
    )
}
