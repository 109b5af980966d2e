import type {Command} from 'commander'
import type {Gateway} from '../connect.ts'
import {usageFault} from '../fault.ts'
import {workspaceFor} from '../workspace.ts'

export interface AllowedOptions {
  readonly only?: readonly string[]
  readonly everywhere?: true
}

/** Adds the words that say which workspaces a row of the organisation is for. */
export function withAllowed(command: Command): Command {
  return command
    .option('--only <workspace...>', 'for these workspaces alone')
    .option('--everywhere', 'for every workspace of the organisation')
}

/** The same as operations take it; what was not given is absent. */
export async function allowedOf(gateway: Gateway, {only, everywhere}: AllowedOptions) {
  if (only && everywhere) throw usageFault('--only and --everywhere are both given; keep one.')
  if (everywhere) return {allow_all_workspaces: true}
  if (!only) return {}
  return {allowed_workspaces: await Promise.all(only.map(async name => (await workspaceFor(gateway, name)) ?? name))}
}
