import type {Command} from 'commander'
import type {RowOf} from '../client.ts'
import {type Gateway, withGateway} from '../connect.ts'
import {usageFault} from '../fault.ts'
import {
  type ConfirmOption,
  confirmed,
  group,
  leaf,
  type PageOptions,
  pageOf,
  type WorkspaceOption,
  withConfirm,
  withPage,
  withWorkspace,
} from '../options.ts'
import type {TableColumn} from '../table.ts'
import {workspaceIfSaid} from '../workspace.ts'
import {evaluate} from './cache-eval.ts'
import {pairs} from './cache-pairs.ts'
import {minute} from './rows.ts'

/** `gateway cache`: kept answers. */
export function cache(): Command {
  return group('cache', 'Kept answers: list and clear them, and try what other words would find', [
    show(),
    clear(),
    evaluate(),
    pairs(),
  ])
}

interface Narrowing extends WorkspaceOption {
  readonly kind?: string
  readonly digest?: string
  readonly model?: string
  readonly namespace?: string
}

const COLUMNS: readonly TableColumn<RowOf<'cache.list'>>[] = [
  {title: 'kind', value: row => row.kind},
  {title: 'model', value: row => row.model},
  {title: 'namespace', value: row => row.namespace, optional: 2},
  {title: 'bytes', value: row => row.bytes, align: 'right', optional: 1},
  {title: 'stored', value: row => minute(row.stored_at)},
  {title: 'ends', value: row => minute(row.expires_at)},
  {title: 'digest', value: row => row.digest, below: true, essential: true},
]

function narrowed(command: Command): Command {
  command
    .option('--kind <kind>', 'simple: answers to the same request; semantic: what other words find (default: both)')
    .option('--digest <digest>', 'of one request, as gateway configs explain says it')
    .option('--model <model>', 'as it went to the provider')
    .option('--namespace <name>', 'value of x-gateway-cache-namespace')
  return withWorkspace(command, 'only those of this workspace')
}

/** The entries that are meant, as both operations name them; a member that is undefined is not sent. */
async function narrowing(gateway: Gateway, {kind, digest, model, namespace, workspace}: Narrowing) {
  return {kind, digest, model, namespace, workspace_id: await workspaceIfSaid(gateway, workspace)}
}

function show(): Command {
  const command = leaf('show', 'List entries of the cache, without their answers', [
    'gateway cache show',
    'gateway cache show --kind semantic --model gpt-4o-mini --workspace research --json',
  ])
  return withPage(narrowed(command)).action((options: PageOptions & Narrowing, self: Command) =>
    withGateway(self, async gateway => {
      const query = {...(await narrowing(gateway, options)), ...pageOf(options)}
      const reply = await gateway.call('cache.list', {query})
      gateway.print.list(reply, reply.data, COLUMNS, reply.total)
    }),
  )
}

function clear(): Command {
  const command = leaf('clear', 'Clear entries of the cache, in every process', [
    'gateway cache clear --model gpt-4o-mini --yes',
    'gateway cache clear --namespace faq --workspace research --yes',
    'gateway cache clear --all --yes',
  ])
  return withConfirm(narrowed(command).option('--all', 'all that the other options do not narrow')).action(
    (options: Narrowing & ConfirmOption & {all?: true}, self: Command) =>
      withGateway(self, async gateway => {
        const body = await narrowing(gateway, options)
        if (Object.values(body).every(each => each === undefined) && !options.all)
          throw usageFault('Nothing narrows what to clear.', 'Give --all to clear every entry.')
        const where = options.workspace === undefined ? '' : ` of ${options.workspace}`
        await confirmed(gateway.world, `Clear entries of the cache${where}`, options)
        const reply = await gateway.call('cache.clear', {body})
        const {simple, semantic} = reply
        gateway.print.done(reply, `Cleared ${simple + semantic} entries: ${simple} simple, ${semantic} semantic.`)
      }),
  )
}
