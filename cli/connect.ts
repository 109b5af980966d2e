import type {Command} from 'commander'
import type {AnyOperation} from '../src/admin/operation.ts'
import type {Settings} from '../src/settings/index.ts'
import type {CallOperation} from './client.ts'
import type {Environment} from './environment.ts'
import {CommandFault, EXIT, exitOf, usageFault} from './fault.ts'
import {placeOptions, typedAgain} from './hint.ts'
import type {Printer} from './print.ts'
import {type CommandSession, type GlobalOptions, openSession} from './session.ts'
import type {Request, Transport, TransportReply} from './transport.ts'

/** The input of an operation, as its schemas take it. */
export interface Input {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
}

/** A gateway that a command works on. */
export interface Gateway {
  readonly world: Environment
  readonly print: Printer
  readonly operations: readonly AnyOperation[]
  readonly call: CallOperation
  /** The same where the operation is not known before the command runs. */
  perform(operation_id: string, input?: Input): Promise<object>
  /** `there`: a gateway at a URL, which takes calls of models too. */
  readonly kind: Transport['kind']
  /** A command for the same gateway, as it is to be typed: hints carry the options that say where. */
  typed(words: string): string
  /** Sends any request; a refusal is thrown. */
  ask(request: Request): Promise<unknown>
  /** The same; a refusal is a reply as any other. */
  send(request: Request): Promise<TransportReply>
}

/** Connects, works, and disconnects whatever happened. */
export async function withGateway(command: Command, work: (gateway: Gateway) => Promise<void>): Promise<void> {
  const session = await openSession(command)
  const {OPERATIONS, OPERATOR_OPERATIONS} = await import('../src/admin/registry.ts')
  const transport = await connect(session).catch(fault => {
    throw unfound(fault, session)
  })
  const operations = transport.kind === 'here' ? [...OPERATIONS, ...OPERATOR_OPERATIONS] : OPERATIONS
  try {
    await work(gatewayOver(transport, operations, session))
  } catch (fault) {
    throw unfound(withHint(fault, command, placeOptions(session.options)), session)
  } finally {
    await transport.close()
  }
}

/** A missing row is best looked for in the list of its kind, else in the one that is beside the command. */
function withHint(fault: unknown, command: Command, place: string): unknown {
  if (!(fault instanceof CommandFault) || fault.status !== 404 || fault.next) return fault
  const {message, exit, code, status} = fault
  const parent = groupOf(/\bno (\w+) is known\b/.exec(message)?.[1], command) ?? command.parent
  if (!hasList(parent)) return fault
  return new CommandFault(message, {
    exit,
    code,
    status,
    next: `gateway ${parent.name()} list${place} shows what there is.`,
  })
}

/** The group of commands for a kind of rows, where it has a list. */
function groupOf(kind: string | undefined, command: Command): Command | undefined {
  let program = command
  while (program.parent) program = program.parent
  return program.commands.find(each => each.name() === `${kind}s` && hasList(each))
}

function hasList(command: Command | null): command is Command {
  return command?.commands.some(each => each.name() === 'list') === true
}

/** A gateway reached by `transport`, spoken to in `operations`. */
export function gatewayOver(
  transport: Transport,
  operations: readonly AnyOperation[],
  {
    world,
    print,
    options,
  }: Pick<CommandSession, 'world' | 'print'> & {
    readonly options?: Pick<GlobalOptions, 'dataDir' | 'url' | 'context' | 'organisation'>
  },
): Gateway {
  const ask = async (request: Request) => {
    const {status, body} = await transport.send(request)
    if (status >= 400) throw refused(status, body, transport)
    return body
  }
  const perform = async (id: string, input: Input = {}) => {
    const operation = operations.find(each => each.id === id)
    // whatever is replied that is no refusal is JSON of an object or a list
    if (operation) return (await ask(requestOf(operation, input))) as object
    if (transport.kind === 'there' && OPERATORS.test(id))
      throw usageFault(
        'This is done on the data directory of the gateway, not at a URL.',
        'Leave --url out, and run it on that machine.',
      )
    throw new CommandFault(`This version of gateway does not offer ${id}.`, {
      exit: EXIT.failure,
      code: 'not_available',
      next: 'gateway api --list shows what it offers.',
    })
  }
  return {
    world,
    print,
    operations,
    kind: transport.kind,
    typed: words => `gateway ${words}${placeOptions(options ?? {})}`,
    ask,
    send: request => transport.send(request),
    // here alone is a reply taken for what its operation says; the gateway's tests check every reply by its schema
    call: perform as CallOperation,
    perform,
  }
}

