import {statSync} from 'node:fs'
import {resolve} from 'node:path'
import type {App} from '../src/app/root.ts'
import type {Log} from '../src/base/log.ts'
import type {Settings} from '../src/settings/index.ts'
import {CommandFault, EXIT} from './fault.ts'

/** The part of an App that the command line uses. */
export type OpenApp = Pick<
  App,
  'settings' | 'first_run' | 'notes' | 'inject' | 'listen' | 'warmUp' | 'reload' | 'drain' | 'close'
>

export interface OpenOptions {
  readonly role: 'server' | 'operator'
  readonly log: Log
  readonly demo?: boolean
  readonly accepts_loss?: boolean
}

export type CreateApp = (settings: Settings, options: OpenOptions) => Promise<OpenApp>

/**
 * Puts the gateway together; what is wrong with its directory, database or keys comes as a fault that says what to do.
 */
export async function openApp(
  {createApp: given}: {readonly createApp?: CreateApp},
  settings: Settings,
  options: OpenOptions,
): Promise<OpenApp> {
  if (options.role === 'operator') checkDirectory(settings.data_dir)
  // Only here and only now: a command that needs no gateway must not wait for its libraries.
  const [{createApp}, {DataDirFault}, {MigrationFault}, {SealFault}, {TemplateFault}, {SettingsFault}] =
    await Promise.all([
      given ? {createApp: given} : import('../src/app/app.ts'),
      import('../src/store/data-dir.ts'),
      import('../src/store/migrate.ts'),
      import('../src/base/seal.ts'),
      import('../src/base/mustache/parse.ts'),
      import('../src/settings/index.ts'),
    ])
  try {
    return await createApp(settings, options)
  } catch (cause) {
    if (cause instanceof SettingsFault)
      throw new CommandFault(cause.message, {exit: EXIT.usage, code: 'settings', cause})
    const codes = [
      [DataDirFault, 'data_directory'],
      [MigrationFault, 'migration'],
      [SealFault, 'sealing_key'],
      [TemplateFault, 'mail_template'],
    ] as const
    for (const [Kind, code] of codes)
      if (cause instanceof Kind) throw new CommandFault(cause.message, {exit: EXIT.failure, code, cause})
    throw cause
  }
}

/** Refuses a directory that is there but closed to this user: it must not be taken for one that is missing. */
export function checkDirectory(path: string, stat: (path: string) => unknown = statSync) {
  const folder = resolve(path)
  try {
    stat(`${folder}/.`)
  } catch (cause) {
    const {code} = cause as NodeJS.ErrnoException
    if (code !== 'EACCES' && code !== 'EPERM') return
    throw new CommandFault(`The data directory ${folder} is closed to you.`, {
      exit: EXIT.failure,
      code: 'data_directory',
      next: 'Run the command as the user it belongs to, for example: sudo -u gateway gateway ...',
      cause,
    })
  }
}
