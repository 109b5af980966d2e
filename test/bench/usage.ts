import {spawn} from 'node:child_process'
import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {performance} from 'node:perf_hooks'
import Sqlite from 'better-sqlite3'
import {openStore} from '../../src/store/dialect/index.ts'
import {usageSums} from '../../src/store/usage-sums.ts'
import {gatewayCommand} from './subjects/gateway.ts'

/**
 * How long usage takes to be summed over 30 days, of a ledger of many entries: 100 keys with 10 models each, every
 * hour. The query alone, and the whole command. `node test/bench/usage.ts [entries]`; the folder is on the disk of
 * TMPDIR.
 */
const entries = Number(process.argv[2] ?? 10_000_000)
const HOURS = 720
const KEYS = 100
const MODELS = 10
const ROUNDS = 5
const FIRST = Math.floor(Date.now() / 3_600_000) * 3600 - (HOURS - 1) * 3600
const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-usage-'))

try {
  await command('init')
  const db = new Sqlite(join(folder, 'gateway.db'))
  db.prepare('attach database ? as traffic').run(join(folder, 'traffic.db'))
  db.pragma('traffic.synchronous = OFF')
  const {organisation_id, id: workspace_id} = db.prepare('select organisation_id, id from workspaces').get() as Record<
    string,
    string
  >
  const began = performance.now()
  fill(db, organisation_id!, workspace_id!)
  const {sums} = db.prepare('select count(*) as sums from traffic.usage_hourly').get() as {sums: number}
  db.close()
  console.log(
    `${entries} entries and ${sums} hourly sums, made in ${((performance.now() - began) / 1000).toFixed(0)} s`,
  )

  const store = await openStore({kind: 'sqlite', folder, role: 'operator'})
  const from = new Date(FIRST * 1000).toISOString()
  for (const by of [['model'], ['key'], ['key', 'model'], ['day']] as const) {
    const took = await timed(() =>
      usageSums(store.db, by, {organisation_id: organisation_id!, workspace_id: undefined, from, until: undefined}),
    )
    console.log(`usage by ${by}, the query: ${took}`)
  }
  await store.close()
  console.log(
    `gateway usage --by model --since 30d, the command: ${await timed(() => command('usage', '--by', 'model', '--since', '30d'))}`,
  )
} finally {
  rmSync(folder, {recursive: true, force: true})
}

/** Entries in one transaction, made by SQLite itself, and the sums that they come to. */
function fill(db: Sqlite.Database, organisation_id: string, workspace_id: string) {
  db.transaction(() => {
    db.prepare(
      `with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < @entries)
       insert into traffic.ledger_entries (call_id, attempt, trace_id, organisation_id, workspace_id, api_key_id, provider, model, endpoint,
         admitted_at, settled_at, outcome, status, usage, usage_source, prompt_tokens, completion_tokens, cost_nanousd, unpriced, delivered,
         counter_keys, writer, chain)
       select printf('call-%012d', i), 1, printf('trace-%012d', i), @organisation_id, @workspace_id, 'key-' || (i % ${KEYS}), 'openai',
         'model-' || (i / ${KEYS} % ${MODELS}), 'chatComplete', at.text, at.text, 'ok', 200,
         '{"input_uncached_tokens":200,"output_text_tokens":100}', 'provider', 200, 100, 103500, 0, 1, '[]', 'bench', ''
       from (select i, strftime('%Y-%m-%dT%H:%M:%S.000Z', ${FIRST} + i * ${HOURS * 3600 - 1} / @entries, 'unixepoch') as text from n) at`,
    ).run({entries, organisation_id, workspace_id})
    db.prepare(
      `insert into traffic.usage_hourly (hour, organisation_id, workspace_id, api_key_id, provider_slug, provider, model, model_key, requests, failures,
         unpriced, prompt_tokens, completion_tokens, cost_nanousd)
       select substr(admitted_at, 1, 13) || ':00:00.000Z', organisation_id, workspace_id, api_key_id, '', provider, model, model, count(*), 0, 0,
         sum(prompt_tokens), sum(completion_tokens), sum(cost_nanousd)
       from traffic.ledger_entries group by 1, 3, 4, 6, 7`,
    ).run()
  })()
}

/**
 * The fastest of some rounds, and the processor's share of it in this process: others may be at work on the machine.
 */
async function timed(work: () => Promise<unknown>): Promise<string> {
  const took: {readonly ms: number; readonly cpu_ms: number}[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const [began, cpu] = [performance.now(), process.cpuUsage()]
    await work()
    const {user, system} = process.cpuUsage(cpu)
    took.push({ms: performance.now() - began, cpu_ms: (user + system) / 1000})
  }
  const {ms, cpu_ms} = took.toSorted((one, other) => one.ms - other.ms)[0]!
  return `${ms.toFixed(0)} ms (processor of this process: ${cpu_ms.toFixed(0)} ms), the fastest of ${ROUNDS}`
}

function command(...argv: string[]): Promise<void> {
  const [program, ...words] = gatewayCommand(false)
  const child = spawn(program!, [...words, ...argv, '--data-dir', folder], {stdio: ['ignore', 'ignore', 'inherit']})
  return new Promise((resolve, reject) =>
    child.on('exit', code =>
      code === 0 ? resolve() : reject(new Error(`gateway ${argv.join(' ')} ended with ${code}`)),
    ),
  )
}
