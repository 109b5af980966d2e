import type {Command} from 'commander'
import {withGateway} from '../connect.ts'
import {group, leaf, type PageOptions, pageOf, type WorkspaceOption, withPage, withWorkspace} from '../options.ts'
import {workspaceFor} from '../workspace.ts'
import {deleteCommand, minute, type Noun, named, showCommand} from './rows.ts'

const noun: Noun<'collections'> = {
  command: 'collections',
  one: 'collection',
  many: 'collections',
  operations: 'collections',
  param: 'collectionId',
  example: 'support-1a2b3c',
  one_in_workspace: false,
  columns: [
    {title: 'slug', value: row => row.slug, whole: true},
    {title: 'name', value: row => row.name},
    {title: 'default', value: row => row.is_default, optional: 2},
    {title: 'prompts', value: row => row.collection_details.prompts_count, align: 'right'},
    {
      title: 'within',
      value: row => row.collection_details.child_collections_count,
      align: 'right',
      optional: 1,
    },
    {title: 'changed', value: row => minute(row.last_updated_at)},
  ],
}

/** `gateway collections`: the folders of prompts. */
export function collections(): Command {
  return group('collections', 'Collections: the folders that prompts and partials lie in', [
    create(),
    list(),
    showCommand(noun),
    rename(),
    deleteCommand(noun, 'it must be empty, and not the default one'),
  ])
}

function create(): Command {
  const command = leaf('create', 'Create a collection', [
    'gateway collections create support',
    'gateway collections create letters --parent support-1a2b3c --workspace research',
  ])
    .argument('<name>', 'what to call it; its slug follows from it')
    .option('--parent <slug>', 'collection it stands in')
  return withWorkspace(command, 'workspace it is for').action(
    (name: string, options: WorkspaceOption & {parent?: string}, self: Command) =>
      withGateway(self, async gateway => {
        const {parent: parent_collection_id, workspace} = options
        const of_parent = parent_collection_id !== undefined && workspace === undefined
        const workspace_id = of_parent ? undefined : await workspaceFor(gateway, workspace)
        const reply = await gateway.call('collections.create', {body: {name, parent_collection_id, workspace_id}})
        gateway.print.made(reply, reply.slug, `Created the collection ${name}: ${reply.slug}`)
      }),
  )
}

function list(): Command {
  const command = leaf('list', 'List the collections of a workspace', [
    'gateway collections list',
    'gateway collections list --workspace research',
  ])
  command.option('--search <text>', 'only those with this in their name')
  return withPage(withWorkspace(command, 'workspace they are of')).action(
    (options: PageOptions & WorkspaceOption & {search?: string}, self: Command) =>
      withGateway(self, async gateway => {
        const workspace_id = await workspaceFor(gateway, options.workspace)
        const query = {...pageOf(options), workspace_id, search: options.search}
        const reply = await gateway.call('collections.list', {query})
        gateway.print.list(reply, reply.data, noun.columns, reply.total)
      }),
  )
}

function rename(): Command {
  const command = leaf('rename', 'Rename a collection; its slug stays', [
    'gateway collections rename support-1a2b3c "Support desk"',
  ])
  return named(command, noun)
    .argument('<new-name>', 'what to call it')
    .action((slug: string, name: string, _: object, self: Command) =>
      withGateway(self, async gateway => {
        const reply = await gateway.call('collections.update', {params: {collectionId: slug}, body: {name}})
        gateway.print.done(reply, `Renamed the collection ${slug} to ${name}.`)
      }),
    )
}
