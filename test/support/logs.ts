import type {LogRecord} from '../../src/schema/records.ts'
import type {Db} from '../../src/store/database.ts'
import type {LogsTable, UsageHourlyTable} from '../../src/store/tables/traffic.ts'

/** Columns of a row, and what its detail says. */
type LogSeed = Partial<Omit<LogsTable, 'detail'>> & Partial<Omit<LogRecord, keyof LogsTable>> & {readonly id: string}

/**
 * Writes a row of the log; a plain, good call where nothing is said. No sum has it, so that sums are not asked from now
 * on.
 */
export async function insertLog(db: Db, row: LogSeed) {
  const recorded = {
    parent_span_id: null,
    span_name: null,
    method: 'POST',
    url: '/v1/chat/completions',
    upstream_url: null,
    is_stream: false,
    is_passthrough: false,
    cache_status: 'DISABLED',
    retry_count: 0,
    mode: 'single',
    option_path: 'config',
    request_bytes: 0,
    response_bytes: 0,
    error: null,
    warning: null,
    auth_ms: 0,
    plan_ms: 0,
    connect_ms: null,
    first_byte_ms: null,
    last_byte_ms: 0,
    overhead_ms: 0,
    keeps_bodies: true,
    prompt: undefined,
    mcp: undefined,
  }
  const columns = {
    call_id: `call-${row.id}`,
    trace_id: 'trace',
    span_id: `span-${row.id}`,
    created_at: '2026-03-04T05:00:00.000Z',
    organisation_id: 'org',
    workspace_id: 'ws-1',
    api_key_id: 'key-1',
    user_id: null,
    provider_id: null,
    provider_slug: null,
    integration_id: null,
    config_id: null,
    provider: 'openai',
    model: 'gpt',
    endpoint: 'chatComplete',
    status: 200,
    prompt_tokens: 0,
    completion_tokens: 0,
    usage: '{}',
    usage_source: 'provider',
    cost_nanousd: 0,
    unpriced: 0,
    outcome: 'ok',
    delivered: 1,
    metadata: '{}',
  }
  const said = Object.entries(row)
  const inDetail = (name: string) => Object.hasOwn(recorded, name)
  const detail = {...recorded, ...Object.fromEntries(said.filter(([name]) => inDetail(name)))}
  const summed = {duration_ms: Math.round(detail.last_byte_ms), cache_status: detail.cache_status}
  const given = Object.fromEntries(said.filter(([name]) => !inDetail(name))) as Partial<LogsTable>
  await db
    .insertInto('traffic.logs')
    .values({...columns, ...summed, ...given, id: row.id, detail: JSON.stringify(detail)})
    .execute()
  await db.updateTable('traffic.meta').set({value: '9999'}).where('key', '=', 'log_hourly_from').execute()
}

/** Writes a row of the hourly sums. */
export async function insertHour(db: Db, row: Partial<UsageHourlyTable> & {hour: string}) {
  const plain = {
    organisation_id: 'org',
    workspace_id: 'ws-1',
    api_key_id: 'key-1',
    provider_slug: '',
    provider: 'openai',
    model: 'gpt',
    requests: row.unpriced ?? 1,
    failures: 0,
    unpriced: 0,
    prompt_tokens: 0,
    completion_tokens: 0,
    cost_nanousd: 0,
  }
  await db
    .insertInto('traffic.usage_hourly')
    .values({...plain, ...row, model_key: row.model ?? plain.model})
    .execute()
}
