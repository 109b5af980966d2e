import {resolve} from 'node:path'
import type {Command} from 'commander'
import type {FlagOption, Settings} from '../../src/settings/index.ts'
import {tellFirstRun} from '../first-run.ts'
import {humanLines} from '../log-lines.ts'
import {openApp} from '../open.ts'
import {leaf} from '../options.ts'
import {openSession} from '../session.ts'
import {withStore} from '../store.ts'
import type {TableColumn} from '../table.ts'
import {flagsOf, withSettings} from './settings.ts'

/** `gateway init`: a data directory with its keys, and no server. */
export function init(flags: readonly FlagOption[]): Command {
  const command = leaf('init', 'Create the data directory and the first keys, without serving', [
    'gateway init',
    'gateway init --data-dir /var/lib/gateway',
  ])
  return withSettings(command, flags, {listed: false}).action((_: object, self: Command) =>
    migrateWithBackup(self, flags),
  )
}

/** `gateway migrate`: brings the database to this version. */
export function migrate(flags: readonly FlagOption[]): Command {
  const command = leaf('migrate', 'Bring the database to this version, after a backup', [
    'gateway migrate --status',
    'gateway migrate --data-dir /var/lib/gateway',
  ]).option('--status', 'only list the steps, applied and pending')
  return withSettings(command, flags, {listed: false}).action(({status}: {status?: true}, self: Command) =>
    status ? listSteps(self, flags) : migrateWithBackup(self, flags),
  )
}

/** The steps of `serve` before it listens; `init` and `migrate` do only these. */
async function migrateWithBackup(self: Command, flags: readonly FlagOption[]): Promise<void> {
  const session = await openSession(self, flagsOf(self, flags))
  const {world, print} = session
  const {settings} = await session.settings()
  const {createLog} = await import('../../src/base/log.ts')
  const log = createLog('warn', settings.service_name, humanLines(world.stderr))
  const app = await openApp(world, settings, {role: 'server', log})
  try {
    const shown =
      app.first_run &&
      tellFirstRun(app.first_run, settings.data_dir, world, {terminal: world.stdout.isTTY && !print.json})
    const path = shown?.to === 'file' ? shown.path : null
    const data_dir = resolve(settings.data_dir)
    const sentences = [
      ...app.notes,
      app.first_run ? `The data directory ${data_dir} is ready.` : `The data directory ${data_dir} is up to date.`,
      ...(path ? [`The first keys are in ${path}.`] : []),
    ]
    print.done(
      {data_dir, first_run: app.first_run !== undefined, keys_file: path, notes: app.notes},
      sentences.join('\n'),
    )
  } finally {
    await app.close()
  }
}

interface Step {
  readonly name: string
  readonly state: 'applied' | 'pending'
}

const STEP_COLUMNS: readonly TableColumn<Step>[] = [
  {title: 'step', value: row => row.name, whole: true},
  {title: 'state', value: row => row.state},
]

async function listSteps(self: Command, flags: readonly FlagOption[]): Promise<void> {
  const session = await openSession(self, flagsOf(self, flags))
  const {settings} = await session.settings()
  const {applied, pending} = await stepsOf(settings)
  const steps: Step[] = [
    ...applied.map(name => ({name, state: 'applied' as const})),
    ...pending.map(({name}) => ({name, state: 'pending' as const})),
  ]
  session.print.list(steps, steps, STEP_COLUMNS)
  if (pending.length)
    session.print.note(`${pending.length} to do: gateway migrate, or the next gateway serve, does it.`)
}

async function stepsOf(settings: Settings) {
  const {migrationState} = await import('../../src/store/migrate.ts')
  return withStore(settings, store => migrationState(store))
}
