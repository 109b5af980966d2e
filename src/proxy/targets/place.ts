import {Refusal} from '../../base/errors.ts'
import {OPTIONS} from '../../providers/option-table.ts'
import {
  headerOf,
  holdsCredential,
  isOption,
  isOptionOf,
  mergedOptions,
  type Options,
  optionsOfConfig,
} from '../../providers/options.ts'
import type {OutgoingHeaders} from '../../providers/provider.ts'
import type {TargetSpec} from '../../routing/plan.ts'
import type {ManagedProvider} from '../services.ts'

/**
 * The place of a target, and its credentials. An integration's credentials are sent to the place of the integration's
 * own row alone.
 */
export interface TargetPlace {
  readonly custom_host: string | undefined
  readonly options: Options
  readonly key: string | null
  readonly headers: Readonly<OutgoingHeaders>
  /** The owner of the credentials: only its place and login count then. */
  readonly credential_of: 'integration' | 'caller'
  /** True when the host is not the integration's own: its trust does not hold there. */
  readonly is_callers_host: boolean
  /** Headers that had no effect. */
  readonly warning: string | null
}

/** The settings of a place beside the integration: from the node of a config, and from the headers of the call. */
export interface SaidOfPlace {
  readonly kind: string
  readonly node: TargetSpec
  readonly header_host: string | undefined
  readonly header_options: Options
  /** The settings' defaults for all. */
  readonly defaults: Options
  /** True where the node was saved: what it holds is not the caller's. */
  readonly is_saved: boolean
}

/**
 * Binds what is held to where it may go. Refuses (`provider.bound`) a config that would take an integration's
 * credentials elsewhere.
 */
export function placeOf(managed: ManagedProvider | null, beside: SaidOfPlace): TargetPlace {
  if (!managed) return withoutIntegration(beside)
  checkNode(managed, beside)
  return beside.node.api_key === undefined ? withIntegration(managed, beside) : withOwnKey(managed, beside)
}

/** Nothing of an integration: a config's credentials, or the client's token. */
function withoutIntegration({kind, node, header_host, header_options, defaults, is_saved}: SaidOfPlace): TargetPlace {
  const own = {...defaults, ...optionsOfConfig(node)}
  const holds_credential = node.api_key !== undefined || holdsCredential(own)
  const is_bound = is_saved && holds_credential
  const unused = holds_credential ? differing(header_options, own).filter(name => isOptionOf(kind, name)) : []
  if (is_bound && header_host !== undefined && !isSameHost(header_host, node.custom_host)) unused.push(HOST)
  return {
    custom_host: is_bound ? node.custom_host : (header_host ?? node.custom_host),
    options: mergedOptions(own, header_options, {holds_credential}),
    key: node.api_key ?? null,
    headers: organisationOf(node),
    credential_of: 'caller',
    is_callers_host: true,
    warning: warningOf(unused, 'the config'),
  }
}

/** The integration's place and login, whatever the headers say. */
function withIntegration(
  managed: ManagedProvider,
  {kind, node, header_host, header_options, defaults}: SaidOfPlace,
): TargetPlace {
  const own = {...defaults, ...managed.options}
  const unused = differing(header_options, own).filter(name => isOptionOf(kind, name))
  if (header_host !== undefined && !isSameHost(header_host, managed.custom_host)) unused.push(HOST)
  return {
    custom_host: managed.custom_host ?? undefined,
    options: {...mergedOptions(own, header_options, {holds_credential: true}), ...harmless(optionsOfConfig(node))},
    key: managed.key,
    headers: {...managed.headers, ...organisationOf(node)},
    credential_of: 'integration',
    is_callers_host: false,
    warning: warningOf(unused, `@${managed.slug}`),
  }
}

/**
 * With a key of the caller's nothing of the integration goes but its place, and not that where the caller names a host.
 */
