import type {Command} from 'commander'
import {type Gateway, withGateway} from '../connect.ts'
import {CommandFault, EXIT, usageFault} from '../fault.ts'
import {readPairs} from '../option-parsers.ts'
import {group, leaf} from '../options.ts'
import {structuredFrom} from '../structured.ts'
import {type AllowedOptions, allowedOf, withAllowed} from './allowed.ts'
import {deleteCommand, listCommand, minute, type Noun, named, showCommand} from './rows.ts'

const noun: Noun<'secret_references'> = {
  command: 'secret-references',
  one: 'secret reference',
  many: 'secret references',
  operations: 'secret_references',
  param: 'secretReferenceId',
  example: 'vault-mcp',
  one_in_workspace: false,
  of_organisation: true,
  columns: [
    {title: 'slug', value: row => row.slug, whole: true},
    {title: 'name', value: row => row.name},
    {title: 'manager', value: row => row.manager_type},
    {title: 'created', value: row => minute(row.created_at), optional: 1},
  ],
}

/** `gateway secret-references`: the places of secrets in a manager outside. */
export function secretReferences(): Command {
  return group(
    'secret-references',
    'Secret references: where a secret lies in a manager outside, and how that is logged in to',
    [create(), listCommand(noun), showCommand(noun), update(), deleteCommand(noun, 'nothing may use it'), test()],
  )
}

function test(): Command {
  return leaf('test', 'Read secrets at their managers, and say whether calls can use them', [
    'gateway secret-references test',
    'gateway secret-references test vault-mcp',
  ])
    .argument('[slug]', 'slug or id of one (default: all)')
    .action((slug: string | undefined, _: unknown, self: Command) =>
      withGateway(self, async gateway => {
        const named = slug === undefined ? await allSlugs(gateway) : [slug]
        const tested = []
        for (const secretReferenceId of named)
          tested.push(await gateway.call('secret_references.test', {params: {secretReferenceId}, body: {}}))
        for (const each of tested) gateway.print.done(each, sentenceOf(each))
        if (tested.some(({error}) => error !== null))
          throw new CommandFault('Calls cannot use each of these secrets.', {
            exit: EXIT.failure,
            code: 'secret.unusable',
          })
      }),
    )
}

async function allSlugs(gateway: Gateway): Promise<readonly string[]> {
  const {data} = await gateway.call('secret_references.list', {query: {page_size: 100}})
  return data.map(({slug}) => slug)
}

interface TestedSecret {
  readonly slug: string
  readonly error: string | null
  readonly warning: string | null
  readonly version: string | null
  readonly age_s: number | null
}

function sentenceOf({slug, error, warning, version, age_s}: TestedSecret): string {
  const parts = error ?? ['it can be used', version && `version ${version}`, age_s !== null && `fetched ${age_s} s ago`]
  const all = Array.isArray(parts) ? parts.filter(Boolean).join(', ') : parts
  return `${slug}: ${all}.${warning === null ? '' : ` ${warning}`}`
}

interface WriteOptions extends AllowedOptions {
  readonly name?: string
  readonly path?: string
  readonly field?: string
  readonly authFile?: string
  readonly description?: string
  readonly tag?: readonly string[]
}

function create(): Command {
  const command = leaf('create', 'Create a secret reference', [
    'gateway secret-references create vault-mcp --manager hashicorp_vault --path secret/mcp --auth-file login.yaml',
    'echo \'{"aws_auth_type":"serviceRole","aws_region":"eu-central-1"}\' | gateway secret-references create aws-docs --manager aws_sm --path prod/docs --auth-file -',
  ])
    .argument('<slug>', 'slug to give it')
    .requiredOption('--manager <kind>', 'aws_sm, azure_kv or hashicorp_vault')
    .requiredOption('--path <path>', 'where the secret lies in its manager')
    .requiredOption('--auth-file <file>', 'JSON or YAML with the login (aws_auth_type, ...), or - for stdin')
  return writes(command).action(
    (slug: string, options: WriteOptions & {manager: string; path: string}, self: Command) =>
      withGateway(self, async gateway => {
        const fields = await written(gateway, options)
        const required = {secret_path: options.path, auth_config: fields.auth_config!}
        const body = {slug, name: slug, manager_type: options.manager, ...fields, ...required}
        const reply = await gateway.call('secret_references.create', {body})
        gateway.print.made(reply, reply.slug, `Created the secret reference ${reply.slug}.`)
      }),
  )
}

function update(): Command {
  const command = named(
    leaf('update', 'Change a secret reference; its login field by field', [
      'gateway secret-references update vault-mcp --auth-file login.yaml',
      'gateway secret-references update vault-mcp --everywhere',
    ]),
    noun,
  )
    .option('--path <path>', 'where the secret lies in its manager')
    .option('--auth-file <file>', 'JSON or YAML with fields of the login, or - for stdin')
  return writes(command).action((slug: string, options: WriteOptions, self: Command) =>
    withGateway(self, async gateway => {
      const body = await written(gateway, options)
      if (!Object.keys(body).length)
        throw usageFault('Nothing to change was said.', 'See: gateway secret-references update --help')
      const reply = await gateway.call('secret_references.update', {params: {secretReferenceId: slug}, body})
      gateway.print.done(reply, `Changed the secret reference ${slug}.`)
    }),
  )
}

function writes(command: Command): Command {
  return withAllowed(command)
    .option('--field <name>', 'the key to pick of a secret that holds several')
    .option('--name <name>', 'name to show (default: the slug)')
    .option('--description <text>', 'what it is for')
    .option('--tag <name=value...>', 'tags to find it by')
}

async function written(gateway: Gateway, options: WriteOptions) {
  return {
    ...(options.name !== undefined && {name: options.name}),
    ...(options.description !== undefined && {description: options.description}),
    ...(options.path !== undefined && {secret_path: options.path}),
    ...(options.field !== undefined && {secret_key: options.field}),
    ...(options.authFile !== undefined && {
      auth_config: await structuredFrom(gateway.world, options.authFile, '--auth-file'),
    }),
    ...(options.tag && {tags: readPairs(options.tag, '--tag')}),
    ...(await allowedOf(gateway, options)),
  }
}
