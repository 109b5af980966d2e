import type {Origin} from './sources.ts'
import {keyOf, NAMES, type Name, row, type Settings, type SettingsGroup} from './table.ts'

/** A line of `gateway config show`. */
export interface SettingRow {
  readonly name: Name
  /** As it would be written; a secret is `set` or `not set`, and so is anything else that is unset. */
  readonly value: string
  readonly origin: Origin
  readonly group: SettingsGroup
  readonly meaning: string
}

/** Every setting in the order of the table, with its value, origin and meaning; no secret is in it. */
export function settingRows({
  settings,
  origins,
}: {
  settings: Settings
  origins: Readonly<Record<Name, Origin>>
}): SettingRow[] {
  return NAMES.map(name => ({
    name,
    value: shown(name, settings),
    origin: origins[name],
    group: row(name).group,
    meaning: row(name).meaning,
  }))
}

/** A setting's row of the table; undefined for a name that it does not have. */
export function settingRow(name: string): Pick<SettingRow, 'group' | 'meaning'> | undefined {
  const known = NAMES.find(each => each === name)
  return known && {group: row(known).group, meaning: row(known).meaning}
}

/** The value of a setting as it may be shown. */
export function shown(name: Name, settings: Settings): string {
  const {kind, secret} = row(name)
  const value = settings[keyOf(name)]
  if (value === undefined) return 'not set'
  if (secret) return 'set'
  return kind.show ? kind.show(value) : String(value)
}
