import {join} from 'node:path'
import {inspect} from 'node:util'
import {contradictions} from './contradictions.ts'
import {SettingsFault} from './fault.ts'
import {isMissing, parseEntries, type ReadFile, readText, reason} from './files.ts'
import {quoted} from './kinds.ts'
import {shown} from './show.ts'
import {
  environmentLayer,
  fileLayer,
  flagLayer,
  type Origin,
  type SettingsLayer,
  type Texts,
  unknownNames,
} from './sources.ts'
import {keyOf, NAMES, type Name, row, type Settings} from './table.ts'

export interface SettingSources {
  /** Flags without their hyphens in front → text: `{'data-dir': '/srv/gateway'}`. */
  readonly argv?: Texts
  readonly env: Texts
  readonly readFile?: ReadFile
}

export type Origins = Readonly<Record<Name, Origin>>

/**
 * The settings and where each comes from: flags, else the environment, else the settings file, else the default.
 * An empty text counts as not given. The settings file is the one named by `--settings` or `GATEWAY_SETTINGS_FILE`,
 * else `settings.yaml` in the data directory when it is there. Paths are relative to the working directory. Throws one
 * `SettingsFault` with every problem found: unknown names, unreadable files, wrong values, two sources of one setting
 * in one layer, settings that contradict each other, and documented variables of later versions.
 */
export function readSettings({argv = {}, env, readFile = readText}: SettingSources): {
  settings: Settings
  origins: Origins
} {
  const faults: string[] = []
  const outer = [flagLayer(argv), environmentLayer(env)]
  const layers = [...outer, ...settingsFile(outer, readFile, faults)]
  faults.push(...layers.flatMap(unknownNames))

  const values: Partial<Record<string, unknown>> = {}
  const origins: Partial<Record<Name, Origin>> = {}
  for (const name of NAMES) {
    const found = take(name, layers, readFile, faults)
    origins[name] = found.origin
    values[keyOf(name)] = found.value
  }
  // Each value above has the type its row gives it; only the loop over rows cannot say so.
  const settings = values as Settings
  faults.push(...contradictions(settings, name => origins[name] !== 'default'))
  if (faults.length > 0) throw new SettingsFault(faults)
  return {settings: Object.freeze(guard(settings)), origins: origins as Origins}
}

/** The settings file alone, as it may be shown. */
export interface FileSettings {
  /** Each setting as the file says it, else its default; without those that the file says wrongly. */
  readonly values: ReadonlyMap<Name, string>
  readonly faults: readonly string[]
}

/** Reads a settings file alone, which need not be there. Whether it goes with the other sources is not looked at. */
export function settingsInFile(path: string, readFile: ReadFile = readText): FileSettings {
  const faults: string[] = []
  const layers = fileLayers(path, readFile, faults)
  faults.push(...layers.flatMap(unknownNames))
  const values = new Map<Name, string>()
  for (const name of NAMES) {
    const known = faults.length
    const {value} = take(name, layers, readFile, faults)
    if (faults.length === known) values.set(name, shown(name, {[keyOf(name)]: value} as unknown as Settings))
  }
  return {values, faults}
}

function fileLayers(path: string, readFile: ReadFile, faults: string[]): SettingsLayer[] {
  try {
    const {entries, wrong} = parseEntries(readFile(path))
    faults.push(...wrong.map(clause => `${path}: ${clause}.`))
    return [fileLayer(entries, path)]
  } catch (error) {
    if (!isMissing(error)) faults.push(`The settings file ${quoted(path)} cannot be read: ${reason(error)}.`)
    return []
  }
}

/** The layer of the settings file, or nothing when there is no such file and none was named. */
function settingsFile(outer: readonly SettingsLayer[], readFile: ReadFile, faults: string[]): SettingsLayer[] {
  const silent: string[] = [] // the same faults are found again in the loop over all settings
  const file = take('GATEWAY_SETTINGS_FILE', outer, readFile, silent)
  const folder = take('GATEWAY_DATA_DIR', outer, readFile, silent)
  if (silent.length > 0) return []
  const path = typeof file.value === 'string' ? file.value : join(String(folder.value), 'settings.yaml')
  let yaml = ''
  try {
    yaml = readFile(path)
  } catch (error) {
    if (file.value !== undefined) faults.push(unreadable(file.as, path, error))
    else if (!isMissing(error)) faults.push(`The settings file ${quoted(path)} cannot be read: ${reason(error)}.`)
    return []
  }
  const {entries, wrong} = parseEntries(yaml)
  faults.push(...wrong.map(clause => `${path}: ${clause}.`))
  if (file.value === undefined && entries.delete('data_dir')) {
    faults.push(
      `data_dir in ${path} comes too late: the file was found in the data directory. Use --data-dir or GATEWAY_DATA_DIR.`,
    )
  }
  return [fileLayer(entries, path)]
}

interface Found {
  readonly origin: Origin
  /** How it was given, for a sentence. */
  readonly as: string
  /** Undefined when the setting is unset, or when a fault was reported. */
  readonly value: unknown
}

/** The value of a setting from the first layer that gives one, else its default. */
function take(name: Name, layers: readonly SettingsLayer[], readFile: ReadFile, faults: string[]): Found {
  for (const layer of layers) {
    const given = layer.words(name).flatMap(word => {
      const entry = layer.entries.get(word.word)
      return entry ? [{...word, ...entry, as: layer.format(word.word)}] : []
    })
    const [first, ...others] = given
    if (!first) continue
    const found = {origin: layer.origin, as: first.as, value: undefined}
    const rival = others.find(other => other.from_file || other.text !== first.text)
    if (rival) {
      faults.push(`${first.as} and ${rival.as} are both set; keep one.`)
      return found
    }
    if (first.list && !row(name).kind.list) {
      faults.push(`${first.as} is a list; it takes ${first.from_file ? 'a path' : row(name).kind.takes}.`)
      return found
    }
    const text = first.from_file ? contents(first.text.trim(), first.as, readFile, faults) : first.text
    return text === undefined ? found : {...found, value: parse(name, text, first.as, faults)}
  }
  const {fallback} = row(name)
  return {origin: 'default', as: name, value: fallback === undefined ? undefined : parse(name, fallback, name, faults)}
}

/** The contents of a secret's file; undefined, with a fault, when there are none. */
function contents(path: string, as: string, readFile: ReadFile, faults: string[]): string | undefined {
  if (/[\r\n]/.test(path)) {
    faults.push(`${as} is several lines; it takes the path of a file.`) // the secret itself, most likely: not echoed
    return undefined
  }
  try {
    const text = readFile(path)
    if (text.trim()) return text
    faults.push(`${as} names ${quoted(path)}, which is empty.`)
  } catch (error) {
    faults.push(unreadable(as, path, error))
  }
  return undefined
}

function unreadable(as: string, path: string, error: unknown): string {
  return `${as} names ${quoted(path)}, which cannot be read: ${reason(error)}.`
}

function parse(name: Name, text: string, as: string, faults: string[]): unknown {
  const {kind, secret} = row(name)
  const {success, data, error} = kind.schema.safeParse(text)
  if (success) return data
  faults.push(`${as} ${secret ? 'is not usable' : `is ${quoted(text)}`}; ${error.issues[0]?.message}.`)
  return undefined
}

/** Has settings show secrets as `set` or `not set` wherever the whole is printed or serialised. */
export function guard(settings: Settings): Settings {
  const asShown = {value: () => Object.fromEntries(NAMES.map(name => [keyOf(name), shown(name, settings)]))}
  return Object.defineProperties(settings, {toJSON: asShown, [inspect.custom]: asShown})
}
