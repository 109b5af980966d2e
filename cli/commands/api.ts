import type {Command} from 'commander'
import type {AnyOperation} from '../../src/admin/operation.ts'
import {nearest} from '../../src/base/nearest.ts'
import {type Gateway, requestOf, withGateway} from '../connect.ts'
import {usageFault} from '../fault.ts'
import {fieldsOf, readInput, usageOf} from '../fields.ts'
import {PERFORMED_BY} from '../operations.ts'
import {fileText, jsonFrom, leaf} from '../options.ts'
import {openSession} from '../session.ts'
import type {TableColumn} from '../table.ts'

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH']

const COLUMNS: readonly TableColumn<AnyOperation>[] = [
  {title: 'operation', value: row => row.id, whole: true},
  {title: 'method', value: row => row.method},
  {title: 'path', value: row => row.path, optional: 2},
  {title: 'command', value: row => PERFORMED_BY[row.id], whole: true},
  {title: 'summary', value: row => row.summary, optional: 1},
]

interface ApiOptions {
  readonly body?: string
  readonly list?: true
  readonly document?: true
}

/** `gateway api`: any operation by its id with a flag for each field, or any request by method and path. */
export function api(): Command {
  return leaf('api', 'Call any operation of the administration, or any path', [
    'gateway api --list',
    'gateway api --document > openapi.json',
    'gateway api api_keys.create --help',
    'gateway api workspaces.create --name research --description "The research team"',
    'gateway api configs.update pc-main-1a2b3c --config-file main.json',
    'gateway api PUT /admin/workspaces/research --body change.json',
    'echo \'{"name":"research"}\' | gateway api POST /admin/workspaces --body -',
  ])
    .argument('[operation]', 'id of an operation, or a method: GET, POST, PUT, DELETE')
    .argument(
      '[words...]',
      'the path, or fields of the operation as --name value (--name-file FILE reads one from a file)',
    )
    .option('--body <file>', 'JSON body from a file, or - for stdin')
    .option('--list', 'list the operations, and the command of each')
    .option('--document', 'print the OpenAPI document of all operations')
    .helpOption(false)
    .addHelpText('after', '\ngateway api OPERATION --help lists the fields of an operation.')
    .allowUnknownOption()
    .action(async (operation: string | undefined, words: readonly string[], options: ApiOptions, self: Command) => {
      const asks_help = [operation, ...words].some(word => word === '--help' || word === '-h')
      if (options.list) return list(self)
      if (options.document)
        return withGateway(self, async ({call, print}) => print.json_reply(await call('openapi.get')))
      if (operation === undefined || operation.startsWith('-')) {
        if (asks_help) return void self.outputHelp()
        throw usageFault('Name an operation, or a method and a path.', 'gateway api --list shows the operations.')
      }
      if (METHODS.includes(operation.toUpperCase())) return request(self, operation.toUpperCase(), words, options)
      return asks_help ? help(self, operation) : call(self, operation, words, options)
    })
}

async function list(self: Command) {
  const {print} = await openSession(self)
  const {OPERATIONS} = await import('../../src/admin/registry.ts')
  const reply = OPERATIONS.map(({id, method, path, summary, scopes}) => ({
    id,
    method,
    path,
    summary,
    scopes,
    command: PERFORMED_BY[id],
  }))
  print.list(reply, OPERATIONS, COLUMNS)
}

async function help(self: Command, id: string) {
  const {print} = await openSession(self)
  const {OPERATIONS} = await import('../../src/admin/registry.ts')
  const operation = find(OPERATIONS, id)
  const fields = fieldsOf(operation)
  const usages = fields.map(usageOf)
  const widest = Math.max(0, ...usages.map(usage => usage.length))
  const path = fields.filter(({place}) => place === 'params').map(({name}) => ` <${name}>`)
  const example = fields
    .filter(({required, place}) => required && place !== 'params')
    .map(field => ` ${usageOf(field)}`)
  const lines = [
    `${operation.summary} (${operation.method} /v1${operation.path}): gateway ${PERFORMED_BY[id]}`,
    '',
    `Usage: gateway api ${id}${path.join('')} [fields]`,
    ...(fields.length
      ? [
          '',
          'Fields:',
          ...fields.map(
            ({place, required, nullable}, at) =>
              `  ${usages[at]!.padEnd(widest)}  ${place === 'params' ? 'path' : place}${required ? ', required' : ''}${nullable ? ', null clears' : ''}`,
          ),
        ]
      : []),
    ...(operation.body
      ? ['', 'Any field can be read from a file: --name-file FILE. --body FILE gives the whole body, - for stdin.']
      : []),
    '',
    'Examples:',
    `  $ gateway api ${id}${path.join('')}${example.join('')}`,
  ]
  for (const text of lines) print.line(text)
}

function call(self: Command, id: string, words: readonly string[], {body}: ApiOptions) {
  return withGateway(self, async gateway => {
    const {world, operations} = gateway
    const operation = find(operations, id)
    const given = body === undefined ? undefined : await jsonFrom(world, body, '--body')
    const input = readInput(fieldsOf(operation), words, given, path => fileText(world, path, 'The file'))
    await say(gateway, requestOf(operation, input))
  })
}

function request(self: Command, method: string, words: readonly string[], {body}: ApiOptions) {
  const [path, ...more] = words
  if (path === undefined || !path.startsWith('/') || more.length)
    throw usageFault(
      `After ${method} stands one path, for example /configs.`,
      'A body is given with --body FILE, or --body - for stdin.',
    )
  return withGateway(self, async gateway => {
    const given = body === undefined ? undefined : await jsonFrom(gateway.world, body, '--body')
    const versioned = path === '/v1' || path.startsWith('/v1/') ? path : `/v1${path}`
    await say(gateway, {method, path: versioned, ...(given !== undefined && {body: given})})
  })
}

/**
 * The reply as it is: this command has no other words for it. A reply that is no JSON (a stream of events) is printed
 * as text.
 */
async function say({ask, print}: Gateway, request: Parameters<Gateway['ask']>[0]) {
  const reply = await ask(request)
  if (typeof reply === 'string') print.line(reply.trimEnd())
  else print.json_reply(reply ?? {})
}

function find(operations: readonly AnyOperation[], id: string): AnyOperation {
  const operation = operations.find(each => each.id === id)
  if (operation) return operation
  const near = nearest(
    id,
    operations.map(each => each.id),
  )
  throw usageFault(`There is no operation ${id}.`, near ? `The nearest is ${near}.` : 'gateway api --list shows them.')
}
