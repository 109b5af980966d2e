import {readBaseUrl} from '../base/egress/base-url.ts'
import {Refusal} from '../base/errors.ts'
import {CONFIG_LIMITS, type ConfigIssue, type ConfigLimits, nodesOf, readConfig} from '../schema/configs.ts'
import {compile} from './compile.ts'

export interface Linted {
  readonly ok: boolean
  /** Faults, and known members without effect: either keeps a config from being saved. At most 20 of each. */
  readonly issues: readonly ConfigIssue[]
  /** Places the config can send a call to; 0 when it was refused. */
  readonly targets: number
}

export interface LintOptions {
  readonly limits?: ConfigLimits
  /** The fault of a kind of provider, such as `is not known; did you mean openai?`; undefined for none. */
  readonly unknownKind?: (kind: string) => string | undefined
  /** The faults of a node's guardrails. */
  readonly hookIssues?: (nodes: ReturnType<typeof nodesOf>) => readonly ConfigIssue[]
}

/**
 * Judges a config as saving it would, but for what only a workspace knows: whether its providers exist, and which hosts
 * are trusted.
 */
export function lint(
  value: unknown,
  {limits = CONFIG_LIMITS, unknownKind = () => undefined, hookIssues = () => []}: LintOptions = {},
): Linted {
  const read = readConfig(value, {saved: true, limits})
  if ('issues' in read) return {ok: false, issues: read.issues, targets: 0}
  const nodes = nodesOf(read.config)
  const issues = [...read.warnings]
  for (const {node, path} of nodes) {
    const kind = node.provider?.startsWith('@') ? undefined : node.provider
    const wrong = kind === undefined ? undefined : unknownKind(kind)
    if (wrong) issues.push({path: `${path}.provider`, message: wrong})
    const fault = node.custom_host === undefined ? undefined : hostFault(node.custom_host)
    if (fault) issues.push({path: `${path}.custom_host`, message: `is not a base URL that can be called: ${fault}`})
  }
  issues.push(...hookIssues(nodes))
  if (issues.length) return {ok: false, issues, targets: 0}
  compile(read.config, {config_id: 'lint'})
  return {ok: true, issues, targets: nodes.filter(({node}) => !node.targets).length}
}

function hostFault(url: string): string | undefined {
  try {
    readBaseUrl(url)
    return undefined
  } catch (error) {
    if (error instanceof Refusal) return String(error.details.reason)
    throw error
  }
}
