import type {Command} from 'commander'
import {type Gateway, withGateway} from '../connect.ts'
import {usageFault} from '../fault.ts'
import {fileText, group, leaf, type WorkspaceOption, withWorkspace} from '../options.ts'
import {versionNumber} from '../prompt.ts'
import {workspaceFor} from '../workspace.ts'
import {deleteCommand, minute, type Noun, named, showCommand} from './rows.ts'

const noun: Noun<'prompt_partials'> = {
  command: 'partials',
  one: 'prompt partial',
  many: 'prompt partials',
  operations: 'prompt_partials',
  param: 'promptPartialId',
  example: 'pp-rules-1a2b3c',
  one_in_workspace: false,
  columns: [
    {title: 'slug', value: row => row.slug, whole: true},
    {title: 'name', value: row => row.name},
    {title: 'changed', value: row => minute(row.last_updated_at)},
  ],
}

/** `gateway partials`: texts that prompts include. */
export function partials(): Command {
  return group('partials', 'Prompt partials: texts with versions, which prompts include as {{>slug}}', [
    create(),
    list(),
    showCommand(noun),
    update(),
    publish(),
    versions(),
    deleteCommand(noun, 'prompts that include it fail'),
  ])
}

interface WriteOptions extends WorkspaceOption {
  readonly file?: string
  readonly name?: string
  readonly description?: string
}

function create(): Command {
  const command = leaf('create', 'Save a prompt partial; its first version is published', [
    'gateway partials create rules --file rules.txt',
    'echo "Be kind, {{name}}." | gateway partials create rules --file -',
  ])
    .argument('<name>', 'what to call it; its slug follows from it')
    .requiredOption('--file <file>', 'its text, or - for stdin')
    .option('--description <text>', 'what this version is')
  return withWorkspace(command, 'workspace it is for').action(
    (name: string, options: WriteOptions & {file: string}, self: Command) =>
      withGateway(self, async gateway => {
        const string = await textOf(gateway, options.file)
        const {description: version_description} = options
        const body = {name, string, version_description, workspace_id: await workspaceFor(gateway, options.workspace)}
        const reply = await gateway.call('prompt_partials.create', {body})
        gateway.print.made(reply, reply.slug, `Saved the prompt partial ${name}: ${reply.slug}`)
      }),
  )
}

function list(): Command {
  return leaf('list', 'List prompt partials', [
    'gateway partials list',
    'gateway partials list --collection rules-1a2b3c --json',
  ])
    .option('--collection <slug>', 'only those of this collection')
    .action(({collection}: {collection?: string}, self: Command) =>
      withGateway(self, async gateway => {
        const rows = await gateway.call('prompt_partials.list', {query: {collection_id: collection}})
        gateway.print.list(rows, rows, noun.columns)
      }),
    )
}

function update(): Command {
  const command = leaf('update', 'Rename a prompt partial, or save a new version, which is not published', [
    'gateway partials update pp-rules-1a2b3c --file rules.txt --description "shorter"',
  ])
  return named(command, noun)
    .option('--file <file>', 'its text, or - for stdin')
    .option('--name <name>', 'a new name')
    .option('--description <text>', 'what is new in this version')
    .action((slug: string, options: WriteOptions, self: Command) =>
      withGateway(self, async gateway => {
        const {file, name, description} = options
        const string = file === undefined ? undefined : await textOf(gateway, file)
        if (string === undefined && name === undefined)
          throw usageFault('Nothing to change was said.', 'See: gateway partials update --help')
        const reply = await gateway.call('prompt_partials.update', {
          params: {promptPartialId: slug},
          body: {name, string, description},
        })
        const saved = `Saved a new version of the prompt partial ${slug}. It is not published: gateway partials publish ${slug} VERSION`
        gateway.print.done(reply, string === undefined ? `Changed the prompt partial ${slug}.` : saved)
      }),
    )
}

function publish(): Command {
  const command = leaf('publish', 'Publish a version: every prompt that names no other has it at once', [
    'gateway partials publish pp-rules-1a2b3c 2',
  ])
  return named(command, noun)
    .argument('<version>', 'its number')
    .action((slug: string, name: string, _: object, self: Command) =>
      withGateway(self, async gateway => {
        const version = versionNumber(name)
        const reply = await gateway.call('prompt_partials.publish', {params: {promptPartialId: slug}, body: {version}})
        gateway.print.done(reply, `Published version ${version} of the prompt partial ${slug}.`)
      }),
    )
}

function versions(): Command {
  const command = leaf('versions', 'List the versions of a prompt partial, the newest first', [
    'gateway partials versions pp-rules-1a2b3c',
  ])
  return named(command, noun).action((slug: string, _: object, self: Command) =>
    withGateway(self, async gateway => {
      const rows = await gateway.call('prompt_partials.list_versions', {params: {promptPartialId: slug}})
      gateway.print.list(rows, rows, [
        {title: 'version', value: row => row.version, align: 'right'},
        {title: 'at', value: row => minute(row.created_at)},
        {title: 'description', value: row => row.description},
        {title: 'text', value: row => row.string},
      ])
    }),
  )
}

/** A text without the line end of its file. */
async function textOf({world}: Gateway, path: string): Promise<string> {
  const text = path === '-' ? await world.readStdin() : fileText(world, path, '--file')
  return text.replace(/\r?\n$/, '')
}
