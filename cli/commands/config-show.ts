import type {Command} from 'commander'
import type {FlagOption, SettingRow} from '../../src/settings/index.ts'
import {CommandFault, EXIT} from '../fault.ts'
import {group, leaf} from '../options.ts'
import type {RunningSettings} from '../running-settings.ts'
import {type CommandSession, openSession} from '../session.ts'
import type {TableColumn} from '../table.ts'
import {flagsOf, withSettings} from './settings.ts'

interface ShowOptions {
  readonly origin?: true
  readonly changed?: true
  readonly running?: true
}

/** A setting in force, beside what the settings file says now; null where that is the same, or does not decide. */
interface RunningRow extends Omit<SettingRow, 'origin'> {
  readonly origin: string
  readonly file: string | null
}

/** `gateway config`: the settings of the server. */
export function config(flags: readonly FlagOption[]): Command {
  return group('config', "The server's settings (routing is gateway configs)", [show(flags)])
}

/** The settings as they would be read now, or those that a serving gateway holds. */
function show(flags: readonly FlagOption[]): Command {
  const command = leaf('show', 'Show every setting; secrets only as set or not set', [
    'gateway config show',
    'gateway config show --origin --data-dir /var/lib/gateway',
    'gateway config show --running',
  ])
    .option('--origin', 'where each comes from: flag, environment, file or default')
    .option('--changed', 'only those that are not the default')
    .option('--running', 'those that the gateway here holds while it serves, beside what the file says now')
  return withSettings(command, flags, {listed: false}).action(async (options: ShowOptions, self: Command) => {
    const session = await openSession(self, flagsOf(self, flags))
    if (options.running) return showRunning(session, options)
    const {settingRows} = await import('../../src/settings/index.ts')
    const rows = settingRows(await session.settings()).filter(row => !options.changed || row.origin !== 'default')
    if (!rows.length && !session.print.json) return session.print.note('Every setting has its default.')
    session.print.list(rows, rows, columnsOf(options, []))
  })
}

async function showRunning(session: CommandSession, options: ShowOptions) {
  const {print} = session
  const note = await runningIn(session)
  const {rows, file_faults} = await besideFile(note, session)
  const shown = rows.filter(row => !options.changed || row.origin !== 'default' || row.file !== null)
  const {pid, started_at, settings_file, reread} = note
  const beside: TableColumn<RunningRow>[] = shown.some(({file}) => file !== null)
    ? [{title: 'file now', value: row => row.file}]
    : []
  const reply = {pid, started_at, settings_file, file_faults, reread, settings: shown}
  print.list(reply, shown, columnsOf(options, beside))
  for (const line of remarksOn(note, file_faults)) print.note(line)
}

function remarksOn({settings_file, reread}: RunningSettings, file_faults: readonly string[]): string[] {
  const lines: string[] = []
  if (reread?.refused != null)
    lines.push(`Settings were read again at ${reread.at} and refused, so all stayed as they were: ${reread.refused}`)
  else if (reread?.need_restart.length)
    lines.push(`Settings were read again at ${reread.at}; these need a restart: ${reread.need_restart.join(', ')}.`)
  if (file_faults.length > 0) lines.push(`${settings_file} is wrong as it is now:`, ...file_faults)
  return lines
}

function columnsOf<Row extends Omit<SettingRow, 'origin'> & {readonly origin: string}>(
  {origin}: ShowOptions,
  beside: readonly TableColumn<Row>[],
): TableColumn<Row>[] {
  return [
    {title: 'setting', value: row => row.name, whole: true},
    {title: 'value', value: row => row.value},
    ...beside,
    ...(origin ? [{title: 'origin', value: (row: Row) => row.origin}] : []),
    {title: 'meaning', value: row => row.meaning},
  ]
}

async function runningIn(session: CommandSession): Promise<RunningSettings> {
  const data_dir = await servedFolder(session)
  const [{isServed}, {readRunning}] = await Promise.all([import('../served.ts'), import('../running-settings.ts')])
  const note = (await isServed(data_dir)) ? readRunning(data_dir) : undefined
  if (note) return note
  throw new CommandFault(`No gateway serves from ${data_dir}.`, {
    exit: EXIT.failure,
    code: 'not_running',
    next: 'Name the directory of the one that does with --data-dir.',
  })
}

/** The directory that is meant, also where the settings cannot be read as they are now: then that is the question. */
async function servedFolder({found, options, sources}: CommandSession): Promise<string> {
  const named = options.dataDir ?? sources.env.GATEWAY_DATA_DIR
  if (named) return named
  try {
    return (await found()).settings.data_dir
  } catch (fault) {
    const {runningGateways} = await import('../served.ts')
    const served = await runningGateways(sources.env)
    if (served.length !== 1) throw fault
    return served[0]!.data_dir
  }
}

/** Each setting in force with what the file says now, where the file or the default decides. */
async function besideFile({settings, settings_file}: RunningSettings, {sources}: CommandSession) {
  const {settingsInFile, settingRow} = await import('../../src/settings/index.ts')
  const {values, faults} = settingsInFile(settings_file, sources.readFile)
  const rows = settings.flatMap(({name, value, origin}): RunningRow[] => {
    const known = settingRow(name)
    if (!known) return []
    const decides = (origin === 'default' || origin.startsWith('file:')) && name !== 'GATEWAY_DATA_DIR'
    const now = decides ? values.get(name) : undefined
    return [{name, value, origin, ...known, file: now === undefined || now === value ? null : now}]
  })
  return {rows, file_faults: faults}
}
