import type {Command} from 'commander'
import {withGateway} from '../connect.ts'
import {usageFault} from '../fault.ts'
import {group, leaf, type PageOptions, pageOf, type WorkspaceOption, withPage, withWorkspace} from '../options.ts'
import {
  type CallOptions,
  callBody,
  collectionFor,
  type PromptOptions,
  promptFields,
  versionNumber,
  withPrompt,
  withVariables,
} from '../prompt.ts'
import {workspaceIfSaid} from '../workspace.ts'
import {deleteCommand, minute, type Noun, named} from './rows.ts'

const noun: Noun<'prompts'> = {
  command: 'prompts',
  one: 'prompt',
  many: 'prompts',
  operations: 'prompts',
  param: 'promptId',
  example: 'pp-greeting-1a2b3c',
  one_in_workspace: false,
  columns: [
    {title: 'slug', value: row => row.slug, whole: true},
    {title: 'name', value: row => row.name},
    {title: 'model', value: row => row.model},
    {title: 'changed', value: row => minute(row.last_updated_at)},
  ],
}

/** `gateway prompts`: saved prompts that calls fill and run. */
export function prompts(): Command {
  return group('prompts', 'Prompts: saved templates with versions, which calls fill with variables', [
    create(),
    list(),
    show(),
    update(),
    publish(),
    label(),
    versions(),
    render(),
    run(),
    deleteCommand(noun, 'calls of it are refused'),
  ])
}

function create(): Command {
  const command = leaf('create', 'Save a prompt; its first version is published', [
    'gateway prompts create greeting --file greeting.yaml --provider my-openai --model gpt-4o-mini',
    'echo \'{"messages":[{"role":"user","content":"Hi {{name}}"}]}\' | gateway prompts create greeting --file - --provider my-openai',
  ]).argument('<name>', 'what to call it; its slug follows from it')
  withPrompt(command).option('--collection <slug>', 'collection it lies in (default: that of the workspace)')
  return withWorkspace(command, 'workspace it is for').action(
    (name: string, options: PromptOptions & WorkspaceOption & {collection?: string}, self: Command) =>
      withGateway(self, async gateway => {
        const fields = await promptFields(gateway, options)
        if (fields.string === undefined) throw usageFault('What the prompt says is missing: give messages with --file.')
        const collection_id = await collectionFor(gateway, options.collection, options)
        const body = {parameters: {}, collection_id, ...fields, name}
        const reply = await gateway.call('prompts.create', {body})
        gateway.print.made(reply, reply.slug, `Saved the prompt ${name}: ${reply.slug}`)
      }),
  )
}

function list(): Command {
  const command = leaf('list', 'List prompts', [
    'gateway prompts list',
    'gateway prompts list --workspace research --search greet --json',
  ])
    .option('--collection <slug>', 'only those of this collection')
    .option('--search <text>', 'only those with this in their name')
  withPage(withWorkspace(command, 'only those of this workspace'))
  return command.action(
    (options: PageOptions & WorkspaceOption & {collection?: string; search?: string}, self: Command) =>
      withGateway(self, async gateway => {
        const workspace_id = await workspaceIfSaid(gateway, options.workspace)
        const query = {...pageOf(options), workspace_id, collection_id: options.collection, search: options.search}
        const reply = await gateway.call('prompts.list', {query})
        gateway.print.list(reply, reply.data, noun.columns, reply.total)
      }),
  )
}

function show(): Command {
  const command = leaf('show', 'Show a prompt in its published version, or another', [
    'gateway prompts show pp-greeting-1a2b3c',
    'gateway prompts show pp-greeting-1a2b3c@latest',
    'gateway prompts show pp-greeting-1a2b3c --version-id 0197f0a2-6d1e-4c3b-9f0e-2b1f6a1c9d11',
  ])
    .argument('<name>', 'which prompt; name@3, name@latest or name@label for another than the published version')
    .option('--version-id <id>', 'the version of this id')
  return command.action((prompt: string, {versionId}: {versionId?: string}, self: Command) =>
    withGateway(self, async gateway => {
      if (versionId !== undefined) {
        const reply = await gateway.call('prompts.get_version', {params: {promptId: prompt, versionId}})
        return gateway.print.view(reply, reply)
      }
      const [, promptId = prompt, version] = /^(.+?)@(.+)$/.exec(prompt) ?? []
      const reply = await gateway.call('prompts.get', {params: {promptId}, query: {version}})
      gateway.print.view(reply, reply)
    }),
  )
}

function update(): Command {
  const command = leaf('update', 'Rename or move a prompt, or save a new version; what is not said stays', [
    'gateway prompts update pp-greeting-1a2b3c --file greeting.yaml --description "shorter"',
    'gateway prompts update pp-greeting-1a2b3c --model gpt-4o',
  ])
  return withPrompt(named(command, noun))
    .option('--name <name>', 'a new name')
    .option('--collection <slug>', 'another collection')
    .action((slug: string, options: PromptOptions & {name?: string; collection?: string}, self: Command) =>
      withGateway(self, async gateway => {
        const {name, collection: collection_id} = options
        const fields = await promptFields(gateway, options)
        const body = {...fields, ...(name !== undefined && {name}), ...(collection_id !== undefined && {collection_id})}
        if (!Object.keys(body).length)
          throw usageFault('Nothing to change was said.', 'See: gateway prompts update --help')
        const reply = await gateway.call('prompts.update', {params: {promptId: slug}, body: {patch: true, ...body}})
        const is_new = 'prompt_version_id' in reply
        const next = `Saved a new version of the prompt ${slug}. It is not published: gateway prompts publish ${slug} VERSION`
        gateway.print.done(reply, is_new ? next : `Changed the prompt ${slug}.`)
      }),
    )
}

