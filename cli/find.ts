import {existsSync} from 'node:fs'
import {join, resolve} from 'node:path'
import type {Environment} from './environment.ts'
import {CommandFault, EXIT} from './fault.ts'
import {quoted, typedAgain} from './hint.ts'

/** Written by the installer; holds no secrets. */
const CLIENT_FILE = '/etc/gateway/client.yaml'
/** Commands that take something away: they never guess what from. */
const DELETES = new Set(['delete', 'remove', 'revoke', 'unmap', 'unset', 'rollback', 'reset'])
const DELETING_OPTION = /^--(?:prune|remove)(?:=|$)/
const DELETING_OPERATION = /^delete$|^[a-z_]+\.(?:delete|remove|revoke|unmap|unset|rollback|reset)(?:_|$)/i

function deletes({name, argv}: Pick<GatewayLookup, 'name' | 'argv'>): boolean {
  if (DELETES.has(name) || argv.some(word => DELETING_OPTION.test(word))) return true
  return name === 'api' && argv.some(word => DELETING_OPERATION.test(word))
}

/** The question, for a command without a place. */
export interface GatewayLookup {
  readonly world: Environment
  readonly env: Readonly<Record<string, string | undefined>>
  /** The command by its last word. */
  readonly name: string
  readonly argv: readonly string[]
  /** The default data directory. */
  readonly usual: string
  note(text: string): void
}

/**
 * The data directory that a command means which names none: the usual one if it is there, else the one that is served
 * here, else the one that is installed. Undefined where there is nothing of the kind. Several, or a command that
 * deletes, have to be named.
 */
export async function findGateway({world, env, name, argv, usual, note}: GatewayLookup): Promise<string | undefined> {
  if (existsSync(resolve(usual))) return undefined
  const {runningGateways} = await import('./served.ts')
  const served = await runningGateways(env)
  const lines = served.map(({data_dir}) => typedAgain(argv, ` --data-dir ${quoted(data_dir)}`))
  if (served.length > 1) throw unnamed(`${served.length} gateways are served here: name the one you mean.`, lines)
  const [one] = served
  if (one) {
    if (deletes({name, argv}))
      throw unnamed(`A gateway is served from ${one.data_dir}; a command that deletes must name it.`, lines)
    note(`Working on ${one.data_dir}, which is served at ${one.url}.`)
    return one.data_dir
  }
  const installed = await installedHere(world)
  if (!installed) return undefined
  const {data_dir, user} = installed
  const again = typedAgain(argv, ` --data-dir ${quoted(data_dir)}`)
  if (!isOpen(data_dir)) {
    const line = user ? `sudo -u ${user} ${again}` : again
    throw unnamed(
      `The gateway of this machine keeps its data in ${data_dir}${user ? `, which belongs to the user ${user}` : ''}.`,
      [line],
    )
  }
  if (deletes({name, argv}))
    throw unnamed(`A gateway is installed with its data in ${data_dir}; a command that deletes must name it.`, [again])
  note(`Working on ${data_dir}, where the gateway of this machine is installed.`)
  return data_dir
}

function unnamed(message: string, lines: readonly string[]): CommandFault {
  return new CommandFault(`${message}\n${lines.map(line => `  ${line}`).join('\n')}`, {
    exit: EXIT.failure,
    code: 'gateway_unnamed',
  })
}

async function installedHere({
  readFile,
}: Environment): Promise<{readonly data_dir: string; readonly user: string | undefined} | undefined> {
  let text: string
  try {
    text = readFile(CLIENT_FILE)
  } catch {
    return undefined
  }
  const {parse} = await import('yaml')
  try {
    const {data_dir, user} = (parse(text) ?? {}) as {data_dir?: unknown; user?: unknown}
    if (typeof data_dir !== 'string' || !data_dir.startsWith('/')) return undefined
    return {data_dir, user: typeof user === 'string' && /^[\w.-]+$/.test(user) ? user : undefined}
  } catch {
    return undefined
  }
}

/** A directory that is closed to this user looks as one that is not there, but for its folder. */
function isOpen(data_dir: string): boolean {
  return existsSync(join(data_dir, 'gateway.db'))
}
