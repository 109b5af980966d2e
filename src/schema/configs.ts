import {z} from 'zod'
import {nearest} from '../base/nearest.ts'
import {
  ALIASES,
  IDLE_KEYS,
  IDLE_STRATEGY_KEYS,
  isObject,
  kindOf,
  LATER_KEYS,
  MODES,
  type Read,
  STRATEGY_KEYS,
  snake,
  TARGET_KEYS,
  unknownKey,
} from './config-keys.ts'
import {Name} from './names.ts'

/** Where a call goes and how: what one node of a config may say in this version. */
export interface ConfigTarget {
  readonly name?: string
  /** A kind of provider, or `@slug`. */
  readonly provider?: string
  /** A provider's slug under its older name, without `@`. Where a kind stands beside it, this one counts. */
  readonly virtual_key?: string
  readonly api_key?: string
  readonly custom_host?: string
  readonly override_params?: Readonly<Record<string, unknown>>
  /** Lower case. */
  readonly forward_headers?: readonly string[]
  /** Milliseconds. */
  readonly request_timeout?: number
  readonly strict_open_ai_compliance?: boolean
  readonly openai_organization?: string
  readonly openai_project?: string
}

/** A config in its normal form: keys in snake_case, checked, at most one target below a node. */
export interface GatewayConfig extends ConfigTarget {
  readonly strategy?: {readonly mode: 'single'}
  readonly targets?: readonly [GatewayConfig]
}

/** What is wrong and where: `config.targets[0].provder`. */
export interface ConfigIssue {
  readonly path: string
  readonly message: string
}

/** `warnings` name keys that are known but without effect: a saved config is refused for them, one sent with a call is not. */
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
/** One version: the config is a JSON text here (reference: configs). */
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
})
export const ConfigUpdate = ConfigCreate.partial().extend({status: z.enum(['active', 'archived']).optional()})

const DEEPEST = 10
const MOST_ISSUES = 20

/**
 * A config as a client wrote it, read: camelCase turned to snake_case outside `override_params`, every key and value checked, or
 * all that is wrong with it (20 issues at most). Pure; whether the providers and hosts it names exist and may be called is not
 * judged here. Source: decisions (configs), reference (config object).
 */
export function readConfig(value: unknown): ReadConfig {
  const issues: ConfigIssue[] = []
  const warnings: ConfigIssue[] = []
  const config = readNode(value, 'config', 1, {issues, warnings})
  if (!issues.length && !says(config)) {
    issues.push({
      path: 'config',
      message: 'says nothing; expected a provider, a virtual_key, override_params or another key with an effect',
    })
  }
  return issues.length ? {issues: issues.slice(0, MOST_ISSUES)} : {config, warnings: warnings.slice(0, MOST_ISSUES)}
}

/**
 * The one target a config leads to, with what it inherits: the nearest timeout, host, headers to forward and strictness,
 * and override_params laid over one another. Provider, credentials and name are its own (reference: inheritance).
 */
export function targetOf(config: GatewayConfig): {readonly target: ConfigTarget; readonly path: string} {
  let path = 'config'
  let {strategy: _, targets, ...target} = config
  while (targets) {
    const {strategy: __, targets: below, ...own} = targets[0]
    const {custom_host, forward_headers, request_timeout, strict_open_ai_compliance, override_params} = target
    const inherited = defined({custom_host, forward_headers, request_timeout, strict_open_ai_compliance, override_params})
    target = {...inherited, ...own}
    if (override_params && own.override_params) target.override_params = {...override_params, ...own.override_params}
    targets = below
    path += '.targets[0]'
  }
  return {target, path}
}

/** `config` with every `api_key` put through `change`, which is told the path of its target. */
export function mapApiKeys(
  config: GatewayConfig,
  change: (api_key: string, path: string) => string | undefined,
  path = 'config',
): GatewayConfig {
  const {api_key, targets, ...rest} = config
  const changed = api_key === undefined ? undefined : change(api_key, path)
  return {
    ...rest,
    ...(changed === undefined ? {} : {api_key: changed}),
    ...(targets ? {targets: [mapApiKeys(targets[0], change, `${path}.targets[0]`)] as const} : {}),
  }
}

interface Found {
  readonly issues: ConfigIssue[]
  readonly warnings: ConfigIssue[]
}

