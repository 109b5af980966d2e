import type {Command} from 'commander'
import {type Gateway, withGateway} from '../connect.ts'
import {CommandFault, EXIT, fileReason} from '../fault.ts'
import {readPairs, readSince} from '../option-parsers.ts'
import {group, leaf, type PageOptions, pageOf, type WorkspaceOption, withPage, withWorkspace} from '../options.ts'
import type {TableColumn} from '../table.ts'
import {reportedWorkspace, workspaceFor} from '../workspace.ts'
import {minute} from './rows.ts'

interface ExportRow {
  readonly id: string
  readonly status: string
  readonly description: string
  readonly created_at: string
}

const COLUMNS: readonly TableColumn<ExportRow>[] = [
  {title: 'id', value: row => row.id, whole: true},
  {title: 'status', value: row => row.status},
  {title: 'what became of it', value: row => row.description, below: true},
  {title: 'made', value: row => minute(row.created_at)},
]

const LOOK_EVERY_MS = 1000
const USUAL =
  'id,trace_id,created_at,is_success,ai_org,ai_model,total_units,cost,response_time,response_status_code,metadata'
const WHOLE: ReadonlySet<string> = new Set(
  ['total_units', 'prompt_token', 'completion_token', 'cost', 'weighted_feedback'].flatMap(name => [
    `${name}_min`,
    `${name}_max`,
  ]),
)

/** `gateway logs export`: rows of the log as files. */
export function logExports(): Command {
  return group('export', 'Write rows of the log into a file of JSON lines, 50,000 at most', [
    run(),
    create(),
    list(),
    show(),
    change(),
    deed('start', 'Write the file of an export', 'The export was started.'),
    deed('cancel', 'Stop an export that is under way', 'The export was stopped.'),
    download(),
  ])
}

interface AskOptions extends WorkspaceOption {
  readonly since?: string
  readonly fields?: string
  readonly filter?: readonly string[]
}

function withAsking(command: Command): Command {
  return withWorkspace(command, 'the workspace whose rows they are')
    .option('--since <when>', 'only rows since then: 24h, 7d, 2026-01-31')
    .option('--fields <names>', 'by commas; request and response are the bodies')
    .option('--filter <name=value...>', 'for example ai_model=gpt-5 status_code=429 cost_min=10')
}

async function bodyOf(gateway: Gateway, {workspace, since, fields, filter}: AskOptions) {
  const pairs = Object.entries(filter ? readPairs(filter, '--filter') : {})
  const filters = Object.fromEntries(
    pairs.map(([name, value]) => [
      name,
      WHOLE.has(name) ? Number(value) : name === 'metadata' ? JSON.parse(value) : value,
    ]),
  )
  const time = since === undefined ? {} : {time_of_generation_min: readSince(since, gateway.world.now())}
  const workspace_id = await workspaceFor(gateway, workspace)
  return {
    filters: {...time, ...filters},
    requested_data: (fields ?? USUAL).split(',').map(name => name.trim()),
    ...(workspace_id !== undefined && {workspace_id}),
  }
}

function run(): Command {
  const command = leaf('run', 'Export in one go: draft, write, wait, download', [
    'gateway logs export run --since 7d --out calls.jsonl',
    'gateway logs export run --filter status_code=429 --fields id,request,response --out failed.jsonl',
  ]).requiredOption('--out <file>', 'where to write')
  return withAsking(command).action((options: AskOptions & {out: string}, self: Command) =>
    withGateway(self, async gateway => {
      const {call, print, world} = gateway
      const {id, total} = await call('log_exports.create', {body: await bodyOf(gateway, options)})
      print.note(`${total} rows are written.`)
      await call('log_exports.start', {params: {exportId: id}})
      for (;;) {
        const row = await call('log_exports.get', {params: {exportId: id}})
        if (row.status === 'success') break
        if (row.status !== 'in_progress')
          throw new CommandFault(`The export ${row.status}. ${row.description}`.trim(), {
            exit: EXIT.failure,
            code: 'export_failed',
          })
        await world.sleep(LOOK_EVERY_MS)
      }
      await fetchTo(gateway, id, options.out)
    }),
  )
}

