import type {Command} from 'commander'
import {type Gateway, withGateway} from '../connect.ts'
import {leaf, type PageOptions, pageOf, type WorkspaceOption, withPage, withWorkspace} from '../options.ts'
import type {Column} from '../table.ts'
import {workspaceIfSaid} from '../workspace.ts'

/** A kind of rows that commands list, show and delete. */
export interface Noun<Row> {
  /** `keys`, as typed. */
  readonly command: string
  readonly one: string
  readonly many: string
  /** What operations begin with: `api_keys`. */
  readonly operations: string
  /** The path parameter that names one. */
  readonly param: string
  /** What a row is called by, in examples too. */
  readonly example: string
  readonly columns: readonly Column<Row>[]
  /** False where the operations on one row take no `workspace_id` in their query. */
  readonly one_in_workspace: boolean
  /** The id of the row that was named, where it is named otherwise too. */
  readonly find?: (gateway: Gateway, named: string) => Promise<string>
}

/** The envelope of lists: `data`, or data within a success. */
interface ListReply<Row> {
  readonly total?: number
  readonly data: readonly Row[]
}

export function listCommand<Row>({command, many, operations, columns}: Noun<Row>): Command {
  const list = leaf('list', `List ${many}`, [`gateway ${command} list`, `gateway ${command} list --workspace research --json`])
  withPage(withWorkspace(list, 'only those of this workspace'))
  return list.action((options: PageOptions & WorkspaceOption, self: Command) =>
    withGateway(self, async gateway => {
      const workspace_id = await workspaceIfSaid(gateway, options.workspace)
      const reply = await gateway.call<ListReply<Row>>(`${operations}.list`, {query: {...pageOf(options), workspace_id}})
      gateway.print.list(reply, reply.data, columns, reply.total)
    }),
  )
}

export function showCommand<Row>(noun: Noun<Row>): Command {
  const show = leaf('show', `Show ${article(noun.one)}`, [`gateway ${noun.command} show ${noun.example}`])
  return named(show, noun).action((name: string, options: WorkspaceOption, self: Command) =>
    withGateway(self, async gateway => {
      const reply = await gateway.call<object>(`${noun.operations}.get`, await inputOf(gateway, noun, name, options))
      gateway.print.view(reply, 'data' in reply ? (reply.data as object) : reply)
    }),
  )
}

export function deleteCommand<Row>(noun: Noun<Row>, effect: string): Command {
  const remove = leaf('delete', `Delete ${article(noun.one)}: ${effect}`, [`gateway ${noun.command} delete ${noun.example}`])
  return named(remove, noun).action((name: string, options: WorkspaceOption, self: Command) =>
    withGateway(self, async gateway => {
      const reply = await gateway.call(`${noun.operations}.delete`, await inputOf(gateway, noun, name, options))
      gateway.print.done(reply, `Deleted the ${noun.one} ${name}.`)
    }),
  )
}

/** Adds the argument that names a row, and the workspace it is in where that matters. */
export function named<Row>(command: Command, {one, one_in_workspace}: Noun<Row>): Command {
  command.argument('<name>', `which ${one}`)
  return one_in_workspace ? withWorkspace(command, 'where several workspaces have one of this slug') : command
}

/** The part of an operation's input that names a row. */
export async function inputOf<Row>(gateway: Gateway, {param, find}: Noun<Row>, name: string, {workspace}: WorkspaceOption) {
  const workspace_id = await workspaceIfSaid(gateway, workspace)
  return {params: {[param]: find ? await find(gateway, name) : name}, ...(workspace_id !== undefined && {query: {workspace_id}})}
}

export function article(noun: string): string {
  return `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`
}

/** A time of a row as tables show it: to the minute. */
export function minute(at: string | null | undefined): string | null {
  return at ? at.slice(0, 16).replace('T', ' ') : null
}
