import {rmSync, writeFileSync} from 'node:fs'
import {join, resolve} from 'node:path'
import type {FirstRun} from '../src/admin/first-run.ts'
import type {Environment} from './environment.ts'
import {CommandFault, EXIT, fileReason} from './fault.ts'

/** The destination of a first run's keys: the terminal, a file, or nowhere as the operator gave them. */
export type KeysShown =
  | {readonly to: 'terminal'}
  | {readonly to: 'file'; readonly path: string}
  | {readonly to: 'nobody'}

/**
 * Says the generated keys of a first run this once (decisions: first run): on the terminal, else into `first-run.txt`
 * (0600) in the data directory. Keys from bootstrap variables are not shown.
 */
export function tellFirstRun(
  first: FirstRun,
  data_dir: string,
  {stdout}: Environment,
  {terminal = stdout.isTTY} = {},
): KeysShown {
  const lines = linesOf(first)
  if (!lines.length) return {to: 'nobody'}
  const text = `${[...lines, `workspace      ${first.workspace_slug}`].join('\n')}\n`
  if (terminal) {
    stdout.write(
      `\nThis is the first run. Keep these keys now: they are not shown again.\n\n${text.replace(/^/gm, '  ').trimEnd()}\n\n`,
    )
    return {to: 'terminal'}
  }
  const path = join(resolve(data_dir), 'first-run.txt')
  try {
    rmSync(path, {force: true})
    writeFileSync(
      path,
      `Keys of the first run. Move them to where you keep secrets, and delete this file.\n\n${text}`,
      {
        mode: 0o600,
        flag: 'wx',
      },
    )
  } catch (cause) {
    throw new CommandFault(`The keys of the first run could not be written to ${path}: ${fileReason(cause)}.`, {
      exit: EXIT.failure,
      code: 'first_run',
      next: 'Make another admin key with: gateway keys create NAME --admin',
      cause,
    })
  }
  return {to: 'file', path}
}

function linesOf({admin_key, workspace_key}: FirstRun): string[] {
  return [
    ...(admin_key.given ? [] : [`admin key      ${admin_key.key}`]),
    ...(workspace_key.given ? [] : [`workspace key  ${workspace_key.key}`]),
  ]
}
