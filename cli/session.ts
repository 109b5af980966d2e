import type {Command} from 'commander'
import type {SettingSources, Settings} from '../src/settings/index.ts'
import type {GatewayContext} from './contexts/file.ts'
import type {Environment} from './environment.ts'
import {CommandFault, EXIT, usageFault} from './fault.ts'
import {createPrinter, type Printer} from './print.ts'

/** The options that every command takes. */
export interface GlobalOptions {
  readonly dataDir?: string
  readonly settings?: string
  readonly organisation?: string
  readonly url?: string
  readonly context?: string
  readonly apiKey?: string
  readonly apiKeyFile?: string
  readonly json?: true
  readonly quiet?: true
  readonly color: boolean
}

/** A command at work: its world, its options, how it speaks, and the settings it runs under. */
export interface CommandSession {
  readonly world: Environment
  readonly options: GlobalOptions
  readonly print: Printer
  readonly sources: SettingSources
  /** Reads and checks the settings; faults are of exit code 2. */
  settings(): Promise<{settings: Settings; origins: Awaited<ReturnType<typeof readAll>>['origins']}>
  /**
   * The same for a command that works on a gateway: one that names none finds the one that is served or installed here.
   */
  found(): ReturnType<CommandSession['settings']>
  /** The context it works in; undefined where it works elsewhere. */
  context(): Promise<GatewayContext | undefined>
  /** GATEWAY_CONTEXT: no setting of a gateway, and no source of settings has it. */
  readonly context_named: string | undefined
  /** The settings, as if this data directory had been named. */
  in(data_dir: string): ReturnType<CommandSession['settings']>
  /** The command line, without the program's name. */
  readonly argv: readonly string[]
}

const worlds = new WeakMap<Command, {readonly world: Environment; readonly argv: readonly string[]}>()

/** Puts a command tree into a world. */
export function placeIn(root: Command, world: Environment, argv: readonly string[] = []) {
  worlds.set(root, {world, argv})
}

/**
 * The session of a command that is about to act. `flags` are settings given to this command, by flag without its
 * hyphens.
 */
export async function openSession(
  command: Command,
  flags: Readonly<Record<string, string | undefined>> = {},
): Promise<CommandSession> {
  let root = command
  while (root.parent) root = root.parent
  const placed = worlds.get(root)
  if (!placed) throw new Error('The command tree is in no world.')
  const {world, argv} = placed
  const options = root.opts<GlobalOptions>()
  if (options.context !== undefined && LOCAL.has(topOf(command)))
    throw usageFault(`gateway ${topOf(command)} works on a data directory, and in no context.`, 'Leave --context out.')
  const given = {
    'data-dir': options.dataDir,
    settings: options.settings,
    url: options.url,
    'api-key-file': options.apiKeyFile,
  }
  const all = await world.sources({...flags, ...given})
  const {GATEWAY_CONTEXT: context_named, ...env} = all.env
  const sources = {...all, env}
  const {NO_COLOR, TERM} = sources.env
  const color = world.stdout.isTTY && options.color && !NO_COLOR && TERM !== 'dumb'
  const print = createPrinter(world, {json: options.json === true, quiet: options.quiet === true, color})
  if (options.apiKey !== undefined) {
    if (options.apiKeyFile !== undefined) throw usageFault('--api-key and --api-key-file are both given; keep one.')
    print.note('Note: --api-key is seen by everybody on this machine (ps). GATEWAY_API_KEY and --api-key-file are not.')
  }
  const settings = () => readAll(sources)
  const inFolder = (data_dir: string) => readAll({...sources, argv: {...sources.argv, 'data-dir': data_dir}})
  const context = async () => {
    const {chosenContext} = await import('./contexts/choose.ts')
    return chosenContext({options, env, named: context_named, settings})
  }
  const found = async () => {
    const read = await settings()
    const {data_dir, url} = read.settings
    if (url !== undefined || read.origins.GATEWAY_DATA_DIR !== 'default') return read
    const {findGateway} = await import('./find.ts')
    const there = await findGateway({
      world,
      env: sources.env,
      name: command.name(),
      argv,
      usual: data_dir,
      note: print.note,
    })
    return there === undefined ? read : inFolder(there)
  }
  return {world, options, print, sources, argv, settings, found, context, context_named, in: inFolder}
}

/** Commands for which a context would say nothing: they must not work elsewhere than was said. */
const LOCAL: ReadonlySet<string> = new Set(['serve', 'init', 'migrate', 'config', 'certs', 'ledger'])

function topOf(command: Command): string {
  const {parent} = command
  return parent?.parent ? topOf(parent) : command.name()
}

async function readAll(sources: SettingSources) {
  const {readSettings, SettingsFault} = await import('../src/settings/index.ts')
  try {
    return readSettings(sources)
  } catch (cause) {
    if (!(cause instanceof SettingsFault)) throw cause
    throw new CommandFault(cause.sentences.join('\n'), {exit: EXIT.usage, code: 'settings', cause})
  }
}
