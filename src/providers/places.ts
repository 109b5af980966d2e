import {baseUrl, loginOf} from './base-urls/base-url.ts'
import {SECRET_SETTINGS} from './configurations.ts'
import {OPTIONS} from './option-table.ts'
import {GRAMMARS, isOption, type Options, optionsOfSettings} from './options.ts'
import {find} from './registry.ts'

type Settings = Readonly<Record<string, unknown>>

/**
 * The first of an integration's settings that decides where its secrets go or what they log in to, and that `after`
 * says otherwise than `before`; null where none does. A region among the vendor's own is no other place.
 */
export function movedBy(kind: string, before: Settings, after: Settings): string | null {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted()
  const moved = names.filter(name => decidesPlace(name) && textOf(before[name]) !== textOf(after[name]))
  return moved.find(name => !(name.endsWith('_region') && staysAtVendor(kind, name, before, after))) ?? null
}

/**
 * The result of a row above an integration: the settings of its calls, and whether the integration's credentials go
 * with them.
 */
export interface PlacedSettings {
  readonly settings: Settings
  readonly keeps_credentials: boolean
}

/**
 * The settings of an integration (`own`), overridden by those of a row above it. When they name another place, and
 * their author may not send the credentials there (`names_place`), no credentials go along.
 */
export function placedSettings(kind: string, own: Settings, placed: Settings, names_place: boolean): PlacedSettings {
  const whole = {...own, ...placed}
  if (names_place || movedBy(kind, own, whole) === null) return {settings: whole, keeps_credentials: true}
  return {settings: {...withoutCredentials(own), ...placed}, keeps_credentials: false}
}

/** The settings that remain for a caller with credentials of his own: no secret, and no login. */
export function withoutCredentials(settings: Settings): Settings {
  const is_credential = (name: string) =>
    SECRET_SETTINGS.includes(name) || (isOption(name) && OPTIONS[name].decides === 'login')
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !is_credential(name)))
}

/** True when calls by these settings send the key of the integration; false when they log in by something else. */
export function usesKey(kind: string, settings: Settings): boolean {
  const login = loginFor(kind, settings)
  return login === null || login.takes_key === true
}

/** True when calls by these settings log in as the gateway itself. */
export function usesHouse(kind: string, settings: Settings): boolean {
  return loginFor(kind, settings)?.usesOwnIdentity(optionsIn(settings)) ?? false
}

/** Null where the key goes as it is, and for settings that no call can be made with. */
function loginFor(kind: string, settings: Settings) {
  const provider = find(kind)
  try {
    return provider ? loginOf(provider, optionsIn(settings)) : null
  } catch {
    return null
  }
}

/** Secrets may be masks, which no option takes: that there is one is all that counts here. */
function optionsIn(settings: Settings): Options {
  const options = Object.entries(optionsOfSettings(settings))
  return Object.fromEntries(options.map(([name, value]) => [name, SECRET_SETTINGS.includes(name) ? 'secret' : value]))
}

function decidesPlace(name: string): boolean {
  if (name === 'custom_host') return true
  return isOption(name) && OPTIONS[name].decides !== undefined && !SECRET_SETTINGS.includes(name)
}

/** A slash at the end leads nowhere else. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value.trim().replace(/\/$/, '') : JSON.stringify(value)
}

/** True when the host stays below its former domain after a change of this region alone. */
function staysAtVendor(kind: string, name: string, before: Settings, after: Settings): boolean {
  const [one, other] = [before[name], after[name]].map(region => domainOf(kind, {...after, [name]: region}))
  return one !== null && one === other
}

/** The vendor's domain: the last two labels of the host. Null where it is not known. */
function domainOf(kind: string, settings: Settings): string | null {
  const provider = find(kind)
  const options = optionsIn(settings)
  for (const [name, value] of Object.entries(options)) {
    if (name.endsWith('_region') && !GRAMMARS.label[0].test(value)) return null
  }
  try {
    const url = provider && baseUrl(provider, options)?.url
    return url ? new URL(url).hostname.split('.').slice(-2).join('.') : null
  } catch {
    return null
  }
}
