import type {Command} from 'commander'
import {type Gateway, withGateway} from '../connect.ts'
import {
  type ConfirmOption,
  confirmed,
  leaf,
  type PageOptions,
  pageOf,
  type WorkspaceOption,
  withConfirm,
  withPage,
  withWorkspace,
} from '../options.ts'
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
  /** True where rows are the organisation's alone: their list takes no workspace. */
  readonly of_organisation?: true
  /** The id of the row that was named, where it is named otherwise too. */
  readonly find?: (gateway: Gateway, named: string) => Promise<string>
}

/** The envelope of lists: `data`, or data within a success. */
interface ListReply<Row> {
  readonly total?: number
  readonly data: readonly Row[]
}

export function listCommand<Row>({command, many, operations, columns, of_organisation}: Noun<Row>): Command {
  const more = of_organisation ? '--limit 20' : '--workspace research'
  const list = leaf('list', `List ${many}`, [`gateway ${command} list`, `gateway ${command} list ${more} --json`])
  withPage(of_organisation ? list : withWorkspace(list, 'only those of this workspace'))
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
  return withConfirm(named(remove, noun)).action((name: string, options: WorkspaceOption & ConfirmOption, self: Command) =>
    withGateway(self, async gateway => {
      await confirmed(gateway.world, `Delete the ${noun.one} ${name}`, options)
      const reply = await gateway.call(`${noun.operations}.delete`, await inputOf(gateway, noun, name, options))
      gateway.print.done(reply, `Deleted the ${noun.one} ${name}.`)
    }),
  )
}

/** A version of a row, as far as all kinds have it. */
export interface VersionRow {
  readonly version: number
  readonly version_id: string
  readonly updated_by: string | null
  readonly created_at: string
}

export function versionsCommand<Row, Version extends VersionRow>(noun: Noun<Row>, more: readonly Column<Version>[]): Command {
  const columns: readonly Column<Version>[] = [
    {title: 'version', value: row => row.version, align: 'right'},
    {title: 'id', value: row => row.version_id, whole: true},
    {title: 'by', value: row => row.updated_by ?? 'operator'},
    {title: 'at', value: row => minute(row.created_at)},
    ...more,
  ]
  const versions = leaf('versions', `List the versions of ${article(noun.one)}, the newest first`, [
    `gateway ${noun.command} versions ${noun.example}`,
  ])
  return named(versions, noun).action((name: string, options: WorkspaceOption, self: Command) =>
    withGateway(self, async gateway => {
      const input = await inputOf(gateway, noun, name, options)
      const reply = await gateway.call<{data: Version[]; total: number}>(`${noun.operations}.list_versions`, input)
      gateway.print.list(reply, reply.data, columns, reply.total)
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
