import type {Command} from 'commander'
import {
  changeContexts,
  contextNamed,
  type GatewayContext,
  type GatewayContexts,
  keyPath,
  readContexts,
} from '../contexts/file.ts'
import {readPrivate} from '../contexts/private-file.ts'
import {CommandFault, EXIT} from '../fault.ts'
import {type ConfirmOption, confirmed, group, leaf, withConfirm} from '../options.ts'
import {type CommandSession, openSession} from '../session.ts'
import type {TableColumn} from '../table.ts'
import {forgetContext} from './login.ts'
import {minute} from './rows.ts'

type ContextRow = ReturnType<typeof viewOf>

export const CONTEXT_COLUMNS: readonly TableColumn<ContextRow>[] = [
  {title: '', value: row => (row.current ? '*' : '')},
  {title: 'name', value: row => row.name, whole: true, essential: true},
  {title: 'gateway', value: row => row.url ?? row.data_dir},
  {title: 'as', value: row => row.user},
  {title: 'organisation', value: row => row.organisation, optional: 2},
  {title: 'ends', value: row => minute(row.expires_at), optional: 1},
]

/** `gateway contexts`: the gateways that commands know by name. */
export function contexts(): Command {
  return group('contexts', 'Gateways that commands know by name, of gateway login', [list(), use(), show(), remove()])
}

/** A context as it is shown: never with its key. */
function viewOf({name, url, data_dir, ca_file, ...rest}: GatewayContext, current: string | null) {
  const {kind, user, organisation, workspace, expires_at} = rest
  return {
    ...{name, current: name === current, url: url ?? null, data_dir: data_dir ?? null, ca_file: ca_file ?? null},
    ...{kind: kind ?? null, user: user ?? null, organisation: organisation ?? null, workspace: workspace ?? null},
    expires_at: expires_at ?? null,
  }
}

function list(): Command {
  return leaf('list', 'List the contexts; * is the current one', ['gateway contexts list']).action(
    async (_: object, self: Command) => {
      const {print, sources} = await openSession(self)
      const {current, contexts: all} = await readContexts(sources.env)
      const data = all.map(each => viewOf(each, current)).toSorted((a, b) => (a.name < b.name ? -1 : 1))
      print.list({object: 'list', total: data.length, data}, data, CONTEXT_COLUMNS)
    },
  )
}

function use(): Command {
  return leaf('use', 'Make a context the current one', ['gateway contexts use prod'])
    .argument('<name>', 'which context')
    .action(async (name: string, _: object, self: Command) => {
      const {print, sources} = await openSession(self)
      const context = contextNamed(await readContexts(sources.env), name)
      await changeContexts(sources.env, ({contexts: all}) => ({current: name, contexts: all}))
      print.done(viewOf(context, name), `Commands work on ${name} (${context.url ?? context.data_dir}) from now on.`)
    })
}

function show(): Command {
  return leaf('show', 'Show a context, with its key masked', ['gateway contexts show', 'gateway contexts show prod'])
    .argument('[name]', 'which context (default: the current one)')
    .action(async (typed: string | undefined, _: object, self: Command) => {
      const session = await openSession(self)
      const all = await readContexts(session.sources.env)
      const context = contextNamed(all, typed ?? nameOfCurrent(session, all))
      const view = {...viewOf(context, all.current), key: await masked(session, context)}
      session.print.view(view, view)
    })
}

function nameOfCurrent({options, context_named}: CommandSession, {current}: GatewayContexts): string {
  const name = options.context ?? (context_named || current)
  if (name !== null) return name
  throw new CommandFault('There is no current context.', {
    exit: EXIT.not_found,
    code: 'context_not_found',
    next: 'gateway login URL makes one.',
  })
}

/** The key of a context as far as it may be seen; a command that prints one is not run for it. */
async function masked({sources}: CommandSession, {key_file}: GatewayContext): Promise<string | null> {
  const key = key_file === undefined ? undefined : readPrivate(keyPath(sources.env, key_file))?.trim()
  return key ? (await import('../../src/identity/keys.ts')).maskKey(key) : null
}

function remove(): Command {
  const command = leaf('delete', 'Take a context and its key away; a session works on (gateway logout ends it)', [
    'gateway contexts delete prod --yes',
  ]).argument('<name>', 'which context')
  return withConfirm(command).action(async (name: string, options: ConfirmOption, self: Command) => {
    const {world, print, sources} = await openSession(self)
    const context = contextNamed(await readContexts(sources.env), name)
    await confirmed(world, `Take the context ${name} away`, options)
    await forgetContext(sources.env, context)
    print.done({name}, `Took the context ${name} away.`)
    const {kind, expires_at} = context
    if (kind === 'session' && expires_at && Date.parse(expires_at) > world.now())
      print.note(`Its session works until ${minute(expires_at)} UTC.`)
  })
}
