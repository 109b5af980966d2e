import {LRUCache} from 'lru-cache'
import type {Destination} from '../base/egress/target.ts'
import {Refusal} from '../base/errors.ts'
import type {Edits} from '../base/json.ts'
import type {OutgoingHeaders, Provider} from '../providers/provider.ts'
import {type ConfigTarget, type GatewayConfig, nodesOf, readConfig, targetOf} from '../schema/configs.ts'
import {HOP_BY_HOP, isOwn, NEVER_FORWARDED} from '../schema/headers.ts'
import type {Incoming} from './incoming.ts'
import type {Caller, ManagedProvider, ProxyServices} from './services.ts'

/** One place a call may go to, worked out once for all calls that say the same: what is left is the body and the client's token. */
export interface Target {
  readonly provider: Provider
  readonly managed: ManagedProvider | null
  readonly config_id: string | null
  /** Null for a provider that answers in this process. */
  readonly destination: Destination | null
  /** The provider's key, when it is ours to send; null: the client's own token. */
  readonly key: string | null
  /** Headers of the integration and the config, lower case. */
  readonly headers: Readonly<OutgoingHeaders>
  /** Members the config sets in a JSON body. */
  readonly edits: Edits | null
  /** The model the config sets, without a provider's slug. */
  readonly model: string | null
  readonly request_timeout_ms: number | null
  readonly forward_headers: readonly string[]
  readonly option_path: string
  readonly mode: 'single'
  readonly warning: string | null
}

/** What a request says of where it goes. */
interface Named {
  readonly provider: string | undefined
  readonly virtual_key: string | undefined
  readonly config: string | undefined
  readonly custom_host: string | undefined
}

/** Remembers targets by what named them. `forget` is called when an integration, a provider or a config changed. */
export class Targets {
  readonly #on: ProxyServices
  readonly #known = new LRUCache<string, Target>({max: 4096})

  constructor(on: ProxyServices) {
    this.#on = on
  }

  forget(): void {
    this.#known.clear()
  }

  /** True when headers, a config or the key's default name a target, so that it is known before the body is read. */
  isNamed(incoming: Incoming, caller: Caller): boolean {
    const {provider, virtual_key, config, custom_host} = named(incoming, caller)
    return Boolean(provider ?? virtual_key ?? config ?? custom_host)
  }

  /** The target of a call. `slug` is the `@slug` of the body's model, when it has one. */
  async find(incoming: Incoming, caller: Caller, slug: string | null): Promise<Target> {
    const said = named(incoming, caller)
    const key = `${caller.workspace_id}\n${said.provider ?? ''}\n${said.virtual_key ?? ''}\n${said.config ?? ''}\n${said.custom_host ?? ''}\n${slug ?? ''}`
    const known = this.#known.get(key)
    const target = known ?? (await this.#read(said, incoming, caller, slug))
    if (!known) this.#known.set(key, target)
    checkManaged(target, this.#on.now())
    return target
  }

  async #read(said: Named, incoming: Incoming, caller: Caller, slug: string | null): Promise<Target> {
    const prefix = incoming.own.prefix
    const {config, config_id, warning} = await this.#config(said.config, caller)
    const several = config && nodesOf(config).find(({node}) => (node.targets?.length ?? 0) > 1)
    if (several) throw new Refusal('config.invalid', {issues: `${several.path}.targets: more than one is not available in this version`})
    const {target, path} = config ? targetOf(config) : {target: {} as ConfigTarget, path: 'config'}
    const {model: set_model, ...params} = target.override_params ?? {}
    const [set_slug, model] = typeof set_model === 'string' ? splitModel(set_model) : [null, null]
    const name =
      nameOf(target.virtual_key, true) ??
      nameOf(target.provider) ??
      nameOf(set_slug, true) ??
      nameOf(slug, true) ??
      nameOf(said.provider) ??
      nameOf(said.virtual_key, true)
    if (!name) throw new Refusal('provider.missing', {prefix})
    const managed = name.managed ? await this.#managed(name.slug, caller) : null
    const provider = this.#kind(managed?.kind ?? name.slug)
    const named_host = said.custom_host ?? target.custom_host
    if (managed?.key && named_host !== undefined && named_host !== managed.custom_host && target.api_key === undefined) {
      throw new Refusal('host.blocked', {reason: `the credential of @${managed.slug} goes to its own host alone`})
    }
    const custom_host = named_host ?? managed?.custom_host ?? undefined
    const edits = Object.entries(params).map(([key, value]) => [key, JSON.stringify(value)] as const)
    return {
      provider,
      managed,
      config_id,
      destination: provider.transport ? null : this.#destination(custom_host, managed, provider, prefix),
      key: target.api_key ?? managed?.key ?? null,
      headers: {
        ...managed?.headers,
        ...(target.openai_organization ? {'openai-organization': target.openai_organization} : {}),
        ...(target.openai_project ? {'openai-project': target.openai_project} : {}),
      },
      edits: edits.length ? new Map(edits) : null,
      model,
      request_timeout_ms: target.request_timeout ?? null,
      forward_headers: target.forward_headers ?? [],
      option_path: path,
      mode: 'single',
      warning,
    }
  }

  async #config(
    said: string | undefined,
    caller: Caller,
  ): Promise<{config: GatewayConfig | null; config_id: string | null; warning: string | null}> {
    if (!said) return {config: null, config_id: null, warning: null}
    if (said.trimStart().startsWith('{')) {
      const read = readConfig(parseConfig(said))
      if ('issues' in read) throw new Refusal('config.invalid', {issues: listed(read.issues)})
      return {config: read.config, config_id: null, warning: read.warnings.length ? listed(read.warnings) : null}
    }
    const saved = await this.#on.findConfig(caller.workspace_id, said)
    if (!saved) throw new Refusal('config.unknown', {config: said.slice(0, 255)})
    return {config: saved.config, config_id: saved.id, warning: null}
  }

