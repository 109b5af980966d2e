import {isAbsolute, join, resolve} from 'node:path'
import {isObject} from '../../src/base/json-object.ts'
import {CommandFault, EXIT} from '../fault.ts'
import {readPrivate, removePrivate, writePrivate} from './private-file.ts'

export type ContextVariables = Readonly<Record<string, string | undefined>>

/** A gateway that commands work on by its name. Members that we do not know stay in the file. */
export interface GatewayContext {
  readonly name: string
  /** The one or the other: a gateway at an address, or a data directory of this machine. */
  readonly url?: string
  readonly data_dir?: string
  /** PEM file with authorities to trust beside the usual ones. */
  readonly ca_file?: string
  /** File that holds the key, for its owner alone; relative to the folder of the contexts. */
  readonly key_file?: string
  /** Command whose stdout is the key. */
  readonly key_command?: string
  readonly kind?: 'session' | 'key'
  /** E-mail address of the person, or name of the key. */
  readonly user?: string
  readonly organisation?: string
  readonly workspace?: string
  /** ISO 8601 UTC. */
  readonly expires_at?: string
}

export interface GatewayContexts {
  readonly current: string | null
  readonly contexts: readonly GatewayContext[]
}

const NONE: GatewayContexts = {current: null, contexts: []}
const NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/
const TEXTS = [
  ...['url', 'data_dir', 'ca_file', 'key_file', 'key_command'],
  ...['user', 'organisation', 'workspace', 'expires_at'],
]
const MOST = 1000
const LONGEST = 4096
const HEAD = '# Gateways of `gateway login`. Keys are in files of their own, never in this one.\n'

/** True for what may name a context: it names the file of its key as well. */
export function isContextName(name: string): boolean {
  return NAME.test(name)
}

/** The folder of contexts and their keys; undefined where this process has no home. */
export function contextsFolder({XDG_CONFIG_HOME, HOME}: ContextVariables): string | undefined {
  if (XDG_CONFIG_HOME && isAbsolute(XDG_CONFIG_HOME)) return join(XDG_CONFIG_HOME, 'gateway')
  return HOME && isAbsolute(HOME) ? join(HOME, '.config', 'gateway') : undefined
}

/** All contexts; none where there is no file. Refuses a file that others may read, or that cannot be understood. */
export async function readContexts(env: ContextVariables): Promise<GatewayContexts> {
  const folder = contextsFolder(env)
  const path = folder && join(folder, 'contexts.yaml')
  const text = path && readPrivate(path)
  return text === undefined || text === '' ? NONE : parsedContexts(text, path!)
}

/** Reads the contexts, and writes what `change` makes of them in their place. */
export async function changeContexts(
  env: ContextVariables,
  change: (contexts: GatewayContexts) => GatewayContexts,
): Promise<void> {
  const path = join(folderFor(env), 'contexts.yaml')
  const {stringify} = await import('yaml')
  const {current, contexts} = change(await readContexts(env))
  const body = stringify({...(current !== null && {current}), contexts}, {lineWidth: 0})
  writePrivate(path, `${HEAD}${body}`)
}

/** Writes the key of a context into its file, and gives the path as the context names it. */
export function keepKey(env: ContextVariables, name: string, key: string): string {
  const key_file = join('keys', name)
  writePrivate(join(folderFor(env), key_file), `${key}\n`)
  return key_file
}

/** Removes the file of a context's key where it is one of ours. */
export function dropKey(env: ContextVariables, {name, key_file}: GatewayContext): void {
  if (key_file === join('keys', name)) removePrivate(join(folderFor(env), key_file))
}

/** The path of the file of a context's key. */
export function keyPath(env: ContextVariables, key_file: string): string {
  return resolve(folderFor(env), key_file)
}

/** The context of a name. Throws a fault with exit code 3 where there is none. */
export function contextNamed({contexts}: GatewayContexts, name: string): GatewayContext {
  const found = contexts.find(each => each.name === name)
  if (found) return found
  throw new CommandFault(`There is no context ${name.slice(0, 100)}.`, {
    exit: EXIT.not_found,
    code: 'context_not_found',
    next: 'gateway contexts list shows them; gateway login URL makes one.',
  })
}

function folderFor(env: ContextVariables): string {
  const folder = contextsFolder(env)
  if (folder) return folder
  throw new CommandFault('There is no folder for contexts: neither XDG_CONFIG_HOME nor HOME is set.', {
    exit: EXIT.failure,
    code: 'contexts_file',
  })
}

async function parsedContexts(text: string, path: string): Promise<GatewayContexts> {
  const {parse} = await import('yaml')
  let value: unknown
  try {
    value = parse(text, {prettyErrors: false, maxAliasCount: 0})
  } catch {
    throw unreadable(path, 'it is no YAML')
  }
  if (!isObject(value)) throw unreadable(path, 'it should hold current and contexts')
  const {current = null, contexts = []} = value
  if (!Array.isArray(contexts) || contexts.length > MOST) throw unreadable(path, 'contexts is no list, or too long')
  const entries = contexts.map((each: unknown, at) => entryOf(each, `contexts[${at}]`, path))
  if (new Set(entries.map(({name}) => name)).size < entries.length) throw unreadable(path, 'a name comes twice')
  if (current !== null && typeof current !== 'string') throw unreadable(path, 'current is no name')
  return {current, contexts: entries}
}

function entryOf(value: unknown, where: string, path: string): GatewayContext {
  if (!isObject(value)) throw unreadable(path, `${where} is no context`)
  const {name, url, data_dir, kind} = value
  if (typeof name !== 'string' || !isContextName(name))
    throw unreadable(path, `${where}.name should be small letters, digits, dots and hyphens`)
  for (const member of TEXTS) {
    const text = value[member]
    const is_text = typeof text === 'string' && text !== '' && text.length <= LONGEST
    if (text !== undefined && !is_text) throw unreadable(path, `${where}.${member} is no text`)
  }
  if ((url === undefined) === (data_dir === undefined))
    throw unreadable(path, `${where} should have url, or data_dir, and not both`)
  if (kind !== undefined && kind !== 'session' && kind !== 'key')
    throw unreadable(path, `${where}.kind should be session or key`)
  // each member above is of the kind that its type says
  return value as unknown as GatewayContext
}

function unreadable(path: string, reason: string): CommandFault {
  return new CommandFault(`${path} cannot be used: ${reason}.`, {exit: EXIT.usage, code: 'contexts_file'})
}