function readNode(value: unknown, path: string, depth: number, found: Found): GatewayConfig {
  if (!isObject(value)) {
    found.issues.push({path, message: `expected an object, found ${kindOf(value)}`})
    return {}
  }
  const node: Record<string, unknown> = {}
  for (const [written, said] of Object.entries(value)) {
    if (found.issues.length >= MOST_ISSUES) break
    const at = `${path}.${written.slice(0, 100)}`
    const plain = snake(written)
    const key = Object.hasOwn(ALIASES, plain) ? ALIASES[plain]! : plain
    if (Object.hasOwn(node, key)) found.issues.push({path: at, message: `is given twice, as ${key} too`})
    else if (key === 'strategy') node.strategy = readStrategy(said, at, found)
    else if (key === 'targets') node.targets = readTargets(said, at, depth, found)
    else if (Object.hasOwn(TARGET_KEYS, key)) node[key] = settled(TARGET_KEYS[key as keyof typeof TARGET_KEYS](said), said, at, found)
    else if (Object.hasOwn(IDLE_KEYS, key)) found.warnings.push({path: at, message: `has no effect here: ${IDLE_KEYS[key]}`})
    else if (LATER_KEYS.has(key)) found.issues.push({path: at, message: 'is not available in this version'})
    else found.issues.push({path: at, message: unknownKey(key, KNOWN, USUAL)})
  }
  if (node.strategy && !node.targets) found.issues.push({path, message: 'has a strategy without targets; expected a list of one target'})
  if (node.targets) {
    for (const key of OWN)
      if (key in node) found.warnings.push({path: `${path}.${key}`, message: 'has no effect beside targets, which name their own'})
  }
  return node as GatewayConfig
}

/** Never inherited by a target. */
const OWN = ['provider', 'virtual_key', 'api_key', 'openai_organization', 'openai_project'] as const
const USUAL = ['strategy', 'targets', ...Object.keys(TARGET_KEYS)]
const KNOWN = [...USUAL, ...Object.keys(IDLE_KEYS), ...LATER_KEYS]

function readStrategy(value: unknown, path: string, found: Found): {mode: 'single'} | undefined {
  if (!isObject(value)) {
    found.issues.push({path, message: `expected an object with a mode, found ${kindOf(value)}`})
    return undefined
  }
  const {mode} = value
  if (typeof mode !== 'string' || !MODES.includes(mode as never)) {
    const close = typeof mode === 'string' ? nearest(mode, MODES) : undefined
    found.issues.push({path: `${path}.mode`, message: `expected one of ${MODES.join(', ')}${close ? `; did you mean ${close}?` : ''}`})
  } else if (mode !== 'single') {
    found.issues.push({path: `${path}.mode`, message: `${mode} is not available in this version; single is`})
  }
  for (const written of Object.keys(value)) {
    if (found.issues.length >= MOST_ISSUES) break
    const key = snake(written)
    const at = `${path}.${written.slice(0, 100)}`
    if (key === 'mode') continue
    if (key === 'cb_config') found.issues.push({path: at, message: 'is not available in this version'})
    else if (!Object.hasOwn(IDLE_STRATEGY_KEYS, key)) found.issues.push({path: at, message: unknownKey(key, STRATEGY_KEYS)})
    else if (mode === 'single') found.warnings.push({path: at, message: `has no effect here: ${IDLE_STRATEGY_KEYS[key]}`})
  }
  return {mode: 'single'}
}

function readTargets(value: unknown, path: string, depth: number, found: Found): readonly [GatewayConfig] | undefined {
  if (!Array.isArray(value) || !value.length) {
    found.issues.push({path, message: `expected a list of one target, found ${Array.isArray(value) ? 'an empty one' : kindOf(value)}`})
    return undefined
  }
  if (value.length > 1) {
    found.issues.push({path, message: `has ${value.length} targets; more than one is not available in this version`})
    return undefined
  }
  if (depth >= DEEPEST) {
    found.issues.push({path, message: `stands deeper than ${DEEPEST} levels`})
    return undefined
  }
  return [readNode(value[0], `${path}[0]`, depth + 1, found)]
}

function settled(read: Read, said: unknown, path: string, found: Found): unknown {
  if ('value' in read) return read.value
  found.issues.push({path, message: `expected ${read.expected}, found ${kindOf(said)}`})
  return undefined
}

/** Whether anything in `config` has an effect: a name alone has none. */
function says({name: _, strategy: __, targets, ...rest}: GatewayConfig): boolean {
  return Object.keys(rest).length > 0 || (targets !== undefined && says(targets[0]))
}

function defined<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T
}
