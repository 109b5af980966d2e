import type {Command} from 'commander'
import type {Settings, Sources} from '../src/settings/index.ts'
import {CommandFault, EXIT, usageFault} from './fault.ts'
import {createPrinter, type Printer} from './print.ts'
import type {World} from './world.ts'

/** The options that every command takes. */
export interface GlobalOptions {
  readonly dataDir?: string
  readonly settings?: string
  readonly organisation?: string
  readonly url?: string
  readonly apiKey?: string
  readonly apiKeyFile?: string
  readonly json?: true
  readonly quiet?: true
  readonly color: boolean
}

/** A command at work: its world, its options, how it speaks, and the settings it runs under. */
export interface Session {
  readonly world: World
  readonly options: GlobalOptions
  readonly print: Printer
  readonly sources: Sources
  /** Reads and checks the settings; faults are of exit code 2. */
  settings(): Promise<{settings: Settings; origins: Awaited<ReturnType<typeof readAll>>['origins']}>
}

const worlds = new WeakMap<Command, World>()

/** Puts a command tree into a world. */
export function placeIn(root: Command, world: World) {
  worlds.set(root, world)
}

/** The session of a command that is about to act. `flags` are settings given to this command, by flag without its hyphens. */
export async function openSession(command: Command, flags: Readonly<Record<string, string | undefined>> = {}): Promise<Session> {
  let root = command
  while (root.parent) root = root.parent
  const world = worlds.get(root)
  if (!world) throw new Error('The command tree is in no world.')
  const options = root.opts<GlobalOptions>()
  const given = {'data-dir': options.dataDir, settings: options.settings, url: options.url, 'api-key-file': options.apiKeyFile}
  const sources = await world.sources({...flags, ...given})
  const {NO_COLOR, TERM} = sources.env
  const color = world.stdout.isTTY && options.color && !NO_COLOR && TERM !== 'dumb'
  const print = createPrinter(world, {json: options.json === true, quiet: options.quiet === true, color})
  if (options.apiKey !== undefined) {
    if (options.apiKeyFile !== undefined) throw usageFault('--api-key and --api-key-file are both given; keep one.')
    print.note('Note: --api-key is seen by everybody on this machine (ps). GATEWAY_API_KEY and --api-key-file are not.')
  }
  return {world, options, print, sources, settings: () => readAll(sources)}
}

async function readAll(sources: Sources) {
  const {readSettings, SettingsFault} = await import('../src/settings/index.ts')
  try {
    return readSettings(sources)
  } catch (cause) {
    if (!(cause instanceof SettingsFault)) throw cause
    throw new CommandFault(cause.sentences.join('\n'), {exit: EXIT.usage, code: 'settings', cause})
  }
}
