import {CommandFault, EXIT} from '../fault.ts'
import {quoted} from '../hint.ts'
import {fileText} from '../options.ts'
import type {CommandSession} from '../session.ts'
import type {Transport} from '../transport.ts'
import {gatewayAddress} from './address.ts'
import {type ContextVariables, type GatewayContext, keyPath} from './file.ts'
import {readPrivate} from './private-file.ts'

const COMMAND_MS = 60_000
const MAX_KEY_BYTES = 65_536
/** Characters that a header can carry. */
const KEY = /^[\x21-\x7e]{1,8192}$/

/** The way to the gateway of a context, with its key; says on a terminal which one it is. */
export async function openContext(
  {world, print, options, sources}: CommandSession,
  context: GatewayContext & {readonly url: string},
): Promise<Transport> {
  const {name, ca_file} = context
  const url = gatewayAddress(context.url)
  if (world.stderr.isTTY) print.note(`${name} (${url}):`)
  const given =
    options.apiKeyFile === undefined ? options.apiKey : fileText(world, options.apiKeyFile, '--api-key-file').trim()
  const api_key = given ?? (await keyOf(context, sources.env))
  const [{openThere}, {authoritiesIn}] = await Promise.all([import('../remote.ts'), import('./authority.ts')])
  const ca = authoritiesIn(world, ca_file, `ca_file of the context ${name}:`)
  return openThere({url, api_key, ...(ca && {ca}), ...(given === undefined && {if_unknown: signInAgain(context)})})
}

/** The next step where the gateway does not know a context's key, or no longer. */
export function signInAgain({name, url, kind, key_command}: GatewayContext): string {
  if (key_command !== undefined) return `The key is what key_command of the context ${name} prints.`
  const key = kind === 'key' ? ' --key-stdin' : ''
  return `Sign in again: gateway login ${quoted(url ?? 'URL')} --name ${name}${key}`
}

/** The key of a context; undefined where it names none. Refuses a file that others may read. */
export async function keyOf(context: GatewayContext, env: ContextVariables): Promise<string | undefined> {
  const {name, key_file, key_command} = context
  if (key_file === undefined && key_command === undefined) return undefined
  const text = key_file === undefined ? await printed(key_command!, name) : readPrivate(keyPath(env, key_file))
  if (text === undefined) throw keyless(`The key of the context ${name} is gone.`, signInAgain(context))
  const key = text.trim()
  if (KEY.test(key)) return key
  throw keyless(`${key_file === undefined ? 'key_command' : 'key_file'} of the context ${name} gives no key.`)
}

/** The stdout of a command that the owner of the contexts wrote down; it may ask him at his terminal. */
async function printed(command: string, name: string): Promise<string> {
  const {spawnSync} = await import('node:child_process')
  const {status, stdout} = spawnSync('/bin/sh', ['-c', command], {
    stdio: ['inherit', 'pipe', 'inherit'],
    timeout: COMMAND_MS,
    maxBuffer: MAX_KEY_BYTES,
    encoding: 'utf8',
  })
  if (status === 0) return stdout
  throw keyless(`key_command of the context ${name} failed${status === null ? '' : ` with ${status}`}.`)
}

function keyless(message: string, next?: string): CommandFault {
  return new CommandFault(message, {exit: EXIT.failure, code: 'context_key', ...(next && {next})})
}
