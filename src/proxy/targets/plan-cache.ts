import {LRUCache} from 'lru-cache'
import {Refusal} from '../../base/errors.ts'
import {parseJson} from '../../base/json-object.ts'
import {checkDepth} from '../../base/json-shape.ts'
import {readOptions} from '../../providers/options.ts'
import {compile} from '../../routing/compile.ts'
import type {Plan, PlanTarget} from '../../routing/plan.ts'
import {readConfig} from '../../schema/configs.ts'
import {type Remembered, RowCache} from '../../store/remembered.ts'
import type {InboundRequest} from '../inbound/request.ts'
import type {Caller, Uses} from '../services.ts'
import {resolveTarget, type Target, type TargetSelectors, type TargetServices} from './target.ts'

type Services = TargetServices & Uses<'circuits' | 'findConfig' | 'settings'>

/** The plan of all calls with the same config, and its targets as far as they were resolved. */
export interface ResolvedPlan {
  readonly plan: Plan
  readonly selectors: TargetSelectors
  readonly slug: string | null
  /** The known members without effect in a config sent with the call. */
  readonly warning: string | null
  readonly targets: Map<PlanTarget, Target>
  /** The key of its entry. */
  readonly key: string
}

/** A call without a config goes to the one place it names. */
const PLAIN: Plan = {
  root: {kind: 'leaf', path: 'config', name: null, weight: 1, breaker: null, target: {}},
  config_id: null,
  warnings: [],
  lists_integrated: false,
}

/** Stands for a provider that is not there: a plan that did without it may be another once it is. */
const ABSENT = 'no provider'

/** Remembers plans by what named them, with their targets, until a row changes that one of them is made of. */
export class PlanCache {
  readonly #services: Services
  readonly #known = new RowCache<ResolvedPlan>({max: 4096})
  readonly #versions = new LRUCache<string, string>({max: 4096})
  readonly remembered: readonly Remembered[] = [
    {of: new Set(['configs', 'organisations', 'workspaces']), forget: ids => this.#known.forget(ids)},
    {
      of: new Set(['providers', 'integrations', 'integration_models', 'integration_workspaces']),
      forget: ids => {
        this.#known.forget([ABSENT])
        this.#known.forgetWithNew(ids)
      },
    },
    // as a whole: another version of a guardrail is a new row, whose id no plan knows
    {of: new Set(['guardrails', 'guardrail_versions']), forget: () => this.forget()},
  ]

  constructor(services: Services) {
    this.#services = services
  }

  forget(): void {
    this.#known.forget(null)
  }

  /**
   * True when headers, a config or the key's default name where a call goes, so that it is known before the body is
   * read.
   */
  isNamed(incoming: InboundRequest, caller: Caller): boolean {
    const {provider, virtual_key, config, custom_host} = named(incoming, caller)
    return Boolean(provider ?? virtual_key ?? config ?? custom_host)
  }

  /** `slug` is the `@slug` of the body's model, when it has one. */
  find(incoming: InboundRequest, caller: Caller, slug: string | null): ResolvedPlan | Promise<ResolvedPlan> {
    const selectors = named(incoming, caller)
    const key = `${caller.workspace_id}\n${selectors.provider ?? ''}\n${selectors.virtual_key ?? ''}\n${selectors.config ?? ''}\n${selectors.custom_host ?? ''}\n${slug ?? ''}\n${optionsIn(selectors)}`
    return this.#known.get(key) ?? this.#read(selectors, caller, slug, key)
  }

  /** The target of a leaf, remembered with its plan. */
  target(routing: ResolvedPlan, leaf: PlanTarget, incoming: InboundRequest, caller: Caller): Target | Promise<Target> {
    return routing.targets.get(leaf) ?? this.#open(routing, leaf, incoming, caller)
  }

  async #open(routing: ResolvedPlan, leaf: PlanTarget, incoming: InboundRequest, caller: Caller): Promise<Target> {
    const {plan, selectors, slug} = routing
    const born = this.#known.generation
    const rows: string[] = []
    const services: Services = {
      ...this.#services,
      findProvider: async (workspace_id, named) => {
        const found = await this.#services.findProvider(workspace_id, named)
        rows.push(...(found ? [found.id, found.integration_id] : [ABSENT]))
        return found
      },
    }
    const target = await resolveTarget(leaf, selectors, slug, {incoming, caller, config_id: plan.config_id, services})
    if (born === this.#known.generation) {
      this.#known.extend(routing.key, routing, rows)
      routing.targets.set(leaf, target)
    }
    return target
  }

  async #read(selectors: TargetSelectors, caller: Caller, slug: string | null, key: string): Promise<ResolvedPlan> {
    const born = this.#known.generation
    const plan = selectors.config ? await this.#plan(selectors.config, caller) : PLAIN
    const warning = plan.warnings.length ? plan.warnings.join('; ') : null
    const routing = {plan, selectors, slug, warning, targets: new Map<PlanTarget, Target>(), key}
    // the defaults of the workspace and its organisation attach guardrails
    const rows = [caller.workspace_id, caller.organisation_id, plan.config_id ?? []].flat()
    this.#known.set(key, routing, {born, rows})
    return routing
  }

  /** The paths of another version may lead elsewhere: what was counted there counts no more. */
  #judgeVersion(config_id: string, version_id: string) {
    const known = this.#versions.get(config_id)
    if (known !== undefined && known !== version_id) this.#services.circuits.forget(config_id)
    this.#versions.set(config_id, version_id)
  }

  async #plan(config_text: string, caller: Caller): Promise<Plan> {
    if (config_text.trimStart().startsWith('{')) {
      const {
        max_root_config_targets: root,
        max_conditional_root_config_targets: conditional_root,
        max_nested_config_targets: nested,
      } = this.#services.settings
      checkDepth(config_text, 'The config')
      const read = readConfig(parsed(config_text), {limits: {root, conditional_root, nested}})
      if ('issues' in read)
        throw new Refusal('config.invalid', {
          issues: read.issues.map(({path, message}) => `${path}: ${message}`).join('; '),
        })
      return compile(read.config, {config_id: null, warnings: read.warnings})
    }
    const saved = await this.#services.findConfig(caller.workspace_id, config_text)
    if (!saved) throw new Refusal('config.unknown', {config: config_text.slice(0, 255)})
    this.#judgeVersion(saved.id, saved.version_id)
    return compile(saved.config, {config_id: saved.id})
  }
}

function named({own}: InboundRequest, caller: Caller): TargetSelectors {
  const {provider, 'virtual-key': virtual_key, config, 'custom-host': custom_host} = own.values
  if (config && !caller.allow_config_override) throw new Refusal('config.override_forbidden')
  const chosen = caller.allow_config_override && Boolean(provider || virtual_key)
  return {
    provider: provider || undefined,
    virtual_key: virtual_key || undefined,
    config: config || (chosen ? undefined : (caller.config_id ?? undefined)),
    custom_host: custom_host || undefined,
    options: readOptions(own.values),
  }
}

/** Most calls say none. */
function optionsIn({options}: TargetSelectors): string {
  for (const _ in options) return JSON.stringify(options)
  return ''
}

function parsed(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    throw new Refusal('config.invalid', {issues: 'config: it is not valid JSON'})
  }
}
