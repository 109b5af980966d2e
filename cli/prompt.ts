import type {Command} from 'commander'
import {type Unchecked, unchecked} from './client.ts'
import type {Gateway} from './connect.ts'
import {usageFault} from './fault.ts'
import {readWhole} from './option-parsers.ts'
import type {WorkspaceOption} from './options.ts'
import {structuredFrom} from './structured.ts'
import {workspaceFor} from './workspace.ts'

/** Fields of a prompt as a file or flags say them. */
export interface PromptOptions {
  readonly file?: string
  readonly provider?: string
  readonly model?: string
  readonly description?: string
}

export function withPrompt(command: Command): Command {
  return command
    .option('--file <file>', 'JSON or YAML with messages (or string), parameters, model, provider; or - for stdin')
    .option('--provider <slug>', 'provider or saved config its calls go to')
    .option('--model <model>', 'model its calls ask for')
    .option('--description <text>', 'what is new in this version')
}

/**
 * The fields as the operations take them. A file may say `messages` as a list, in place of the `string` that holds it
 * as JSON, and `provider`, which the operations call `virtual_key`.
 */
export async function promptFields(
  {world}: Gateway,
  {file, provider, model, description}: PromptOptions,
): Promise<Record<string, unknown> & Unchecked> {
  const result = file === undefined ? {} : await structuredFrom(world, file, '--file')
  if (typeof result !== 'object' || result === null || Array.isArray(result))
    throw usageFault(
      `${file === '-' ? 'Stdin' : file} should hold an object with messages, parameters, model and provider.`,
    )
  const {messages, provider: named, ...rest}: Readonly<Record<string, unknown>> = {...result}
  const fields: Record<string, unknown> = {
    ...rest,
    ...(messages !== undefined && {string: JSON.stringify(messages)}),
    ...(named !== undefined && {virtual_key: named}),
    ...(provider !== undefined && {virtual_key: provider}),
    ...(model !== undefined && {model}),
    ...(description !== undefined && {version_description: description}),
  }
  return unchecked(fields)
}

/** The collection that was named, else the workspace's default one. */
export async function collectionFor(
  gateway: Gateway,
  named: string | undefined,
  {workspace}: WorkspaceOption,
): Promise<string> {
  if (named !== undefined) return named
  const workspace_id = await workspaceFor(gateway, workspace)
  const {data} = await gateway.call('collections.list', {query: {workspace_id, page_size: 1000}})
  const usual = data.find(each => each.is_default)
  if (!usual) throw usageFault('Name the collection it lies in with --collection.', 'See: gateway collections list')
  return usual.id
}

export interface CallOptions {
  readonly var?: readonly string[]
  readonly file?: string
}

/** Adds the ways to say what a prompt is filled with. */
export function withVariables(command: Command): Command {
  return command
    .argument('<name>', 'which prompt; name@3, name@latest or name@label for another than the published version')
    .option('--var <name=value...>', 'variables that are texts')
    .option(
      '--file <file>',
      'JSON or YAML with the whole body: variables, and parameters in place of the saved ones; or - for stdin',
    )
}

/** The body of a call of a prompt. */
export async function callBody({world}: Gateway, {var: words = [], file}: CallOptions): Promise<Unchecked> {
  const fields = file === undefined ? {} : await structuredFrom(world, file, '--file')
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields))
    throw usageFault(`${file === '-' ? 'Stdin' : file} should hold an object with variables.`)
  const pairs = words.map(word => {
    const at = word.indexOf('=')
    if (at < 1) throw usageFault(`--var takes name=value, not ${word.slice(0, 80)}.`)
    return [word.slice(0, at), word.slice(at + 1)] as const
  })
  const body: Readonly<Record<string, unknown>> = {...fields}
  return unchecked({...body, variables: Object.assign({}, body.variables, Object.fromEntries(pairs))})
}

/** The number of a version, as typed. */
export function versionNumber(text: string): number {
  return readWhole(text.replace(/^v/, ''), 'VERSION', 1, 1_000_000_000)
}
