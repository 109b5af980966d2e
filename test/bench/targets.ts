import type {Beside} from './beside.ts'
import type {CrashReport} from './crash.ts'
import type {IdentityFigures} from './identity.ts'
import type {ImageMemory} from './image.ts'
import {type EraPair, type McpCost, toProxy} from './mcp.ts'
import type {SubjectId} from './options.ts'
import type {RealtimeResult} from './realtime.ts'
import type {Comparison, Result} from './rounds.ts'
import {median} from './rounds.ts'
import type {RoutingCost} from './routing.ts'
import {ALONE, FIRST_EVENT, LARGE, type Scenario, SMALL} from './scenarios.ts'
import type {Soak} from './soak.ts'
import type {Starts} from './starts.ts'
import type {Recorded} from './subjects/gateway.ts'
import type {TelemetryCost} from './telemetry.ts'
import type {TokenCost} from './tokens.ts'
import type {TranslationCost} from './translate.ts'

/** A figure beside what it should be. */
export interface Check {
  readonly what: string
  readonly target: string
  /** As it is shown; null when it was not measured. */
  readonly measured: string | null
  readonly passes: boolean | null
}

/** Everything a run can have measured. */
export interface Measured {
  readonly comparisons: readonly Comparison[]
  readonly soak?: Soak | undefined
  readonly routing?: RoutingCost | undefined
  readonly translation?: TranslationCost | undefined
  readonly image?: ImageMemory | undefined
  readonly realtime?: RealtimeResult | undefined
  readonly starts?: Starts | undefined
  /** What each of our gateways wrote down. */
  readonly recorded: readonly Recorded[]
  readonly crash?: CrashReport | undefined
  /** As these benchmarks print it. */
  readonly explain?: string | undefined
  readonly models?: string | undefined
  readonly pricing?: string | undefined
  readonly apply?: string | undefined
  readonly limits?: string | undefined
  readonly analytics?: string | undefined
  readonly pii?: string | undefined
  readonly guardrails?: string | undefined
  readonly semantic_cache?: string | undefined
  readonly journal?: string | undefined
  readonly flush?: string | undefined
  readonly usage?: string | undefined
  readonly client?: string | undefined
  readonly tokens?: TokenCost | undefined
  readonly identity?: IdentityFigures | undefined
  readonly mcp?: McpCost | undefined
  readonly telemetry?: TelemetryCost | undefined
  readonly beside?: readonly Beside[] | undefined
}

/** Every target with what was measured of it, those of parts that did not run included. */
export function checks({
  comparisons,
  soak,
  routing,
  translation,
  image,
  realtime,
  starts,
  recorded: all,
  crash,
  tokens,
  identity,
  mcp,
  telemetry,
}: Measured): readonly Check[] {
  const find = (scenario: Scenario, id: SubjectId): Result | undefined =>
    comparisons.find(each => each.scenario.name === scenario.name)?.results.find(each => each.id === id)
  const timesOf = (scenario: Scenario, base: SubjectId): number | null => {
    const ours = find(scenario, 'ours')?.best_cpu_us
    const other = find(scenario, base)?.best_cpu_us
    return ours && other ? ours / other : null
  }
  const times = (value: number) => `${value.toFixed(2)}x`
  const ms = (value: number) => `${value.toFixed(2)} ms`
  const mb = (value: number) => `${value.toFixed(1)} MB`
  const percent = (value: number) => `${value.toFixed(1)} %`
  const recorded = all.length ? all.reduce(addRecorded) : undefined
  const growth = soak ? (soak.late_mb / soak.early_mb - 1) * 100 : undefined
  return [
    most('CPU per request, 1 KB, 32 clients, to nginx', timesOf(SMALL, 'nginx'), 6, times),
    most('the same, never above', timesOf(SMALL, 'nginx'), 8, times),
    most('the same, to the peer', timesOf(SMALL, 'peer'), 0.2, times),
    most('the same, to the minimal hot path', timesOf(SMALL, 'hot-path'), 1.3, times),
    most('CPU per request, 32 KB, 32 clients, to nginx', timesOf(LARGE, 'nginx'), 8, times),
    most('latency added, one client, p50', added(find(ALONE, 'ours'), find(ALONE, 'direct')), 0.4, ms),
    most(
      'time to the first event added, 4 clients, p50',
      added(find(FIRST_EVENT, 'ours'), find(FIRST_EVENT, 'direct')),
      1.5,
      ms,
    ),
    most('resident memory after the load', soak?.rss_mb, 200, mb),
    most(
      `its growth, lowest of the calls at 95-100 % to lowest at 25-30 %${soak ? ` of ${soak.calls}` : ''}`,
      growth,
      5,
      percent,
    ),
    most(
      'a fallback of three targets whose first answers, to a single target',
      routing && routing.fallback_us / routing.single_us,
      1.1,
      times,
    ),
    most(
      'CPU of a stream of 50 chunks translated from Anthropic, to the same passed through',
      translation && translation.translated_us / translation.passed_us,
      2,
      times,
    ),
    most(
      'peak memory above idle of a chat with a picture of 10 MB, to its size, passed or translated',
      image && Math.max(...image.peaks.map(({one_mb}) => one_mb)) / image.image_mb,
      4,
      times,
    ),
    most('500 realtime sessions at one frame a second, of a core', realtime?.cpu_percent, 25, percent),
    most('`gateway version`', starts?.version_ms, 150, value => `${value.toFixed(0)} ms`),
    most('`gateway serve` ready, existing data directory', starts?.ready_ms, 1000, value => `${value.toFixed(0)} ms`),
    most('the executable', starts?.executable_mb, 140, mb),
    exact(
      'ledger entries to attempts the provider received',
      recorded && `${recorded.entries} of ${recorded.received}`,
      recorded?.entries === recorded?.received,
    ),
    exact(
      'their log rows, all priced',
      recorded && `${recorded.log_rows} rows, ${recorded.unpriced} unpriced`,
      recorded !== undefined &&
        recorded.log_rows === recorded.entries &&
        recorded.unpriced === 0 &&
        recorded.cost_usd > 0,
    ),
    exact(
      'faults of the ledger after kill -9',
      crash && `${crash.faults.length} in ${crash.rounds} rounds`,
      crash?.faults.length === 0,
    ),
    ...identityChecks(tokens, identity),
    ...mcpChecks(mcp),
    ...telemetryChecks(telemetry),
  ]
}