function publish(): Command {
  const command = leaf('publish', 'Publish a version: it runs where a call names none', [
    'gateway prompts publish pp-greeting-1a2b3c 3',
  ])
  return named(command, noun)
    .argument('<version>', 'its number')
    .action((slug: string, text: string, _: object, self: Command) =>
      withGateway(self, async gateway => {
        const version = versionNumber(text)
        const reply = await gateway.call('prompts.publish', {params: {promptId: slug}, body: {version}})
        gateway.print.done(reply, `Published version ${version} of the prompt ${slug}.`)
      }),
    )
}

function label(): Command {
  const command = leaf('label', 'Give a version a label, which calls may name after an @; or take its labels away', [
    'gateway prompts label pp-greeting-1a2b3c 3 production',
    'gateway prompts label pp-greeting-1a2b3c 3 --none',
  ])
  return named(command, noun)
    .argument('<version>', 'its number')
    .argument('[label]', 'name of the label')
    .option('--none', 'take every label from it')
    .action((slug: string, text: string, label: string | undefined, {none}: {none?: true}, self: Command) =>
      withGateway(self, async gateway => {
        if ((label === undefined) !== Boolean(none)) throw usageFault('Name one label, or say --none.')
        const number = versionNumber(text)
        const all = await gateway.call('prompts.list_versions', {params: {promptId: slug}})
        const version = all.find(each => each.prompt_version === number)
        if (!version)
          throw usageFault(`The prompt ${slug} has no version ${number}.`, `See: gateway prompts versions ${slug}`)
        const {data} = await gateway.call('labels.list', {query: {search: label, page_size: 1000}})
        const found = data.find(({name}) => name === label)
        if (!none && !found) throw usageFault(`No label is called ${label}.`, 'See: gateway labels list')
        const params = {promptId: slug, versionId: version.id}
        const reply = await gateway.call('prompts.update_version', {
          params,
          body: {label_id: found && !none ? found.id : null},
        })
        gateway.print.done(
          reply,
          none ? `Version ${number} of ${slug} has no label now.` : `Version ${number} of ${slug} is ${label} now.`,
        )
      }),
    )
}

function versions(): Command {
  const command = leaf('versions', 'List the versions of a prompt, the newest first', [
    'gateway prompts versions pp-greeting-1a2b3c',
  ])
  return named(command, noun).action((slug: string, _: object, self: Command) =>
    withGateway(self, async gateway => {
      const rows = await gateway.call('prompts.list_versions', {params: {promptId: slug}})
      const names = new Map<string, string>()
      if (rows.some(row => row.label_id !== null)) {
        const {data} = await gateway.call('labels.list', {query: {page_size: 1000}})
        for (const {id, name} of data) names.set(id, name)
      }
      gateway.print.list(rows, rows, [
        {title: 'version', value: row => row.prompt_version, align: 'right'},
        {title: 'id', value: row => row.id, whole: true},
        {title: 'label', value: row => (row.label_id === null ? null : (names.get(row.label_id) ?? row.label_id))},
        {
          title: 'model',
          value: row => (typeof row.prompt_template.model === 'string' ? row.prompt_template.model : null),
          optional: 1,
        },
        {title: 'description', value: row => row.prompt_description, optional: 2},
        {title: 'at', value: row => minute(row.created_at)},
      ])
    }),
  )
}

function render(): Command {
  const command = leaf('render', 'Show the body that a call of a prompt would have; nothing is called', [
    'gateway prompts render pp-greeting-1a2b3c --var name=Ann',
    'gateway prompts render pp-greeting-1a2b3c@latest --file variables.yaml',
  ])
  return withVariables(command).action((name: string, options: CallOptions, self: Command) =>
    withGateway(self, async gateway => {
      const body = await callBody(gateway, options)
      const reply = await gateway.call('prompts.render', {params: {promptId: name}, body})
      gateway.print.json_reply(gateway.print.json ? reply : reply.data)
    }),
  )
}

interface Answer {
  readonly choices?: readonly {readonly message?: {readonly content?: string | null}; readonly text?: string}[]
}

function run(): Command {
  const command = leaf('run', 'Call the model with a prompt, and show the answer', [
    'gateway prompts run pp-greeting-1a2b3c --var name=Ann --url http://localhost:8787 --api-key-file key.txt',
  ])
  return withVariables(command).action((name: string, options: CallOptions, self: Command) =>
    withGateway(self, async gateway => {
      if (gateway.kind === 'here')
        throw usageFault(
          'A prompt is run by a gateway that serves: name it with --url and a workspace key.',
          'gateway prompts render needs none.',
        )
      const body = {...(await callBody(gateway, options)), stream: false}
      const reply = (await gateway.ask({
        method: 'POST',
        path: `/v1/prompts/${encodeURIComponent(name)}/completions`,
        body,
      })) as Answer
      const choice = reply.choices?.[0]
      const text = choice?.message?.content ?? choice?.text
      if (gateway.print.json || typeof text !== 'string') return gateway.print.json_reply(reply)
      gateway.print.line(text)
    }),
  )
}
