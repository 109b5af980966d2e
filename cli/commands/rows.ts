import type {Command} from 'commander'
import type {NounWith, OperationId, ParamOf, RowOf} from '../client.ts'
import {type Gateway, type Input, withGateway} from '../connect.ts'
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
import type {TableColumn} from '../table.ts'
import {workspaceIfSaid} from '../workspace.ts'

/** The first part of operations' names: `api_keys`. */
export type NounName = NounWith<'list'> & NounWith<'get'>

/** A kind of rows that commands list, show and delete. */
export interface Noun<Name extends NounName> {
  /** `keys`, as typed. */
  readonly command: string
  readonly one: string
  readonly many: string
  readonly operations: Name
  readonly param: ParamOf<`${Name}.get`>
  /** The name of a row, in examples too. */
  readonly example: string
  readonly columns: readonly TableColumn<RowOf<`${Name}.list`>>[]
  /** In their place in a table, where some show more than the rows hold. */
  readonly columnsFor?: (gateway: Gateway) => Promise<Noun<Name>['columns']>
  /** False where the operations on one row take no `workspace_id` in their query. */
  readonly one_in_workspace: boolean
  /** True where rows are the organisation's alone: their list takes no workspace. */
  readonly of_organisation?: true
  /** The id of the row that was named, where it is named otherwise too. */
  readonly find?: (gateway: Gateway, named: string, workspace_id?: string) => Promise<string>
}

/** The envelope of lists: `data`, or data within a success. */
interface ListReply<Row> {
  readonly total?: number
  readonly data: readonly Row[]
}

/** The rows of a noun, of which the compiler knows only here that it is one of several. */
export async function listed<Row>({perform}: Gateway, operation: OperationId, input: Input): Promise<ListReply<Row>> {
  return (await perform(operation, input)) as ListReply<Row>
}

/** The object of a reply: some have it within a success. */
export function dataOf(reply: object): object {
  return 'data' in reply && typeof reply.data === 'object' && reply.data !== null ? reply.data : reply
}

export function listCommand<Name extends NounName>({
  command,
  many,
  operations,
  columns,
  columnsFor,
  of_organisation,
}: Noun<Name>): Command {
  const more = of_organisation ? '--limit 20' : '--workspace research'
  const list = leaf('list', `List ${many}`, [`gateway ${command} list`, `gateway ${command} list ${more} --json`])
  withPage(of_organisation ? list : withWorkspace(list, 'only those of this workspace'))
  return list.action((options: PageOptions & WorkspaceOption, self: Command) =>
    withGateway(self, async gateway => {
      const workspace_id = await workspaceIfSaid(gateway, options.workspace)
      const reply = await listed<RowOf<`${Name}.list`>>(gateway, `${operations}.list`, {
        query: {...pageOf(options), workspace_id},
      })
      const {print} = gateway
      const is_table = reply.data.length > 0 && !print.json && !print.quiet
      const shown = is_table && columnsFor ? await columnsFor(gateway) : columns
      print.list(reply, reply.data, shown, reply.total)
    }),
  )
}

export function showCommand<Name extends NounName>(noun: Noun<Name>): Command {
  const show = leaf('show', `Show ${article(noun.one)}`, [`gateway ${noun.command} show ${noun.example}`])
  return named(show, noun).action((name: string, options: WorkspaceOption, self: Command) =>
    withGateway(self, async gateway => {
      const reply = await gateway.perform(`${noun.operations}.get`, await inputOf(gateway, noun, name, options))
      gateway.print.view(reply, dataOf(reply))
    }),
  )
}

export function deleteCommand<Name extends NounName>(noun: Noun<Name>, effect: string): Command {
  const remove = leaf('delete', `Delete ${article(noun.one)}: ${effect}`, [
    `gateway ${noun.command} delete ${noun.example}`,
  ])
  return withConfirm(named(remove, noun)).action(
    (name: string, options: WorkspaceOption & ConfirmOption, self: Command) =>
      withGateway(self, async gateway => {
        await confirmed(gateway.world, `Delete the ${noun.one} ${name}`, options)
        const reply = await gateway.perform(`${noun.operations}.delete`, await inputOf(gateway, noun, name, options))
        gateway.print.done(reply, `Deleted the ${noun.one} ${name}.`)
      }),
  )
}

type Versioned = 'configs' | 'guardrails'
export type VersionOf<Name extends Versioned> = RowOf<`${Name}.list_versions`>

/** The columns that the versions of all kinds show. */
export const VERSION_COLUMNS: readonly TableColumn<
  Pick<VersionOf<Versioned>, 'version' | 'version_id' | 'updated_by' | 'created_at'>
>[] = [
  {title: 'version', value: row => row.version, align: 'right'},
  {title: 'id', value: row => row.version_id, whole: true},
  {title: 'by', value: row => row.updated_by ?? 'operator', whole: true, optional: 1},
  {title: 'at', value: row => minute(row.created_at)},
]

export function versionsCommand<Name extends Versioned>(
  noun: Noun<Name>,
  columns: readonly TableColumn<VersionOf<Name>>[],
): Command {
  const versions = leaf('versions', `List the versions of ${article(noun.one)}, the newest first`, [
    `gateway ${noun.command} versions ${noun.example}`,
  ])
  return named(versions, noun).action((name: string, options: WorkspaceOption, self: Command) =>
    withGateway(self, async gateway => {
      const input = await inputOf(gateway, noun, name, options)
      const reply = await listed<VersionOf<Name>>(gateway, `${noun.operations}.list_versions`, input)
      gateway.print.list(reply, reply.data, columns, reply.total)
    }),
  )
}

/** Adds the argument that names a row, and the workspace it is in where that matters. */
export function named<Name extends NounName>(command: Command, {one, one_in_workspace}: Noun<Name>): Command {
  command.argument('<name>', `which ${one}`)
  return one_in_workspace ? withWorkspace(command, 'where several workspaces have one of this slug') : command
}

/** The part of an operation's input that names a row. */
export async function inputOf<Name extends NounName>(
  gateway: Gateway,
  {param, find}: Noun<Name>,
  name: string,
  {workspace}: WorkspaceOption,
) {
  const workspace_id = await workspaceIfSaid(gateway, workspace)
  const id = find ? await find(gateway, name, workspace_id) : name
  const params = {[param]: id} as Readonly<Record<ParamOf<`${Name}.get`>, string>>
  return {params, ...(workspace_id !== undefined && {query: {workspace_id}})}
}

export function article(noun: string): string {
  return `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`
}

/** A time of a row as tables show it: to the minute. */
export function minute(at: string | null | undefined): string | null {
  return at ? at.slice(0, 16).replace('T', ' ') : null
}