const SLOWEST_PATCH_MS = 300
const SLOWEST_REFUSAL_MS = 1000
const PATCHES = ['adds one member', 'removes one member', 'replaces all members']

function identityChecks(tokens: TokenCost | undefined, identity: IdentityFigures | undefined): readonly Check[] {
  const ms = (value: number) => `${value.toFixed(0)} ms`
  const patchOf = (what: string) => identity?.patches.find(each => each.what === what)?.p95_ms
  return [
    most(
      'CPU of a call with an RS256 token, to the same with a key',
      tokens && tokens.token_us / tokens.key_us,
      1.15,
      x => `${x.toFixed(2)}x`,
    ),
    ...PATCHES.map(what => most(`PATCH of a group of 1,000 that ${what}, p95`, patchOf(what), SLOWEST_PATCH_MS, ms)),
    most('a person switched off, until his key is refused', identity?.refused_ms, SLOWEST_REFUSAL_MS, ms),
    most('the same in another process', identity?.refused_elsewhere_ms, SLOWEST_REFUSAL_MS, ms),
  ]
}

/** Most times of the copying proxy's CPU, by the eras of client and server. */
const MCP_TIMES: Readonly<Record<EraPair, number>> = {
  'modern x modern': 3,
  'legacy x legacy': 3,
  'modern x legacy': 4,
  'legacy x modern': 4,
}

function mcpChecks(mcp: McpCost | undefined): readonly Check[] {
  const ways = Object.entries(MCP_TIMES) as [EraPair, number][]
  const mb = (value: number) => `${value.toFixed(0)} MB`
  return [
    ...ways.map(([way, limit]) =>
      most(
        `CPU of a tool call, ${way} (client x server), to a proxy that copies bytes`,
        mcp && toProxy(mcp, way),
        limit,
        x => `${x.toFixed(2)}x`,
      ),
    ),
    most('a tool call, latency added, one client, p50', mcp?.added_p50_ms, 1, x => `${x.toFixed(2)} ms`),
    most('memory of 1,000 idle MCP sessions of 2025-11-25, each with its stream', mcp?.idle.legacy_mb, 100, mb),
    most('memory of 1,000 idle MCP subscriptions of 2026-07-28', mcp?.idle.modern_mb, 100, mb),
    exact('MCP sessions begun for calls of the rounds', mcp && `${mcp.initialized}`, mcp?.initialized === 0),
  ]
}

/** TL20: a collector, or one that is down, is not felt. */
function telemetryChecks(cost: TelemetryCost | undefined): readonly Check[] {
  const times = (x: number) => `${x.toFixed(2)}x`
  return [
    most('CPU of a call, spans sent to a collector, to none', cost && cost.cpu_us.on / cost.cpu_us.off, 1.08, times),
    most('CPU of a call, its collector down, to none', cost && cost.cpu_us.down / cost.cpu_us.off, 1.08, times),
    most('p99 of a call, its collector down, to none', cost && cost.p99_ms.down / cost.p99_ms.off, 1.25, times),
    most('the ledger behind, its collector down', cost?.lag_ms, 250, x => `${x.toFixed(0)} ms`),
    exact('spans came to the collector', cost && `${cost.sent_bytes > 0}`, (cost?.sent_bytes ?? 0) > 0),
  ]
}

function most(what: string, value: number | null | undefined, limit: number, show: (value: number) => string): Check {
  const target = `at most ${show(limit).replace(/\.0+(?=\D|$)|(?<=\.\d*[1-9])0+/, '')}`
  if (value === null || value === undefined || !Number.isFinite(value))
    return {what, target, measured: null, passes: null}
  return {what, target, measured: show(value), passes: value <= limit}
}

function exact(what: string, measured: string | undefined, passes: boolean): Check {
  return {what, target: 'exact', measured: measured ?? null, passes: measured === undefined ? null : passes}
}

function addRecorded(one: Recorded, other: Recorded): Recorded {
  return {
    received: one.received + other.received,
    entries: one.entries + other.entries,
    log_rows: one.log_rows + other.log_rows,
    unpriced: one.unpriced + other.unpriced,
    cost_usd: one.cost_usd + other.cost_usd,
  }
}

/** What a subject adds to p50 in milliseconds: the difference in each round, and the median of these. */
export function added(subject: Result | undefined, direct: Result | undefined): number | null {
  if (!subject || !direct) return null
  return median(
    subject.samples.map(({p50_ms}, round) => {
      const base = direct.samples[round]?.p50_ms
      return p50_ms === null || base === null || base === undefined ? null : p50_ms - base
    }),
  )
}