function create(): Command {
  const command = leaf('create', 'Draft an export', [
    'gateway logs export create --since 7d',
    'gateway logs export create --fields id,cost',
  ])
  return withAsking(command).action((options: AskOptions, self: Command) =>
    withGateway(self, async gateway => {
      const reply = await gateway.call('log_exports.create', {body: await bodyOf(gateway, options)})
      gateway.print.made(
        reply,
        reply.id,
        `${reply.id} is drafted with ${reply.total} rows. Write it with gateway logs export start ${reply.id}.`,
      )
    }),
  )
}

function change(): Command {
  const command = leaf('change', 'Change a draft', [
    'gateway logs export change 0197f0a2-6d1e-4c3b-9f0e-2b1f6a1c9d11 --since 24h',
  ])
  return withAsking(command.argument('<id>', 'id of the export')).action(
    (exportId: string, options: AskOptions, self: Command) =>
      withGateway(self, async gateway => {
        const {requested_data, ...body} = await bodyOf(gateway, options)
        const fields = options.fields === undefined ? {} : {requested_data}
        const reply = await gateway.call('log_exports.update', {params: {exportId}, body: {...body, ...fields}})
        gateway.print.done(reply, `It has ${reply.total} rows now.`)
      }),
  )
}

function list(): Command {
  const command = leaf('list', 'List exports, the newest first', ['gateway logs export list'])
  return withPage(withWorkspace(command, 'only those of this workspace')).action(
    (options: PageOptions & WorkspaceOption, self: Command) =>
      withGateway(self, async gateway => {
        const query = {...pageOf(options), workspace_id: await reportedWorkspace(gateway, options.workspace)}
        const reply = await gateway.call('log_exports.list', {query})
        gateway.print.list(reply, reply.data, COLUMNS, reply.total)
      }),
  )
}

function show(): Command {
  return leaf('show', 'Show an export', ['gateway logs export show 0197f0a2-6d1e-4c3b-9f0e-2b1f6a1c9d11'])
    .argument('<id>', 'id of the export')
    .action((exportId: string, _: object, self: Command) =>
      withGateway(self, async ({call, print}) => {
        const reply = await call('log_exports.get', {params: {exportId}})
        print.view(reply, reply)
      }),
    )
}

function deed(word: 'start' | 'cancel', about: string, sentence: string): Command {
  return leaf(word, about, [`gateway logs export ${word} 0197f0a2-6d1e-4c3b-9f0e-2b1f6a1c9d11`])
    .argument('<id>', 'id of the export')
    .action((exportId: string, _: object, self: Command) =>
      withGateway(self, async ({call, print}) =>
        print.done(await call(`log_exports.${word}`, {params: {exportId}}), sentence),
      ),
    )
}

function download(): Command {
  return leaf('download', 'Download the file of an export', [
    'gateway logs export download 0197f0a2-6d1e-4c3b-9f0e-2b1f6a1c9d11 --out calls.jsonl',
  ])
    .argument('<id>', 'id of the export')
    .requiredOption('--out <file>', 'where to write')
    .action((exportId: string, {out}: {out: string}, self: Command) =>
      withGateway(self, gateway => fetchTo(gateway, exportId, out)),
    )
}

/** The address of the file is taken from the gateway that the command talks to, whatever name it has elsewhere. */
async function fetchTo({ask, call, print, world}: Gateway, exportId: string, out: string): Promise<void> {
  const reply = await call('log_exports.download', {params: {exportId}})
  const {pathname, search} = new URL(reply.signed_url)
  const input = await ask({method: 'GET', path: `${pathname}${search}`})
  // a file of one line is JSON, and came as such
  const text = input === undefined ? '' : typeof input === 'string' ? input : `${JSON.stringify(input)}\n`
  try {
    world.writeFile(out, text)
  } catch (cause) {
    throw new CommandFault(`${out} cannot be written: ${fileReason(cause)}.`, {
      exit: EXIT.failure,
      code: 'file_not_written',
    })
  }
  print.done(reply, `${text.split('\n').length - 1} rows were written to ${out}.`)
}
