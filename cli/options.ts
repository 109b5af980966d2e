import {Command, Option} from 'commander'
import {type Unchecked, unchecked} from './client.ts'
import type {Environment} from './environment.ts'
import {fileReason, usageFault} from './fault.ts'
import {readExpiry, readJson, readWhole} from './option-parsers.ts'

/** A command with its examples, one at least; each is written without the prompt. */
export function leaf(name: string, description: string, examples: readonly [string, ...string[]]): Command {
  const lines = examples.map(example => `  $ ${example}`).join('\n')
  return new Command(name).description(description).addHelpText('after', `\nExamples:\n${lines}`)
}

/** A command that only holds others. */
export function group(name: string, description: string, commands: readonly Command[]): Command {
  const made = new Command(name).description(description)
  for (const each of commands) made.addCommand(each)
  return made
}

export interface WorkspaceOption {
  readonly workspace?: string
}

export function withWorkspace(command: Command, meaning: string): Command {
  return command.option('-w, --workspace <slug>', meaning)
}

export interface ConfirmOption {
  readonly yes?: true
}

/** For commands that take something away. */
export function withConfirm(command: Command): Command {
  return command.option('-y, --yes', 'do not ask first')
}

/** Asks a person at a terminal whether to continue; a pipe or a script continues. */
export async function confirmed({ask}: Environment, deed: string, {yes}: ConfirmOption): Promise<void> {
  if (yes || !ask) return
  const answer = await ask(`${deed}? [y/N] `)
  if (!/^\s*y(es)?\s*$/i.test(answer)) throw usageFault('Nothing was done.')
}

export interface PageOptions {
  readonly limit: string
  readonly page: string
}

export function withPage(command: Command): Command {
  return command
    .option('--limit <n>', 'rows of a page, 1000 at most', '100')
    .option('--page <n>', 'page to show, from 1', '1')
}

/** The page as lists take it: theirs count from 0. */
export function pageOf({limit, page}: PageOptions) {
  return {page_size: readWhole(limit, '--limit', 1, 1000), current_page: readWhole(page, '--page', 1, 1_000_000) - 1}
}

const ENFORCEMENTS = ['compatible', 'strict', 'shadow']

export interface EnforcementOption {
  readonly enforcement?: string
}

export function withEnforcement(command: Command): Command {
  return command.addOption(
    new Option(
      '--enforcement <how>',
      'strict holds what a call may use in advance; compatible counts after it; shadow only reports',
    ).choices(ENFORCEMENTS),
  )
}

export function enforcementOf({enforcement}: EnforcementOption): {enforcement?: string} {
  return enforcement === undefined ? {} : {enforcement}
}

export interface ExpiryOption {
  readonly expires?: string
}

export function withExpiry(command: Command): Command {
  return command.option('--expires <when>', 'for example 90d, 12h, 2030-12-31 or never')
}

export function expiryOf({expires}: ExpiryOption, {now}: Environment): {expires_at?: string | null} {
  return expires === undefined ? {} : {expires_at: readExpiry(expires, now())}
}

export interface SecretOptions {
  readonly key?: string
  readonly keyFile?: string
  readonly keyStdin?: true
}

/** Adds the three ways to give a provider's key. */
export function withSecret(command: Command): Command {
  return command
    .option('--key-file <file>', "file that holds the provider's key")
    .option('--key-stdin', 'read the key from stdin')
    .addOption(new Option('--key <key>', 'the key itself; others on this machine can see it (ps)'))
}

/** The key that was given, without the line end of its file; undefined when none was. */
export async function secretOf(
  {key, keyFile, keyStdin}: SecretOptions,
  world: Environment,
  note: (text: string) => void,
): Promise<string | undefined> {
  if ([key, keyFile, keyStdin].filter(each => each !== undefined).length > 1)
    throw usageFault('Give the key once: --key-file, --key-stdin or --key.')
  if (key !== undefined) {
    note('Note: --key is seen by everybody on this machine (ps). --key-file and --key-stdin are not.')
    return key
  }
  if (keyStdin && world.stdinIsTTY)
    throw usageFault(
      '--key-stdin reads a pipe, and stdin is the terminal.',
      'For example: cat key.txt | gateway ... --key-stdin',
    )
  const text = keyStdin
    ? await world.readStdin()
    : keyFile === undefined
      ? undefined
      : fileText(world, keyFile, '--key-file')
  if (text?.trim() === '') throw usageFault(`${keyStdin ? 'Stdin' : keyFile} is empty; it should hold the key.`)
  return text?.trim()
}

/** The text of a file named on the command line. */
export function fileText(world: Environment, path: string, option: string): string {
  try {
    return world.readFile(path)
  } catch (cause) {
    throw usageFault(`${option} ${path} cannot be read: ${fileReason(cause)}.`)
  }
}

/** The JSON of a file, or of stdin for `-`. */
export async function jsonFrom(world: Environment, path: string, option: string): Promise<Unchecked> {
  if (path === '-') return unchecked(readJson(await world.readStdin(), 'What stdin holds'))
  return unchecked(readJson(fileText(world, path, option), `What ${path} holds`))
}
