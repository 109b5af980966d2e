import type {Command} from 'commander'
import {type Gateway, withGateway} from '../connect.ts'
import {CommandFault, EXIT} from '../fault.ts'
import {readWhole} from '../option-parsers.ts'
import {group, leaf, type PageOptions, pageOf, type WorkspaceOption, withPage, withWorkspace} from '../options.ts'
import {inDollars} from '../price-diff.ts'
import type {TableColumn} from '../table.ts'
import {reportedWorkspace} from '../workspace.ts'
import {priceChanges} from './price-changes.ts'
import {minute} from './rows.ts'

/** US cents a token. */
interface Terms {
  readonly [rate: string]: {readonly price?: number} | undefined
}

interface PriceRow {
  readonly provider: string
  readonly model: string
  readonly pay_as_you_go?: Terms
  readonly source?: string
  readonly aliases?: readonly string[]
}

interface UnpricedRow {
  readonly provider: string
  readonly model: string | null
  readonly requests: number
  readonly units?: readonly string[]
  readonly parts?: readonly {readonly kind: string; readonly name: string; readonly requests: number}[]
  readonly command?: string | null
  readonly last_seen: string
  readonly priced_now: boolean
}

const MAX_PAGE = 1000

const COLUMNS: readonly TableColumn<PriceRow>[] = [
  {title: 'provider', value: row => row.provider},
  {title: 'model', value: row => row.model, whole: true},
  {title: 'input $/M', value: row => perMillion(row, 'request_token'), align: 'right'},
  {title: 'output $/M', value: row => perMillion(row, 'response_token'), align: 'right'},
  {title: 'cache read $/M', value: row => perMillion(row, 'cache_read_input_token'), align: 'right', optional: 2},
  {title: 'cache write $/M', value: row => perMillion(row, 'cache_write_input_token'), align: 'right', optional: 3},
]
const SOURCE: TableColumn<PriceRow> = {title: 'source', value: row => row.source, optional: 1}
const UNPRICED_COLUMNS: readonly TableColumn<UnpricedRow>[] = [
  {title: 'provider', value: row => row.provider},
  {title: 'model', value: row => row.model, whole: true},
  {title: 'calls', value: row => row.requests, align: 'right'},
  {
    title: 'without a price',
    value: row => (row.parts?.length ? row.parts.map(partIn).join(', ') : 'the model'),
    optional: 2,
  },
  {title: 'last', value: row => minute(row.last_seen)},
  {title: 'priced now', value: row => row.priced_now, optional: 1},
  {title: 'command', value: row => row.command, below: true},
]

/** `web_search 3`, `mode priority 2`, `usage quantum_tokens 1`, `operation proxy 4`. */
function partIn({
  kind,
  name,
  requests,
}: {
  readonly kind: string
  readonly name: string
  readonly requests: number
}): string {
  return `${kind === 'unit' ? '' : `${kind} `}${name} ${requests}`
}

/** `gateway pricing`: what calls are charged at. */
export function pricing(): Command {
  return group('pricing', 'Prices that calls are charged at', [show(), unpriced(), ...priceChanges()])
}

interface ShowOptions {
  readonly provider?: string
  readonly search?: string
}

function show(): Command {
  return leaf('show', 'Show the prices of a provider, or all that is known of one model', [
    'gateway pricing show --provider openai',
    'gateway pricing show gpt-5',
    'gateway pricing show gpt-5 --provider openai',
    'gateway pricing show --search llama --json',
  ])
    .argument('[model]', 'a model of the provider')
    .option('--provider <kind>', 'kind of provider')
    .option('--search <text>', "only models with this in their name or an alias's")
    .action((model: string | undefined, options: ShowOptions, self: Command) =>
      withGateway(self, async gateway => {
        if (model !== undefined) return showOne(gateway, model, options)
        const reply = await everyPrice(gateway, options)
        gateway.print.list(reply, reply.data, COLUMNS)
      }),
    )
}

interface Prices {
  readonly total: number
  readonly data: readonly PriceRow[]
}

