import {isDeepStrictEqual} from 'node:util'
import {guard} from './read.ts'
import {keyOf, NAMES, type Name, row, type Settings} from './table.ts'

/** What became of settings that were read again. */
export interface SettingsChanges {
  /** Hold from now on. */
  readonly taken: readonly Name[]
  /** Differ, and hold after a restart alone. */
  readonly need_restart: readonly Name[]
}

export interface Changeable {
  readonly settings: Settings
  /** What `next` would change. */
  compare(next: Settings): SettingsChanges
  /** Has these settings hold as `next` says them. */
  take(next: Settings, names: readonly Name[]): void
}

/** Settings of a gateway that serves: whoever holds them reads those that may change as they are now. */
export function changeable(given: Settings): Changeable {
  const settings = guard({...given})
  return {
    settings,
    compare(next) {
      const changed = NAMES.filter(name => !isDeepStrictEqual(settings[keyOf(name)], next[keyOf(name)]))
      return {
        taken: changed.filter(name => row(name).reloads),
        need_restart: changed.filter(name => !row(name).reloads),
      }
    },
    take: (next, names) =>
      void Object.assign(settings, Object.fromEntries(names.map(name => [keyOf(name), next[keyOf(name)]]))),
  }
}
