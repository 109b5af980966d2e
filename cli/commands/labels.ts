import type {Command} from 'commander'
import {type Gateway, withGateway} from '../connect.ts'
import {CommandFault, EXIT, usageFault} from '../fault.ts'
import {group, leaf, type WorkspaceOption, withWorkspace} from '../options.ts'
import {workspaceFor} from '../workspace.ts'
import {deleteCommand, listCommand, minute, type Noun, named, showCommand} from './rows.ts'

const noun: Noun<'labels'> = {
  command: 'labels',
  one: 'label',
  many: 'labels',
  operations: 'labels',
  param: 'labelId',
  example: 'canary',
  one_in_workspace: false,
  columns: [
    {title: 'name', value: row => row.name, whole: true},
    {title: 'id', value: row => row.id, whole: true, optional: 2},
    {title: 'everyone', value: row => row.is_universal},
    {title: 'description', value: row => row.description, optional: 1},
    {title: 'changed', value: row => minute(row.last_updated_at)},
  ],
  find: idOf,
}

/** `gateway labels`: names for versions of prompts. */
export function labels(): Command {
  return group('labels', 'Labels: names for versions of prompts, which calls say after an @', [
    create(),
    listCommand(noun),
    showCommand(noun),
    update(),
    deleteCommand(noun, 'versions that bear it lose it'),
  ])
}

interface WriteOptions extends WorkspaceOption {
  readonly name?: string
  readonly description?: string
  readonly color?: string
}

function create(): Command {
  const command = leaf('create', 'Create a label', [
    'gateway labels create canary --description "for a few callers" --color "#bf8700"',
  ])
    .argument('<name>', 'the label')
    .option('--description <text>', 'what it is for')
    .option('--color <code>', 'its colour, for consoles')
  return withWorkspace(command, 'workspace it is for').action((name: string, options: WriteOptions, self: Command) =>
    withGateway(self, async gateway => {
      const {description, color: color_code} = options
      const body = {name, description, color_code, workspace_id: await workspaceFor(gateway, options.workspace)}
      const reply = await gateway.call('labels.create', {body})
      gateway.print.made(reply, reply.id, `Created the label ${name}.`)
    }),
  )
}

function update(): Command {
  const command = leaf('update', 'Change a label', ['gateway labels update canary --name blue'])
  return named(command, noun)
    .option('--name <name>', 'a new name')
    .option('--description <text>', 'what it is for')
    .option('--color <code>', 'its colour, for consoles')
    .action((label: string, {name, description, color: color_code}: WriteOptions, self: Command) =>
      withGateway(self, async gateway => {
        if ((name ?? description ?? color_code) === undefined)
          throw usageFault('Nothing to change was said.', 'See: gateway labels update --help')
        const params = {labelId: await idOf(gateway, label)}
        const reply = await gateway.call('labels.update', {params, body: {name, description, color_code}})
        gateway.print.done(reply, `Changed the label ${label}.`)
      }),
    )
}

/** The id of the label of this name; an id is its own. */
async function idOf(gateway: Gateway, label: string): Promise<string> {
  if (/^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(label)) return label
  const {data} = await gateway.call('labels.list', {query: {search: label, page_size: 1000}})
  const found = data.filter(({name}) => name === label)
  if (found.length > 1)
    throw usageFault(`Several workspaces have a label ${label}: give an id.`, 'See: gateway labels list')
  if (found[0]) return found[0].id
  throw new CommandFault(`No label is called ${label}.`, {
    exit: EXIT.not_found,
    code: 'label_not_found',
    next: 'See: gateway labels list',
  })
}
