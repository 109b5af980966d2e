import type {Command} from 'commander'
import {Option} from 'commander'
import type {FlagOption} from '../../src/settings/index.ts'
import {group, leaf} from '../options.ts'
import {openSession} from '../session.ts'
import type {TableColumn} from '../table.ts'

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

/** `gateway config`: the settings of the server. */
export function config(flags: readonly FlagOption[]): Command {
  return group('config', "The server's settings (routing is gateway configs)", [show(flags)])
}

function show(flags: readonly FlagOption[]): Command {
  const command = leaf('show', 'Show every setting; secrets only as set or not set', [
    'gateway config show',
    'gateway config show --origin --data-dir /var/lib/gateway',
  ])
    .option('--origin', 'where each comes from: flag, environment, file or default')
    .option('--changed', 'only those that are not the default')
  return withSettings(command, flags, {listed: false}).action(
    async ({origin, changed}: {origin?: true; changed?: true}, self: Command) => {
      const session = await openSession(self, flagsOf(self, flags))
      const {settingRows} = await import('../../src/settings/index.ts')
      const rows = settingRows(await session.settings()).filter(row => !changed || row.origin !== 'default')
      type Row = (typeof rows)[number]
      const columns: TableColumn<Row>[] = [
        {title: 'setting', value: row => row.name, whole: true},
        {title: 'value', value: row => row.value},
        ...(origin ? [{title: 'origin', value: (row: Row) => row.origin}] : []),
        {title: 'meaning', value: row => row.meaning},
      ]
      session.print.list(rows, rows, columns)
    },
  )
}