  async #managed(slug: string, caller: Caller): Promise<ManagedProvider> {
    const managed = await this.#on.findProvider(caller.workspace_id, slug)
    if (!managed)
      throw new Refusal('provider.unknown', {
        provider: `@${slug.slice(0, 255)}`,
        hint: ' List those of this workspace with GET /v1/providers.',
      })
    return managed
  }

  #kind(slug: string): Provider {
    const provider = this.#on.kind(slug)
    if (!provider)
      throw new Refusal('provider.unknown', {provider: slug.slice(0, 255), hint: ` A managed provider is named @${slug.slice(0, 64)}.`})
    if (!provider.available) throw new Refusal('provider.unavailable', {provider: slug})
    return provider
  }

  #destination(custom_host: string | undefined, managed: ManagedProvider | null, provider: Provider, prefix: string): Destination {
    if (!custom_host) {
      if (!provider.base_url) throw new Refusal('provider.no_host', {provider: provider.slug, prefix})
      return this.#on.destination(provider.base_url, 'builtin')
    }
    const trusted =
      managed?.trusts_host && managed.custom_host ? {integration_id: managed.integration_id, host: managed.custom_host} : 'caller'
    return this.#on.destination(custom_host, trusted)
  }
}

/** `@slug/rest` apart at the first slash; the rest may hold slashes and colons. No slug without the at sign. */
export function splitModel(model: string): [slug: string | null, model: string] {
  if (model[0] !== '@') return [null, model]
  const slash = model.indexOf('/')
  return slash < 0 ? [null, model] : [model.slice(1, slash), model.slice(slash + 1)]
}

/** Adds the client's headers that go with a call: what the lists name, and on pass-through all but what is ours or the connection's. */
export function addClientHeaders(
  sent: OutgoingHeaders,
  incoming: Incoming,
  target: Target,
  service_header: string,
  ignored: ReadonlySet<string>,
  passthrough: boolean,
): void {
  const {headers} = incoming
  if (passthrough) {
    for (const name in headers) {
      const value = headers[name]
      if (typeof value !== 'string' || isOwn(name) || HOP_BY_HOP.has(name) || DROPPED.has(name) || ignored.has(name)) continue
      sent[name] = value
    }
  }
  const listed = incoming.own.values['forward-headers']
  for (const name of listed ? headerList(listed, incoming.own.prefix) : target.forward_headers) {
    const value = headers[name]
    if (typeof value === 'string' && name !== service_header && !NEVER_FORWARDED.has(name) && name !== `${incoming.own.prefix}-api-key`)
      sent[name] = value
  }
}

const DROPPED: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'expect',
  'authorization',
  'x-api-key',
  'accept-encoding',
  'content-type',
])

/** The names in a `forward-headers` list: by commas, or a JSON array. It may not name itself. */
export function headerList(text: string, prefix: string): string[] {
  let names = text.split(',')
  if (text.trimStart().startsWith('[')) {
    try {
      names = (JSON.parse(text) as unknown[]).map(String)
    } catch {
      throw new Refusal('header.invalid', {header: `${prefix}-forward-headers`, reason: 'it is neither a list by commas nor a JSON array'})
    }
  }
  const plain = names.map(name => name.trim().toLowerCase()).filter(Boolean)
  if (plain.some(name => name.endsWith('-forward-headers') && isOwn(name))) {
    throw new Refusal('header.invalid', {header: `${prefix}-forward-headers`, reason: 'it names itself'})
  }
  return plain
}

function named({own}: Incoming, caller: Caller): Named {
  const {provider, 'virtual-key': virtual_key, config, 'custom-host': custom_host} = own.values
  if (config && !caller.allow_config_override) throw new Refusal('config.override_forbidden')
  const chosen = caller.allow_config_override && Boolean(provider || virtual_key)
  return {
    provider: provider || undefined,
    virtual_key: virtual_key || undefined,
    config: config || (chosen ? undefined : (caller.config_id ?? undefined)),
    custom_host: custom_host || undefined,
  }
}

function nameOf(said: string | null | undefined, managed = false): {slug: string; managed: boolean} | null {
  if (!said) return null
  return said[0] === '@' ? {slug: said.slice(1), managed: true} : {slug: said, managed}
}

function checkManaged({managed}: Target, now_ms: number) {
  if (!managed) return
  if (managed.expires_at && Date.parse(managed.expires_at) <= now_ms) {
    throw new Refusal('provider.expired', {provider: managed.slug, expires_at: managed.expires_at})
  }
}

function parseConfig(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Refusal('config.invalid', {issues: 'config: it is not valid JSON'})
  }
}

function listed(issues: readonly {path: string; message: string}[]): string {
  return issues.map(({path, message}) => `${path}: ${message}`).join('; ')
}
