import {beforeEach, expect, test, vi} from 'vitest'
import {CERTIFICATE_COLUMNS} from '../../../cli/commands/certs.ts'
import {CONTEXT_COLUMNS} from '../../../cli/commands/contexts.ts'
import {RECOVERED_COLUMNS} from '../../../cli/commands/ledger.ts'
import {PRICE_DIFF_COLUMNS} from '../../../cli/price-diff.ts'
import type {TableColumn, tableLines} from '../../../cli/table.ts'
import {everyCommand, examplesOf} from '../examples/program.ts'
import {readLine} from '../examples/shell.ts'
import {run} from '../support.ts'
import {faultsOf, type Table} from './faults.ts'
import {EMAIL, hostileGateway, MODEL, SLUG, TIME, UUID} from './replies.ts'

/** The tables that a command printed, the columns as it has them. */
const {printed} = vi.hoisted(() => ({printed: [] as unknown[]}))
vi.mock('../../../cli/table.ts', async importOriginal => {
  const original = await importOriginal<{tableLines: typeof tableLines}>()
  return {
    ...original,
    tableLines: (...given: Parameters<typeof tableLines>) => {
      const [rows, columns] = given
      printed.push({rows, columns})
      return original.tableLines(...given)
    },
  }
})
beforeEach(() => void printed.splice(0))

const WIDTHS = [80, 120]

const COMMANDS = everyCommand().filter(({command}) => command.commands.length === 0)

/** Commands that print a table under another name than `list` or `versions`. */
const OTHER_LISTS = [
  'api',
  'config show',
  'providers catalog',
  'integrations models',
  'integrations workspaces',
  'guardrails coverage',
  'guardrails eval',
  'mcp-integrations workspaces',
  'mcp-integrations capabilities',
  'mcp-servers capabilities',
  'mcp-servers users',
  'mcp-servers connections',
  'policies usage entities',
  'policies rate entities',
  'limits status',
  'logs tail',
  'logs by',
  'logs traces',
  'logs spans',
  'analytics by',
  'analytics by-user',
  'analytics by-model',
  'analytics by-metadata',
  'cache show',
  'replay',
  'usage',
  'pricing show',
  'pricing unpriced',
  'pricing revisions',
  'workers',
  'scim groups',
]

/** Lists of files of this machine: their columns are tried below. */
const OF_FILES = ['certs list', 'contexts list']

/** Lists of which `show` takes the first characters of an id. */
const TAKE_PREFIX = ['keys list', 'logs list', 'logs tail', 'logs spans']

const LISTS = COMMANDS.filter(
  ({words}) => (/(^| )(list|versions)$/.test(words) || OTHER_LISTS.includes(words)) && !OF_FILES.includes(words),
)

/** The command line of an example that prints a table. */
function lineOf({words, command}: (typeof COMMANDS)[number]): readonly string[] {
  if (words === 'api') return ['api', '--list']
  const lines = examplesOf(command).map(example => readLine(example)!.argv)
  return lines.find(argv => !argv.some(word => word === '--json' || word === '--csv'))!
}

const FRAMES = WIDTHS.flatMap(room => LISTS.map(each => ({room, words: each.words, argv: lineOf(each)})))

test.each(FRAMES)('$words at $room columns loses no id, no minute, no amount and no reason', async frame => {
  const {room, words, argv} = frame
  let raise = (_: string) => {}
  const {code, stderr} = await run(argv, {
    transport: hostileGateway(words),
    terminal: room,
    files: new Proxy({}, {get: () => '{}'}),
    onListening: given => {
      raise = given
    },
    onSleep: () => raise('SIGINT'),
  })
  expect({argv, code, stderr}).toMatchObject({argv, code: 0})
  const [table] = printed as Table[]
  expect(table?.rows.length, `${argv.join(' ')} prints no table`).toBeGreaterThan(0)
  expect(faultsOf(table!, room, TAKE_PREFIX.includes(words))).toEqual([])
})

test('these commands print tables beside those called list and versions', () => {
  expect(OTHER_LISTS.filter(words => !COMMANDS.some(each => each.words === words))).toEqual([])
})

/** A table that a command makes of what this machine has. */
function tableOf<Row>(columns: readonly TableColumn<Row>[], row: NoInfer<Row>): Table {
  return {rows: [row], columns: columns as readonly TableColumn<unknown>[]}
}

const side = (input: number, output: number) => ({
  pay_as_you_go: {request_token: {price: input}, response_token: {price: output}},
})

const LOCAL: readonly (readonly [name: string, table: Table])[] = [
  [
    'contexts list',
    tableOf(CONTEXT_COLUMNS, {
      ...{name: SLUG, current: true, url: 'https://gateway.example.com:8443', data_dir: null, ca_file: null},
      ...{kind: 'session', user: EMAIL, organisation: SLUG, workspace: null, expires_at: TIME},
    } as never),
  ],
  [
    'certs list',
    tableOf(CERTIFICATE_COLUMNS, {
      ...{kind: 'server', name: 'gateway.example.com', names: ['gateway.example.com', '10.0.0.5'], state: 'valid'},
      ...{begins_at: TIME, ends_at: TIME, days_left: 1234, serial: '0a'.repeat(16)},
      fingerprint_sha256: Array(32).fill('ab').join(':'),
    } as never),
  ],
  [
    'ledger verify',
    tableOf(RECOVERED_COLUMNS, {
      ...{call_id: UUID, attempt: 1, admitted_at: TIME, provider: SLUG, model: MODEL},
      cost_nanousd: '12345678901234',
    } as never),
  ],
  [
    'pricing diff',
    tableOf(PRICE_DIFF_COLUMNS, {
      ...{provider: 'workers-ai', model: MODEL, change: 'changed' as const},
      ...{before: side(0.000125, 0.001), after: side(0.0001, 0.0015)},
    }),
  ],
]

test.each(WIDTHS.flatMap(room => LOCAL.map(([name, table]) => ({name, table, room}))))(
  '$name at $room columns loses no id, no minute, no amount and no reason',
  ({table, room}) => {
    expect(faultsOf(table, room, false)).toEqual([])
  },
)
