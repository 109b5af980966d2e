import {isDeepStrictEqual} from 'node:util'
import {guard} from './read.ts'
import {keyOf, NAMES, type Name, row, type Settings} from './table.ts'

/** The result of reading settings again. */
export interface SettingsChanges {
  /** Hold from now on. */
  readonly taken: readonly Name[]
  /** Differ, and hold after a restart alone. */
  readonly need_restart: readonly Name[]
}

export interface Changeable {
  readonly settings: Settings
  /** The changes that `next` would make. */
  compare(next: Settings): SettingsChanges
  /** Has these settings hold as `next` says them. */
  take(next: Settings, names: readonly Name[]): void
}

/** Settings of a gateway that serves: a read of one that may change returns its current value. */
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
