import type {ConfigTarget} from '../schema/configs.ts'
import {OPTIONS, type OptionName} from './option-table.ts'
import {UnsupportedInputFault} from './translation.ts'

/**
 * Options of a provider's place and login, from an integration, a config or a request's headers: option → value.
 * Nothing in it is checked.
 */
export type Options = Readonly<Record<string, string>>

/** A base URL or a login needs an option that is not set. */
export class MissingOptionFault extends UnsupportedInputFault {
  constructor(option: string, why = 'is needed to call this provider') {
    super(option, why)
    this.name = 'MissingOptionFault'
  }
}

/** An option is not of the form that it takes: in a host or a path it could lead elsewhere. */
export class WrongOptionFault extends UnsupportedInputFault {
  constructor(option: string, expected: string) {
    super(option, `expected ${expected}`)
    this.name = 'WrongOptionFault'
  }
}

/**
 * How an option may be written. What enters a host is a `label`, what enters a path a `segment`: neither can leave its
 * place.
 */
export const GRAMMARS = {
  label: [/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i, 'letters, digits and inner hyphens, 63 at most'],
  account: [
    /^[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?$/i,
    'letters, digits, inner hyphens and underscores, 63 at most (ORGANISATION-ACCOUNT)',
  ],
  segment: [/^\w(?:(?!\.\.)[\w.:@+-]){0,254}$/, 'letters, digits and . _ - : @ +, 255 at most'],
  ocid: [/^[\w-]{1,64}(?:[.:][\w-]{0,128}){1,8}$/, 'an OCID such as ocid1.tenancy.oc1..aaaa'],
  domain: [/^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?){1,4}$/, 'a domain'],
  url: [
    /^https:\/\/[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?(?::\d{1,5})?(?:\/(?!\.\.)[\w.~-]+){0,16}\/?$/i,
    'an https URL without a query',
  ],
  line: [/^[\x20-\x7e]{1,8192}$/, 'one line of visible ASCII characters'],
  secret: [/^[\x20-\x7e\r\n\t]{1,65536}$/, 'visible ASCII characters'],
  flag: [/^(?:true|false)$/, 'true or false'],
  json: [/^[\s\S]{1,262144}$/, 'JSON'],
} as const satisfies Readonly<Record<string, readonly [RegExp, string]>>

/** The value of an option, checked for its form; undefined where it is not set. Throws `WrongOptionFault`. */
export function optionIn(options: Options, name: OptionName): string | undefined {
  const value = Object.hasOwn(options, name) ? options[name] : undefined
  if (typeof value !== 'string' || value === '') return undefined
  const [form, expected] = GRAMMARS[OPTIONS[name].takes]
  if (!form.test(value) || (IN_HOSTS.has(OPTIONS[name].takes) && /^xn--/i.test(value)))
    throw new WrongOptionFault(name, expected)
  return value
}

/**
 * Throws `WrongOptionFault` for the first option that is not of the form it takes: dialects write some of them into
 * paths.
 */
export function checkOptions(options: Options): void {
  for (const name of Object.keys(options)) if (isOption(name)) optionIn(options, name)
}

/** The same for what cannot be done without. Throws `MissingOptionFault` too. */
export function optionNeeded(options: Options, name: OptionName, why?: string): string {
  const value = optionIn(options, name)
  if (value === undefined) throw new MissingOptionFault(name, why)
  return value
}

/**
 * The options among our headers, by their names after the prefix; `cloud-…` spellings count where the vendor's own is
 * not set.
 */
export function readOptions(values: Readonly<Partial<Record<string, string>>>): Options {
  const options: Record<string, string> = {}
  for (const [header, value] of Object.entries(values)) {
    const name = BY_HEADER.get(header)
    if (name === undefined || !value) continue
    if (isCloudSpelling(header) && values[headerOf(name)]) continue
    options[name] = value
  }
  return options
}

/** The options that a config says of one target. */
export function optionsOfConfig(target: ConfigTarget): Options {
  const {deployments} = target
  return {
    ...plain(target as Readonly<Record<string, unknown>>),
    ...(deployments ? {azure_deployments: JSON.stringify(deployments)} : {}),
  }
}

/** The options that an integration's `configurations` say. */
export function optionsOfSettings(settings: Readonly<Record<string, unknown>>): Options {
  const {azure_deployment_config: deployments} = settings
  if (!Array.isArray(deployments)) return plain(settings)
  const listed = deployments.map(({alias, azure_api_version, azure_deployment_name, azure_model_slug, is_default}) => ({
    deployment_id: azure_deployment_name,
    alias: alias ?? azure_model_slug,
    model: azure_model_slug,
    api_version: azure_api_version,
    is_default,
  }))
  return {...plain(settings), azure_deployments: JSON.stringify(listed)}
}

/**
 * The options of one call. What the holder of the credential says (`own`: the integration, or the node of a config that
 * carries a key) counts; a caller adds what it left open, but never chooses another place or login for a credential
 * that is not the caller's.
 */
export function mergedOptions(
  own: Options,
  callers: Options,
  {holds_credential}: {readonly holds_credential: boolean},
): Options {
  if (!holds_credential) return {...callers, ...own}
  const harmless = Object.entries(callers).filter(([name]) => isOption(name) && OPTIONS[name].decides === undefined)
  return {...Object.fromEntries(harmless), ...own}
}

/** True when options hold a credential or choose a login: they go to their own host alone, as a key does. */
export function holdsCredential(options: Options): boolean {
  return Object.keys(options).some(name => isOption(name) && options[name] !== '' && OPTIONS[name].decides === 'login')
}

/** The header of an option, after the prefix. */
export function headerOf(name: OptionName): string {
  return name.replaceAll('_', '-')
}

export function isOption(name: string): name is OptionName {
  return Object.hasOwn(OPTIONS, name)
}

/** True for an option that providers of this kind read. */
export function isOptionOf(slug: string, name: string): boolean {
  return isOption(name) && OPTIONS[name].providers.includes(slug)
}

/** The options that a provider reads, in the table's order. */
export function optionsFor(slug: string): readonly OptionName[] {
  return NAMES.filter(name => OPTIONS[name].providers.includes(slug))
}

const IN_HOSTS: ReadonlySet<string> = new Set(['label', 'account'])
const NAMES = Object.keys(OPTIONS) as OptionName[]
/** Headers for the clouds have a second spelling, with A, B and C for their names (decisions: providers). */
const CLOUDS = [
  ['azure-', 'cloud-a-'],
  ['vertex-', 'cloud-b-'],
  ['aws-', 'cloud-c-'],
] as const
const BY_HEADER: ReadonlyMap<string, OptionName> = new Map(
  NAMES.filter(name => OPTIONS[name].in_header !== false).flatMap(name => {
    const header = headerOf(name)
    const cloud = CLOUDS.find(([own]) => header.startsWith(own))
    return [header, ...(cloud ? [cloud[1] + header.slice(cloud[0].length)] : [])].map(
      spelling => [spelling, name] as const,
    )
  }),
)

function isCloudSpelling(header: string): boolean {
  return header.startsWith('cloud-')
}

/** Texts as they are, switches as words, objects (a service account) as JSON. */
function plain(values: Readonly<Record<string, unknown>>): Record<string, string> {
  const options: Record<string, string> = {}
  for (const name of NAMES) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    if (typeof value === 'string' && value !== '') options[name] = value
    else if (typeof value === 'boolean') options[name] = String(value)
    else if (typeof value === 'object' && value !== null) options[name] = JSON.stringify(value)
  }
  return options
}