function withOwnKey(managed: ManagedProvider, {node, header_host, header_options, defaults}: SaidOfPlace): TargetPlace {
  const host = header_host ?? node.custom_host
  const is_callers_host = host !== undefined && !isSameHost(host, managed.custom_host)
  const own = {...defaults, ...(is_callers_host ? {} : withoutLogin(managed.options)), ...optionsOfConfig(node)}
  return {
    custom_host: is_callers_host ? host : (managed.custom_host ?? undefined),
    options: mergedOptions(own, header_options, {holds_credential: true}),
    key: node.api_key!,
    headers: organisationOf(node),
    credential_of: 'caller',
    is_callers_host,
    warning: null,
  }
}

/** `override_params` without what repeats the integration's place: that is no member of a body. */
export function withoutPlace(
  params: Readonly<Record<string, unknown>>,
  kind: string,
): Readonly<Record<string, unknown>> {
  const names = Object.keys(params).filter(name => name === HOST || (isOptionOf(kind, name) && decides(name)))
  return names.length === 0
    ? params
    : Object.fromEntries(Object.entries(params).filter(([name]) => !names.includes(name)))
}

const HOST = 'custom_host'

/**
 * Refuses what a config, its `override_params`, or headers beside a key of the caller's say of place and login, unless
 * the integration says the same.
 */
function checkNode(managed: ManagedProvider, {kind, node, header_options, defaults}: SaidOfPlace) {
  const own = {...defaults, ...managed.options}
  const refuse = (option: string, where: string) => {
    throw new Refusal('provider.bound', {option, where, provider: managed.slug, kind})
  }
  const has_own_key = node.api_key !== undefined
  if (!has_own_key && node.custom_host !== undefined && !isSameHost(node.custom_host, managed.custom_host))
    refuse(HOST, 'the config')
  const ofKind = (name: string) => isOptionOf(kind, name)
  const [of_config] = differing(optionsOfConfig(node), own).filter(ofKind)
  if (of_config) refuse(of_config, 'the config')
  const [of_header] = has_own_key ? differing(header_options, own).filter(ofKind) : []
  if (of_header) refuse(of_header, 'a header beside api_key')
  for (const [name, value] of Object.entries(node.override_params ?? {})) {
    const is_bound =
      name === HOST
        ? !isSameHost(String(value), managed.custom_host)
        : ofKind(name) && isBound(name, own) && own[name] !== value
    if (is_bound) refuse(name, 'override_params')
  }
}

function decides(name: string): boolean {
  return isOption(name) && OPTIONS[name].decides !== undefined
}

function isBound(name: string, own: Options): boolean {
  return decides(name) || (isOption(name) && OPTIONS[name].stays === true && own[name] !== undefined)
}

/** The options that decide host or login, or that the integration has too, and are otherwise than `own`. */
function differing(beside: Options, own: Options): string[] {
  return Object.keys(beside).filter(name => isBound(name, own) && beside[name] !== own[name])
}

function harmless(options: Options): Options {
  return Object.fromEntries(Object.entries(options).filter(([name]) => !decides(name)))
}

function withoutLogin(options: Options): Options {
  return Object.fromEntries(
    Object.entries(options).filter(([name]) => !(isOption(name) && OPTIONS[name].decides === 'login')),
  )
}

function organisationOf({openai_organization, openai_project}: TargetSpec): OutgoingHeaders {
  return {
    ...(openai_organization ? {'openai-organization': openai_organization} : {}),
    ...(openai_project ? {'openai-project': openai_project} : {}),
  }
}

/** True for a host that differs by a slash at its end at most. */
export function isSameHost(one: string, other: string | null | undefined): boolean {
  return other !== null && other !== undefined && bare(one) === bare(other)
}

function bare(host: string): string {
  return host.trim().replace(/\/$/, '')
}

function warningOf(unused: readonly string[], holder: string): string | null {
  if (unused.length === 0) return null
  const names = unused.map(name => (isOption(name) ? headerOf(name) : name.replaceAll('_', '-')))
  return `the header ${names.join(', ')}: has no effect, as ${holder} says where its credentials go`
}
