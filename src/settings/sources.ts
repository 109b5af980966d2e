import {nearest} from '../base/nearest.ts'
import type {FileEntry} from './files.ts'
import {type UnsupportedSetting, unsupportedSetting} from './not-available.ts'
import {fileEndings, flagOf, keyOf, NAMES, type Name, row} from './table.ts'

/** The source of a value; `file:` is followed by the path of the settings file. */
export type Origin = 'flag' | 'environment' | 'default' | `file:${string}`

/** One layer of precedence: the words used in it, and what was given under them. */
export interface SettingsLayer {
  readonly origin: Origin
  readonly entries: ReadonlyMap<string, FileEntry>
  /** The words a setting may be given under here. */
  words(name: Name): readonly Spelling[]
  /** The form of a word in error messages. */
  format(word: string): string
}

interface Spelling {
  readonly word: string
  /** The given text is the path of the file that holds the value. */
  readonly from_file: boolean
}

/** Texts by name, as in `process.env`. An empty text counts as not given. */
export type Texts = Readonly<Record<string, string | undefined>>

/** The command line, by flag without its hyphens: `data-dir`. Secrets are given by file only. */
export function flagLayer(flags: Texts): SettingsLayer {
  return {
    origin: 'flag',
    entries: entriesOf(flags),
    words: name => words(flagOf(name), fileEndings(name), ending => hyphened(keyOf(name) + ending)),
    format: word => `--${word}`,
  }
}

/**
 * The environment, without what Kubernetes and Docker put there for a service called, say, `redis` or `gateway`
 * (`REDIS_PORT=tcp://10.0.0.5:6379`): no operator set that.
 */
export function environmentLayer(environment: Texts): SettingsLayer {
  return {
    origin: 'environment',
    entries: new Map([...entriesOf(environment)].filter(([name, {text}]) => !isServiceLink(name, text))),
    words: name => [...words(name, fileEndings(name), ending => name + ending), ...(row(name).also ?? []).map(direct)],
    format: word => word,
  }
}

/** The settings file at `path`. */
export function fileLayer(entries: ReadonlyMap<string, FileEntry>, path: string): SettingsLayer {
  return {
    origin: `file:${path}`,
    entries,
    words: name =>
      row(name).in_file === false
        ? []
        : words(keyOf(name), fileEndings(name), ending => keyOf(name) + ending.toLowerCase()),
    format: word => `${word} in ${path}`,
  }
}

/** A sentence for each word of the layer that is no setting, and for each that belongs to a later version. */
export function unknownNames(layer: SettingsLayer): string[] {
  const known = NAMES.flatMap(name => layer.words(name).map(({word}) => word))
  return [...layer.entries].flatMap(([word, {text}]) => {
    if (known.includes(word)) return []
    const later = unsupportedSetting(layer.origin.startsWith('file:') ? word.toUpperCase() : word)
    if (later) return unsupportedFault(layer.format(word), text.trim(), later)
    if (layer.origin === 'environment' && !word.startsWith('GATEWAY_')) return []
    return [`${layer.format(truncate(word))} is not a setting. ${hint(layer, word, known)}`]
  })
}

function unsupportedFault(as: string, text: string, {area, harmless, instead}: UnsupportedSetting): string[] {
  if (harmless.some(value => value.toLowerCase() === text.toLowerCase())) return []
  const may = harmless.length > 0 ? ` or set it to ${harmless.join(' or ')}` : ''
  return [`${as} is not available in this version (${area}). Unset it${may}${instead ? `; ${instead}` : ''}.`]
}

function hint(layer: SettingsLayer, word: string, known: readonly string[]): string {
  const mark = layer.origin === 'flag' ? '--' : ''
  const key = bare(word)
  const name = NAMES.find(each => keyOf(each) === key)
  if (name) {
    const here = layer.words(name)[0]?.word
    if (here && mark) return `A command line is seen by others, so it is given as ${mark}${here} or ${name}.`
    return here ? `The nearest is ${here}.` : `It is given as --${flagOf(name) ?? `${hyphened(key)}-file`} or ${name}.`
  }
  const words = new Map(known.map(each => [bare(each), each]))
  const near = nearest(key, words.keys())
  return near ? `The nearest is ${mark}${words.get(near)}.` : 'All are listed by: gateway config show.'
}

/** A word without what differs between flags, variables and keys of the file. */
function bare(word: string): string {
  const lower = word.toLowerCase().replaceAll('-', '_')
  return lower.replace(/^gateway_/, '')
}

function words(own: string | undefined, endings: readonly string[], spell: (ending: string) => string): Spelling[] {
  return [...(own ? [direct(own)] : []), ...endings.map(ending => ({word: spell(ending), from_file: true}))]
}

function direct(word: string): Spelling {
  return {word, from_file: false}
}

function entriesOf(texts: Texts): Map<string, FileEntry> {
  return new Map(
    Object.entries(texts).flatMap(([word, text]) => (text?.trim() ? [[word, {text, list: false}] as const] : [])),
  )
}

function isServiceLink(name: string, value: string): boolean {
  if (/_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/.test(name)) return true
  return name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(value)
}

function hyphened(word: string): string {
  return word.toLowerCase().replaceAll('_', '-')
}

function truncate(word: string): string {
  return word.length > 80 ? `${word.slice(0, 80)}…` : word
}
