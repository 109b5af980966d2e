import {readFileSync, writeFileSync} from 'node:fs'
import {cpus, release, totalmem} from 'node:os'
import {join} from 'node:path'
import {BESIDE_SCENARIOS, type Beside} from './beside.ts'
import {type McpCost, toProxy, WAYS} from './mcp.ts'
import type {Comparison, Result} from './rounds.ts'
import {added, type Check, type Measured} from './targets.ts'
import {TELEMETRY_WAYS, type TelemetryCost} from './telemetry.ts'

const PAGE = join(import.meta.dirname, '../../docs/performance.md')
const FROM = '<!-- figures -->'
const TO = '<!-- end of figures -->'

/** Everything as Markdown: the machine, the targets, a table a scenario, and what was left out. */
export function reportOf(measured: Measured, checks: readonly Check[], skipped: readonly string[]): string {
  const {
    comparisons,
    soak,
    translation,
    image,
    starts,
    crash,
    explain,
    models,
    analytics,
    limits,
    pricing,
    apply,
    pii,
    guardrails,
    semantic_cache,
    journal,
    flush,
    usage,
    client,
    tokens,
    identity,
    mcp,
    telemetry,
    beside,
  } = measured
  const blocks = [`Measured on ${machine()}.`, checkTable(checks)]
  for (const comparison of comparisons) blocks.push(`### ${titleOf(comparison)}`, comparisonTable(comparison))
  if (soak) {
    blocks.push(
      `### Soak\n\n${soak.calls} calls in ${soak.took_s.toFixed(0)} s. Resident memory: lowest early ${figure(soak.early_mb, 1)} MB, ` +
        `lowest late ${figure(soak.late_mb, 1)} MB, with the last call ${figure(soak.end_mb, 1)} MB, after the load and at rest ${figure(soak.rss_mb, 1)} MB.`,
    )
  }
  if (translation) {
    const {passed_us, translated_us} = translation
    blocks.push(
      `### A stream of 50 chunks, translated\n\nCPU of one stream, the best round of each: ${figure(passed_us, 0)} µs passed through, ` +
        `${figure(translated_us, 0)} µs translated from Anthropic's words.`,
    )
  }
  if (image) {
    const rows = image.peaks.map(({way, one_mb, row_mb}) => [
      way,
      figure(one_mb, 1),
      `${figure(one_mb / image.image_mb, 2)}x`,
      figure(row_mb, 1),
    ])
    blocks.push(
      `### A chat with a picture of ${figure(image.image_mb, 0)} MB\n\n${table(['way', 'peak above idle MB', 'to the picture', 'five in a row MB'], rows)}`,
    )
  }
  if (starts) {
    blocks.push(
      `### Start (${starts.command})\n\n\`gateway version\` ${figure(starts.version_ms, 0)} ms, \`gateway serve\` ready after ` +
        `${figure(starts.ready_ms, 0)} ms on an existing data directory.`,
    )
  }
  if (crash) {
    const {rounds, sent, received, finished, whole, tools, cut_questions, entries, recovered, faults} = crash
    blocks.push(
      `### kill -9 under load\n\n${rounds} rounds, ${sent} calls sent, ${received} attempts received by the provider and ${finished} finished, ` +
        `${whole} answers whole at the client, ${tools} of them of tools; ${cut_questions} questions were cut off; ${entries} ledger entries, ${recovered} of them recovered; ${faults.length} faults.`,
      ...(faults.length
        ? [
            faults
              .slice(0, 20)
              .map(fault => `- ${fault}`)
              .join('\n'),
          ]
        : []),
    )
  }
  if (tokens || identity) blocks.push(`### Identity\n\n${identityLines(tokens, identity)}`)
  if (mcp) blocks.push(`### MCP\n\n${mcpTable(mcp)}`)
  if (telemetry) blocks.push(`### Telemetry\n\n${telemetryTable(telemetry)}`)
  for (const each of beside ?? []) blocks.push(besideBlock(each))
  if (limits) blocks.push(`### Limits\n\n\`\`\`text\n${limits.trim()}\n\`\`\``)
  if (analytics) blocks.push(`### Analytics\n\n\`\`\`text\n${analytics.trim()}\n\`\`\``)
  if (models) blocks.push(`### Lists of models\n\n\`\`\`text\n${models.trim()}\n\`\`\``)
  if (explain) blocks.push(`### Explain and replay\n\n\`\`\`text\n${explain.trim()}\n\`\`\``)
  if (pricing) blocks.push(`### Prices\n\n\`\`\`text\n${pricing.trim()}\n\`\`\``)
  if (apply) blocks.push(`### Resources in git\n\n\`\`\`text\n${apply.trim()}\n\`\`\``)
  if (pii)
    blocks.push(
      `### Personal data found, on the held-out half of the labelled set\n\n\`\`\`text\n${pii.trim()}\n\`\`\``,
    )
  if (guardrails) blocks.push(`### Guardrails\n\n\`\`\`text\n${guardrails.trim()}\n\`\`\``)
  if (semantic_cache) blocks.push(`### Semantic cache\n\n\`\`\`text\n${semantic_cache.trim()}\n\`\`\``)
  if (journal) blocks.push(`### Journal\n\n\`\`\`text\n${journal.trim()}\n\`\`\``)
  if (flush) blocks.push(`### Flush\n\n\`\`\`text\n${flush.trim()}\n\`\`\``)
  if (usage) blocks.push(`### Usage\n\n\`\`\`text\n${usage.trim()}\n\`\`\``)
  if (client) blocks.push(`### Client\n\n\`\`\`text\n${client.trim()}\n\`\`\``)
  if (skipped.length) blocks.push(`### Left out\n\n${skipped.map(each => `- ${each}`).join('\n')}`)
  return blocks.join('\n\n')
}