/** The catalogue is looked through as a whole: its pages are put together, in the shape of one. */
async function everyPrice({call}: Pick<Gateway, 'call'>, {provider, search}: ShowOptions): Promise<Prices> {
  const page = (current_page: number) =>
    call('pricing.list', {query: {page_size: MAX_PAGE, current_page, provider, search}})
  const first = await page(0)
  const data = [...first.data]
  for (let current_page = 1; data.length < first.total; current_page++) {
    const more = (await page(current_page)).data
    if (!more.length) break
    data.push(...more)
  }
  return {...first, data}
}

async function showOne({call, print}: Gateway, model: string, {provider}: ShowOptions) {
  if (provider === undefined) return showEverywhere({call, print}, model)
  const reply = await call('pricing.get', {params: {provider, model}}).catch(fault => {
    if (!(fault instanceof CommandFault) || fault.exit !== EXIT.not_found) throw fault
    const next = `gateway pricing show --provider ${provider} lists those that are.`
    throw new CommandFault(`No price is known of ${model} at ${provider}.`, {
      exit: EXIT.not_found,
      code: 'pricing.unknown',
      status: 404,
      next,
    })
  })
  if (print.json) return print.json_reply(reply)
  const {data} = await everyPrice({call}, {provider, search: model})
  const row = data.find(each => each.model === model) ?? data.find(({aliases}) => aliases?.includes(model))
  if (row) print.line(`source  ${row.source}`)
  for (const [rate, price] of rates(reply)) print.line(`${rate}  ${price}`)
}

/** The price at every provider that has a model of this name. */
async function showEverywhere({call, print}: Pick<Gateway, 'call' | 'print'>, model: string) {
  const {data} = await everyPrice({call}, {search: model})
  const rows = data.filter(row => row.model === model)
  if (!rows.length)
    throw new CommandFault(`No price is known of ${model} at any provider.`, {
      exit: EXIT.not_found,
      code: 'pricing.unknown',
      status: 404,
      next: `gateway pricing show --search ${model} lists those with it in their name.`,
    })
  print.list({object: 'list', total: rows.length, data: rows}, rows, [...COLUMNS.slice(0, 4), SOURCE])
}

interface UnpricedOptions extends PageOptions, WorkspaceOption {
  readonly days: string
}

function unpriced(): Command {
  const command = leaf(
    'unpriced',
    'List what calls used without a price: models, units, modes, numbers that nobody knows, unmetered endpoints',
    ['gateway pricing unpriced', 'gateway pricing unpriced --days 7 --workspace research'],
  ).option('--days <n>', 'how far to look back', '30')
  return withPage(withWorkspace(command, 'only calls of this workspace')).action(
    (options: UnpricedOptions, self: Command) =>
      withGateway(self, async gateway => {
        const workspace_id = await reportedWorkspace(gateway, options.workspace)
        const query = {...pageOf(options), days: readWhole(options.days, '--days', 1, 365), workspace_id}
        const reply = await gateway.call('pricing.unpriced', {query})
        gateway.print.list(reply, reply.data, UNPRICED_COLUMNS, reply.total)
      }),
  )
}

function perMillion({pay_as_you_go}: PriceRow, rate: string): string | undefined {
  const price = pay_as_you_go?.[rate]?.price
  return price === undefined ? undefined : inDollars(price * 1e4)
}

/** Every price in a reply as a line: its place in the object, and the amount. */
function rates(reply: object): (readonly [string, string])[] {
  const found: [string, string][] = []
  const walk = (value: unknown, path: string) => {
    if (typeof value !== 'object' || value === null) return
    if ('price' in value && typeof value.price === 'number') return void found.push([path, amount(path, value.price)])
    for (const [name, member] of Object.entries(value)) walk(member, path ? `${path}.${name}` : name)
  }
  walk(reply, '')
  const widest = Math.max(0, ...found.map(([path]) => path.length))
  return found.map(([path, price]) => [path.padEnd(widest), price])
}

function amount(path: string, cents: number): string {
  return path.endsWith('_token') ? `$${inDollars(cents * 1e4)} a million` : `$${inDollars(cents / 100)} each`
}
