import type {Resource, Spec} from '../resources/document.ts'

/** The result of importing another gateway's configuration. */
export interface Imported {
  readonly resources: readonly Resource[]
  /** The parts that were not carried over, each by its place, with the reason. */
  readonly losses: readonly string[]
  /** Secrets that stood in it, by the name that files refer to. */
  readonly secrets: ReadonlyMap<string, string>
}

/** One way to serve a model: at a provider, with a credential. */
export interface ImportedDeployment {
  /** Name that clients call. */
  readonly model: string
  /** A kind of provider. */
  readonly kind: string
  /** The secret itself, or a reference to it. */
  readonly key: string | undefined
  readonly configurations: Spec
  /** Name of the model at the provider. */
  readonly upstream: string
  readonly weight?: number | undefined
  /** Higher goes first. */
  readonly priority: number
  readonly request_timeout?: number | undefined
  readonly rate_limits?: readonly object[] | undefined
  /** The name of the integration. */
  readonly name: string
}

export interface Routing {
  readonly workspace: string
  /** Name of the config, and what its slug is made of. */
  readonly name: string
  /** Models to try after a model. */
  readonly fallbacks: ReadonlyMap<string, readonly string[]>
  /** Other names of models. */
  readonly aliases: ReadonlyMap<string, string>
  readonly retries?: number | undefined
  readonly request_timeout?: number | undefined
}

/** Names that are each given once. */
export class Names {
  readonly #taken = new Set<string>()

  slug(text: string): string {
    const stem =
      text
        .toLowerCase()
        .replace(/[^a-z0-9_]+/g, '-')
        .replace(/^-+|-+$/g, '')
        .slice(0, 60) || 'x'
    let slug = stem
    for (let at = 2; this.#taken.has(slug); at++) slug = `${stem}-${at}`
    this.#taken.add(slug)
    return slug
  }
}

/** A secret as files say it: a reference stays, a secret itself is put into `secrets` under a name. */
export function referenceTo(secret: string, name: string, secrets: Map<string, string>): string {
  if (/^\$\{(env|file):[^}]+\}$/.test(secret)) return secret
  const variable = `SECRET_${name
    .replace(/[^a-zA-Z0-9]+/g, '_')
    .replace(/_$/, '')
    .toUpperCase()}`
  secrets.set(variable, secret)
  return `\${env:${variable}}`
}

/**
 * Integrations, their providers, and one config that sends each model where it is served: the default of the workspace,
 * so that clients keep calling by model.
 */
export function resourcesOf(
  deployments: readonly ImportedDeployment[],
  routing: Routing,
  secrets: Map<string, string>,
): Resource[] {
  const names = new Names()
  const {workspace} = routing
  const made = new Map<string, {readonly slug: string; readonly resources: Resource[]}>()
  const targets = new Map<string, {readonly priority: number; readonly target: Spec}[]>()
  for (const {
    model,
    kind,
    key,
    configurations,
    upstream,
    weight,
    priority,
    request_timeout,
    rate_limits,
    name,
  } of deployments) {
    const identity = JSON.stringify([kind, key, configurations, rate_limits])
    let one = made.get(identity)
    if (!one) {
      const slug = names.slug(name)
      const integration: Resource = {
        kind: 'integration',
        workspace: null,
        slug,
        spec: {
          name,
          ai_provider_id: kind,
          ...(key !== undefined && {key: referenceTo(key, `${slug}_key`, secrets)}),
          ...(Object.keys(configurations).length && {configurations: withoutSecrets(configurations, slug, secrets)}),
          workspaces: [{id: workspace, enabled: true}],
        },
      }
      const provider: Resource = {
        kind: 'provider',
        workspace,
        slug,
        spec: {name, integration_id: slug, ...(rate_limits?.length && {rate_limits})},
      }
      one = {slug, resources: [integration, provider]}
      made.set(identity, one)
    }
    const target = {
      provider: `@${one.slug}`,
      override_params: {model: upstream},
      ...(weight !== undefined && {weight}),
      ...(request_timeout !== undefined && {request_timeout}),
    }
    targets.set(model, [...(targets.get(model) ?? []), {priority, target}])
  }
  const config = configOf(targets, routing)
  return [...[...made.values()].flatMap(({resources}) => resources), ...(config ? [config] : [])]
}

const SECRETS = /secret|access_key|session_token/

function withoutSecrets(configurations: Spec, slug: string, secrets: Map<string, string>): Spec {
  return Object.fromEntries(
    Object.entries(configurations).map(([name, value]) => [
      name,
      typeof value === 'string' && SECRETS.test(name) ? referenceTo(value, `${slug}_${name}`, secrets) : value,
    ]),
  )
}

type Targets = ReadonlyMap<string, readonly {readonly priority: number; readonly target: Spec}[]>

function configOf(
  targets: Targets,
  {workspace, name, fallbacks, aliases, retries, request_timeout}: Routing,
): Resource | undefined {
  const models = [...targets.keys()]
  if (!models.length) return undefined
  const called = [
    ...models.map(model => [model, model] as const),
    ...[...aliases].filter(([, model]) => targets.has(model)),
  ]
  // biome-ignore lint/suspicious/noThenProperty: conditions of a config name their target so
  const conditions = called.map(([alias, model]) => ({query: {'params.model': {$eq: alias}}, then: model}))
  const config = {
    strategy: {mode: 'conditional', conditions},
    targets: models.map(model => ({name: model, ...modelTarget(model, targets, fallbacks)})),
    ...(retries && {retry: {attempts: Math.min(retries, 5)}}),
    ...(request_timeout !== undefined && {request_timeout}),
  }
  return {kind: 'config', workspace, slug: `pc-${name}`, spec: {name, isDefault: 1, config}}
}

/** A model's own targets, the first in rank first and those of one rank together, then those of the models after it. */
function modelTarget(model: string, targets: Targets, fallbacks: Routing['fallbacks']): Spec {
  const chain = [model, ...(fallbacks.get(model) ?? []).filter(other => targets.has(other))]
  const steps = chain.flatMap(each => {
    const own = targets.get(each)!
    const ranks = [...new Set(own.map(({priority}) => priority))].sort((a, b) => b - a)
    return ranks.map(rank => shared(own.filter(({priority}) => priority === rank).map(({target}) => target)))
  })
  return steps.length === 1 ? steps[0]! : {strategy: {mode: 'fallback'}, targets: steps}
}

function shared(targets: readonly Spec[]): Spec {
  if (targets.length > 1)
    return {strategy: {mode: 'loadbalance'}, targets: targets.map(target => ({weight: 1, ...target}))}
  const {weight: _, ...target} = targets[0]!
  return target
}