function titleOf({scenario: {title}, results}: Comparison): string {
  return `${title[0]!.toUpperCase()}${title.slice(1)} (${results[0]!.samples.length} rounds)`
}

/** CPU of tool calls by the eras of client and server. */
function mcpTable({copied_us, ways}: McpCost): string {
  const copied = (['modern', 'legacy'] as const).map(era => [
    ...[`a proxy that copies bytes, ${era}`, figure(copied_us[era], 0), '1.00x'],
  ])
  const ours = WAYS.map(way => [...[way, figure(ways[way], 0), `${figure(toProxy({copied_us, ways}, way), 2)}x`]])
  return table(['client x server', 'CPU µs of a call, best', 'to the proxy'], [...copied, ...ours])
}

/** A call without telemetry, with a collector, and with one that is down. */
function telemetryTable({cpu_us, p99_ms}: TelemetryCost): string {
  const rows = TELEMETRY_WAYS.map(way => [
    ...[way, figure(cpu_us[way], 0), `${figure(cpu_us[way] / cpu_us.off, 2)}x`, figure(p99_ms[way], 2)],
  ])
  return table(['collector', 'CPU µs of a call, best', 'to none', 'p99 ms, best'], rows)
}

/** Ours and another gateway, scenario by scenario; times of one are those beyond the provider's own. */
function besideBlock({processors, direct, ours, peer}: Beside): string {
  const rows = BESIDE_SCENARIOS.flatMap(({name, is_stream}) =>
    (['cpu_us', 'p50_ms', 'p99_ms', 'p999_ms'] as const).flatMap(of => {
      const [mine, theirs, alone] = [ours, peer, direct].map(each => each.scenarios[name]?.[of] ?? null)
      if (mine === null || theirs === null || mine === undefined || theirs === undefined) return []
      const digits = of === 'cpu_us' ? 0 : 2
      const what = is_stream && of !== 'cpu_us' ? `first event, ${of}` : of
      return [
        [
          `${name}, ${what}`,
          figure(alone ?? null, digits),
          figure(theirs, digits),
          figure(mine, digits),
          `${figure(mine / theirs, 2)}x`,
        ],
      ]
    }),
  )
  const rest = (['cpu_ms_per_s', 'wakeups_per_s'] as const).map(of => [
    ...[`at rest, ${of}`, figure(direct.rest[of], 1), figure(peer.rest[of], 1), figure(ours.rest[of], 1), ''],
  ])
  const memory = ['resident, MB', figure(direct.rss_mb, 0), figure(peer.rss_mb, 0), figure(ours.rss_mb, 0), '']
  const heads = ['what', 'provider', 'peer', 'ours', 'ours to the peer']
  const where = processors === 'one' ? 'one processor' : 'all processors'
  return `### Beside another gateway, on ${where}\n\n${table(heads, [...rows, memory, ...rest])}`
}

