import type {Command} from 'commander'
import {Option} from 'commander'
import type {FlagOption} from '../../src/settings/index.ts'

/** Flags that every command has, whatever the settings table says of them. */
const EVERYWHERE = ['data-dir', 'settings', 'url', 'api-key-file']

type Flags = Readonly<Record<string, string | undefined>>

/**
 * Adds a flag for every setting. They are listed in the help of `gateway serve`; elsewhere they are taken without being
 * listed.
 */
export function withSettings(command: Command, flags: readonly FlagOption[], {listed}: {listed: boolean}): Command {
  for (const {flag, group, help} of flags) {
    if (EVERYWHERE.includes(flag) || group === 'Command line') continue
    const option = new Option(`--${flag} <value>`, help).helpGroup(`${group}:`)
    command.addOption(listed ? option : option.hideHelp())
  }
  if (!listed) command.addHelpText('after', '\nEvery setting can be given as a flag: gateway serve --help lists them.')
  return command
}

/** The settings given to a command, by flag. */
export function flagsOf(command: Command, flags: readonly FlagOption[]): Flags {
  const given = command.opts<Record<string, string | undefined>>()
  const options = new Map(command.options.map(option => [option.name(), option.attributeName()]))
  return Object.fromEntries(flags.flatMap(({flag}) => (options.has(flag) ? [[flag, given[options.get(flag)!]]] : [])))
}
