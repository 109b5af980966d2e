import {mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync} from 'node:fs'
import {dirname, join, resolve} from 'node:path'
import type {Name, Origins, Settings, SettingsChanges} from '../src/settings/index.ts'

/** A setting in force in a serving gateway, as it may be shown: no secret is in it. */
export interface RunningSetting {
  readonly name: Name
  readonly value: string
  readonly origin: string
}

/** The last time that a gateway read its settings again (SIGHUP), and the outcome. */
export interface SettingsReread {
  /** ISO 8601 UTC. */
  readonly at: string
  readonly taken: readonly Name[]
  readonly need_restart: readonly Name[]
  /** Why all settings stayed as they were; null where they were read. */
  readonly refused: string | null
}

/** The note of a serving gateway for `gateway config show --running`: a file in its data directory. */
export interface RunningSettings {
  readonly pid: number
  readonly started_at: string
  /** The settings file, as an absolute path; there may be none. */
  readonly settings_file: string
  readonly settings: readonly RunningSetting[]
  readonly reread: SettingsReread | null
}

/** Keeps the note up to date. Nothing hangs on it: where it cannot be written, `onFault` hears why. */
export interface SettingsNote {
  taken(changes: SettingsChanges, origins: Origins): void
  refused(fault: unknown): void
  forget(): void
}

interface NoteParts {
  /** Those in force, which a reload changes in place. */
  readonly settings: Settings
  readonly origins: Origins
  readonly now: () => number
  readonly onFault: (fault: unknown) => void
}

const MAX_BYTES = 2 ** 20

/** Leaves the note, which holds until `forget`. */
export async function noteSettings({settings, origins, now, onFault}: NoteParts): Promise<SettingsNote> {
  const {settingRows} = await import('../src/settings/index.ts')
  const path = pathIn(settings.data_dir)
  const timeNow = () => new Date(now()).toISOString()
  const started_at = timeNow()
  const settings_file = resolve(settings.settings_file ?? join(settings.data_dir, 'settings.yaml'))
  let held = origins
  const write = (reread: SettingsReread | null) => {
    const rows = settingRows({settings, origins: held}).map(({name, value, origin}) => ({name, value, origin}))
    const note: RunningSettings = {pid: process.pid, started_at, settings_file, settings: rows, reread}
    try {
      mkdirSync(dirname(path), {recursive: true, mode: 0o700})
      writeFileSync(`${path}.new`, `${JSON.stringify(note)}\n`, {mode: 0o600})
      renameSync(`${path}.new`, path)
    } catch (fault) {
      onFault(fault)
    }
  }
  write(null)
  return {
    taken({taken, need_restart}, next) {
      held = {...held, ...Object.fromEntries(taken.map(name => [name, next[name]]))}
      write({at: timeNow(), taken, need_restart, refused: null})
    },
    refused(fault) {
      const refused = fault instanceof Error ? fault.message : String(fault)
      write({at: timeNow(), taken: [], need_restart: [], refused})
    },
    forget() {
      try {
        rmSync(path, {force: true})
      } catch (fault) {
        onFault(fault)
      }
    },
  }
}

/** The note of the gateway that serves from a data directory; undefined where none does, or it left none. */
export function readRunning(data_dir: string): RunningSettings | undefined {
  const path = pathIn(data_dir)
  try {
    if (statSync(path).size > MAX_BYTES) return undefined
    const note = JSON.parse(readFileSync(path, 'utf8')) as RunningSettings
    return Array.isArray(note.settings) && typeof note.settings_file === 'string' ? note : undefined
  } catch {
    return undefined
  }
}

function pathIn(data_dir: string): string {
  return join(resolve(data_dir), 'run', 'settings.json')
}