/** The machine in a sentence. */
export function machine(): string {
  const all = cpus()
  const memory_gb = Math.round(totalmem() / 2 ** 30)
  return `${all.length} x ${all[0]?.model.trim() ?? 'unknown processor'}, ${memory_gb} GB, Linux ${release()}, Node ${process.versions.node}`
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [heads, heads.map((_, at) => (at === 0 ? '---' : '---:')), ...rows]
  return lines.map(cells => `| ${cells.join(' | ')} |`).join('\n')
}

/** The targets with pass or fail. */
function checkTable(checks: readonly Check[]): string {
  const verdict = ({passes}: Check) => (passes === null ? 'not measured' : passes ? 'pass' : '**fail**')
  return table(
    ['target', 'limit', 'measured', ''],
    checks.map(check => [check.what, check.target, check.measured ?? '-', verdict(check)]),
  )
}

/** One scenario, a row a subject. CPU is compared to nginx, where it ran, else to the provider. */
function comparisonTable({scenario, results}: Comparison): string {
  const direct = results[0]!
  const base = results.find(result => result.id === 'nginx') ?? direct
  const times = (result: Result) =>
    result.best_cpu_us && base.best_cpu_us ? `${(result.best_cpu_us / base.best_cpu_us).toFixed(2)}x` : '-'
  const heads = [
    'subject',
    scenario.is_stream ? 'streams/s' : 'req/s',
    scenario.is_stream ? 'first event p50 ms' : 'p50 ms',
    'added ms',
    'p99 ms',
    ...(scenario.is_stream ? ['event on its way, p50 added µs', 'CPU µs per event'] : []),
    'CPU µs, best',
    'median',
    '±',
    `to ${base.name}`,
    'RSS MB',
    'failed',
  ]
  const rows = results.map(result => {
    const {per_s, p50_ms, p99_ms, cpu_us, event_cpu_us, way_p50_ms, rss_mb} = result.median
    const way =
      way_p50_ms === null || direct.median.way_p50_ms === null ? null : (way_p50_ms - direct.median.way_p50_ms) * 1000
    return [
      result.name,
      figure(per_s, scenario.is_stream ? 1 : 0),
      figure(p50_ms, 3),
      figure(added(result, direct), 3),
      figure(p99_ms, 2),
      ...(scenario.is_stream ? [figure(way, 0), figure(event_cpu_us, 1)] : []),
      figure(result.best_cpu_us, 0),
      figure(cpu_us, 0),
      result.spread === null ? '-' : `${(result.spread * 100).toFixed(0)} %`,
      times(result),
      figure(rss_mb, 0),
      String(result.failed),
    ]
  })
  return table(heads, rows)
}

function identityLines(tokens: Measured['tokens'], identity: Measured['identity']): string {
  const lines = tokens
    ? [
        `CPU of one call, the best round of each: ${figure(tokens.key_us, 0)} µs with a key, ` +
          `${figure(tokens.token_us, 0)} µs with a token.`,
      ]
    : []
  if (!identity) return lines.join('\n')
  const {patches, synchronised} = identity
  const rows = patches.map(({what, p50_ms, p95_ms}) => [what, figure(p50_ms, 1), figure(p95_ms, 1)])
  const {users, groups, took_s} = synchronised
  const rate = figure((users + groups) / took_s, 0)
  lines.push(
    table(['PATCH of a group of 1,000 that', 'p50 ms', 'p95 ms'], rows),
    `${users} users and ${groups} groups are synchronised in ${figure(took_s, 0)} s: ${rate} a second.`,
  )
  return lines.join('\n\n')
}

function figure(value: number | null | undefined, digits: number): string {
  return value === null || value === undefined || !Number.isFinite(value) ? '-' : value.toFixed(digits)
}

/** Puts the figures of a run into docs/performance.md. */
export function writePage(figures: string): void {
  const page = readFileSync(PAGE, 'utf8')
  const from = page.indexOf(FROM)
  const to = page.indexOf(TO)
  if (from < 0 || to < from) throw new Error(`docs/performance.md has no ${FROM} … ${TO}`)
  writeFileSync(PAGE, `${page.slice(0, from + FROM.length)}\n\n${figures.trim()}\n\n${page.slice(to)}`)
}
