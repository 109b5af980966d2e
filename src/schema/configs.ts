import {z} from 'zod'
import {wayToNeverKey} from '../base/json-shape.ts'
import {SECRET_KEYS} from './config-credentials.ts'
import {mapHookSecrets} from './config-hooks.ts'
import {readNode, says} from './config-node.ts'
import type {ConfigFindings, ConfigIssue, ConfigLimits} from './config-readers.ts'
import type {ConfigTarget, GatewayConfig} from './config-types.ts'
import {Name, Slug} from './names.ts'

export {nodesOf} from './config-node.ts'
export type {ConfigIssue, ConfigLimits} from './config-readers.ts'
export type {ConfigTarget, Deployment, GatewayConfig, Strategy} from './config-types.ts'

/**
 * `warnings` name keys that are known but without effect: a saved config is refused for them, one sent with a call is
 * not.
 */
export type ReadConfig =
  | {readonly config: GatewayConfig; readonly warnings: readonly ConfigIssue[]}
  | {readonly issues: readonly ConfigIssue[]}

const Times = {created_at: z.iso.datetime(), last_updated_at: z.iso.datetime()}
const Row = z.object({
  id: z.uuid(),
  name: z.string(),
  slug: z.string(),
  organisation_id: z.uuid(),
  workspace_id: z.uuid(),
  is_default: z.int(),
  status: z.enum(['active', 'archived']),
  owner_id: z.string().nullable(),
  updated_by: z.string().nullable(),
  ...Times,
})

/** A saved config's row; `object` tags it in lists. */
export const ConfigRow = Row.extend({object: z.literal('config')})
/** With the routing itself; an `api_key` in it is masked. */
export const ConfigView = ConfigRow.extend({version_id: z.uuid(), config: z.record(z.string(), z.unknown())})
/** One version: the config is a JSON text here. */
export const ConfigVersion = Row.extend({
  config: z.string(),
  format: z.literal('json'),
  type: z.literal('ORG_CONFIG'),
  version_id: z.uuid(),
  version: z.int(),
  object: z.literal('config'),
})
export const ConfigCreate = z.strictObject({
  name: Name,
  /** Read by `readConfig`. */
  config: z.record(z.string(), z.unknown()),
  isDefault: z.union([z.literal(0), z.literal(1), z.boolean()]).optional(),
  workspace_id: z.string().min(1).max(255).optional(),
  /** Made of the name where it is absent. */
  slug: Slug.optional(),
})
export const ConfigUpdate = ConfigCreate.omit({slug: true})
  .partial()
  .extend({status: z.enum(['active', 'archived']).optional()})

/** The limits where no setting says otherwise (docs/configs.md, Targets). */
export const CONFIG_LIMITS: ConfigLimits = {root: 100, conditional_root: 1000, nested: 50}

/**
 * A config as a client wrote it, read: camelCase turned to snake_case outside of what is not ours, every key and value
 * checked, or all that is wrong with it (20 issues at most). Keys without effect are warned of and left out; a circuit
 * breaker has one only in a config that is `saved`. Pure; whether the providers and hosts it names exist and may be
 * called is not judged here. The page for users is docs/configs.md (decisions: configs).
 */
export function readConfig(
  value: unknown,
  {saved = false, limits = CONFIG_LIMITS}: {saved?: boolean; limits?: ConfigLimits} = {},
): ReadConfig {
  const found: ConfigFindings = {issues: [], warnings: [], saved, limits, regex_size: 0, nested: 0}
  const {issues, warnings} = found
  const never = wayToNeverKey(value, 'config')
  if (never) return {issues: [{path: never, message: 'is a key that no config may have'}]}
  const config = readNode(value, 'config', found)
  if (!issues.length && !says(config)) {
    const message = 'says nothing; expected a provider, a virtual_key, override_params or another key with an effect'
    issues.push({path: 'config', message})
  }
  return issues.length ? {issues} : {config, warnings}
}

/**
 * The target a config leads to first, with what it inherits: the nearest timeout, host, headers to forward and
 * strictness, and override_params laid over one another. Provider, credentials and name are its own (docs/configs.md,
 * Inheritance). Of a config of several targets that is one of them; `compile` in routing knows all.
 */
export function targetOf(config: GatewayConfig): {readonly target: ConfigTarget; readonly path: string} {
  let path = 'config'
  let {strategy: _, targets, ...target} = config
  while (targets) {
    const {strategy: __, targets: below, ...own} = targets[0]!
    const {custom_host, forward_headers, request_timeout, strict_open_ai_compliance, override_params} = target
    const inherited = defined({
      custom_host,
      forward_headers,
      request_timeout,
      strict_open_ai_compliance,
      override_params,
    })
    target = {...inherited, ...own}
    if (override_params && own.override_params) target.override_params = {...override_params, ...own.override_params}
    targets = below
    path += '.targets[0]'
  }
  return {target, path}
}

/**
 * `config` with every secret in it put through `change`, which gets its path: that of the target for an `api_key`
 * (`config.targets[0]`), for others with the key behind it (`config.targets[0].aws_secret_access_key`). What services
 * of inline guardrails use is among them.
 */
export function mapApiKeys(
  config: GatewayConfig,
  change: (secret: string, path: string) => string | undefined,
  path = 'config',
): GatewayConfig {
  const {targets, ...rest} = config
  const node: Record<string, unknown> = {...rest, ...mapHookSecrets(rest, change, path)}
  for (const key of SECRET_KEYS) {
    const secret = config[key]
    if (secret === undefined) continue
    const changed = change(secret, key === 'api_key' ? path : `${path}.${key}`)
    if (changed === undefined) delete node[key]
    else node[key] = changed
  }
  if (targets) node.targets = targets.map((target, index) => mapApiKeys(target, change, `${path}.targets[${index}]`))
  return node as GatewayConfig
}

function defined<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T
}