/** Operations of the operator alone. */
const OPERATORS =
  /^organisations\.|^(users|sessions|identities)\.create$|^users\.set_password$|^domains\.(create_verified|vouch)$/

/** The HTTP request of an operation. */
export function requestOf(
  {method, path}: Pick<AnyOperation, 'method' | 'path'>,
  {params = {}, query = {}, body}: Input,
): Request {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => {
    const value = params[name]
    if (value === undefined || value === '') throw usageFault(`${name} is missing.`)
    return encodeURIComponent(value)
  })
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== null)
      search.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value))
  return {method, path: `/v1${filled}${search.size ? `?${search}` : ''}`, ...(body !== undefined && {body})}
}

async function connect(session: CommandSession): Promise<Transport> {
  const {world} = session
  if (world.transport) return world.transport
  const context = await session.context()
  const {organisation} = session.options
  if (context?.url !== undefined) {
    if (organisation !== undefined) throw organisationThere()
    return (await import('./contexts/open.ts')).openContext(session, {...context, url: context.url})
  }
  const {settings, origins} = await (context?.data_dir === undefined ? session.found() : session.in(context.data_dir))
  const url = context ? undefined : urlOf(session, settings, origins.GATEWAY_URL)
  if (url === undefined) return (await import('./local.ts')).openLocal(world, settings, organisation)
  if (organisation !== undefined) throw organisationThere()
  return (await import('./remote.ts')).openThere({url, api_key: session.options.apiKey ?? settings.api_key})
}

function organisationThere(): CommandFault {
  return usageFault('--organisation is for the data directory: at a URL the key says which one.', 'Leave it out.')
}

/** Without a data directory, the whole line to type is beside the one that makes a directory. */
function unfound(fault: unknown, {argv, options}: CommandSession): unknown {
  if (
    !(fault instanceof CommandFault) ||
    fault.code !== 'data_directory' ||
    fault.next ||
    options.dataDir !== undefined
  )
    return fault
  const {message, exit, code} = fault
  return new CommandFault(message, {
    exit,
    code,
    next: `For example: ${typedAgain(argv, ' --data-dir DIR')}`,
    cause: fault,
  })
}

/**
 * The URL to talk to; undefined for the data directory. A flag goes before the environment, whichever of the two it
 * names.
 */
function urlOf({options}: CommandSession, {url}: Settings, origin: string): string | undefined {
  if (options.url !== undefined && options.dataDir !== undefined)
    throw usageFault('--url and --data-dir are both given; keep one.')
  const here = url === undefined || (options.dataDir !== undefined && origin !== 'flag')
  if (here && options.apiKey !== undefined)
    throw usageFault('--api-key is for a gateway at a URL, and none is named.', 'Add --url, or leave the key out.')
  return here ? undefined : url
}

/** The fault of a refusal, with the gateway's own sentence. */
export function refused(
  status: number,
  body: unknown,
  {kind, if_unknown}: Pick<Transport, 'kind' | 'if_unknown'>,
): CommandFault {
  const {message, code} = saidOf(body)
  const next =
    status === 401 && kind === 'there'
      ? (if_unknown ?? 'The key is read from GATEWAY_API_KEY or --api-key-file.')
      : undefined
  const unknown = kind === 'there' ? 'Is it a gateway that answers at this address?' : ''
  return new CommandFault(message ?? `The answer was ${status} without a reason. ${unknown}`.trim(), {
    exit: exitOf(status),
    code: code ?? `http_${status}`,
    status,
    ...(next && {next}),
  })
}

/** The message and code of a refusal: the administration's, or a model call's. */
function saidOf(body: unknown): {message: string | undefined; code: string | undefined} {
  const error_body = (body ?? {}) as {
    message?: unknown
    data?: {message?: unknown; errorCode?: unknown}
    error?: {message?: unknown; code?: unknown; type?: unknown}
  }
  const text = (value: unknown) => (typeof value === 'string' && value ? value : undefined)
  return {
    message:
      text(error_body.data?.message) ??
      text(error_body.error?.message) ??
      text(error_body.message) ??
      text(error_body.error),
    code: text(error_body.data?.errorCode) ?? text(error_body.error?.code) ?? text(error_body.error?.type),
  }
}
