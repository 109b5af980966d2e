import type {z} from 'zod'
import {Refusal} from '../base/errors.ts'
import {scaleDecimal} from '../pricing/decimal.ts'
import {isOwn, ownHeaders} from '../schema/headers.ts'
import {LogGetQuery, LogMetrics, LogPath, LogQuery, LogView} from '../schema/logs.ts'
import {list, listOf} from '../schema/paging.ts'
import {isReceived} from '../schema/received-spans.ts'
import {isSuccess} from '../schema/success.ts'
import type {UsageSource} from '../schema/usage.ts'
import type {Settings} from '../settings/index.ts'
import {configVersionAt} from '../store/configs.ts'
import type {Unpriced} from '../store/flush/encode.ts'
import {findLog, type LogFilter, type LogRow, type LogScope, listLogs} from '../store/logs.ts'
import type {LogBodiesTable} from '../store/tables/traffic.ts'
import {readLogBody} from './log-bodies.ts'
import {type OperationCall, operation} from './operation.ts'
import {type CallerScope, found, namedWorkspace} from './tenancy.ts'
import {visibleTo} from './visible.ts'

const tag = 'Logs'

/** The log: one row for each target of a call. Written by the data plane, read here. */
export const logs = [
  operation({
    id: 'logs.list',
    tag,
    method: 'GET',
    path: '/logs',
    always_paged: true,
    summary: 'List the rows of the log, newest first',
    scopes: ['logs.list'],
    query: LogQuery,
    reply: listOf(LogMetrics),
    handle: listed,
  }),
  operation({
    id: 'logs.get',
    tag,
    method: 'GET',
    path: '/logs/:logId',
    summary: 'Show a row of the log with what was said',
    scopes: ['logs.view', 'logs.read', 'completions.write', 'logs.write'],
    role_needs: 'logs.view',
    params: LogPath,
    query: LogGetQuery,
    reply: LogView,
    handle: shown,
  }),
] as const

/** The part of the log that the caller may see, by its request: archived workspaces have a past too. */
export async function logScope(
  call: CallerScope,
  place: {workspace_id?: string | undefined; workspace_slug?: string | undefined},
): Promise<LogScope> {
  const workspace = await namedWorkspace(call, place.workspace_id ?? place.workspace_slug, {archived: true})
  return {organisation_id: call.actor.organisation_id, workspace_id: workspace?.id, ...visibleTo(call.actor)}
}

async function listed(call: OperationCall<undefined, typeof LogQuery>) {
  const {app, db, query} = call
  const scope = await logScope(call, query)
  await app.settled?.()
  return list(await listLogs(app.reads ?? db, filterOf(scope, query), query), row => metricsOf(row, app.settings))
}

async function shown(call: OperationCall<typeof LogPath, typeof LogGetQuery>): Promise<z.input<typeof LogView>> {
  const {app, db, params, query} = call
  const scope = await logScope(call, query)
  await app.settled?.()
  const row = found(await findLog(db, scope, params.logId), 'log')
  const {bodies, log_store_error} = await bodiesOf(app, row)
  const request = bodies && {
    headers: JSON.parse(bodies.request_headers) as Record<string, string>,
    body: bodies.request_body ? await readLogBody(bodies.request_body, null) : undefined,
  }
  const response = bodies && {
    headers: JSON.parse(bodies.response_headers) as Record<string, string>,
    body: bodies.response_body ? await readLogBody(bodies.response_body, bodies.response_encoding) : undefined,
  }
  const [gatewayHeaders, headers] = parted(request?.headers ?? {})
  const metrics = {
    ...metricsOf(row, app.settings),
    ...librarySaid(gatewayHeaders),
    config_version_id:
      row.config_id === null ? null : ((await configVersionAt(db, row.config_id, row.created_at)) ?? null),
  }
  return {
    _id: row.id,
    organisation_id: row.organisation_id,
    created_at: row.created_at,
    log_format: metrics.log_store_file_path_format,
    is_cut: bodies?.cut === 1,
    request: {url: row.url, method: row.method, ...(request && {headers, body: request.body}), gatewayHeaders},
    response: {
      status: row.status,
      ...response,
      responseTime: metrics.response_time,
      lastUsedOptionJsonPath: row.option_path,
    },
    metrics,
    ...(request && {finalUntransformedRequest: {url: row.url, method: row.method, headers, body: request.body}}),
    ...(row.upstream_url !== null && {transformedRequest: {url: row.upstream_url, method: row.method}}),
    ...(response && {originalResponse: {url: metrics.request_url, method: row.method, ...response}}),
    ...(log_store_error && {log_store_error}),
  }
}

/** A row is shown without its bodies when they are elsewhere and out of reach now. */
async function bodiesOf(
  app: OperationCall['app'],
  row: LogRow,
): Promise<{bodies?: LogBodiesTable | undefined; log_store_error?: string}> {
  try {
    return {bodies: await app.bodies(row)}
  } catch (fault) {
    if (fault instanceof Refusal && fault.code === 'log_store.failed') return {log_store_error: fault.message}
    throw fault
  }
}

/** The requested rows, by the filters of its query. */
export function filterOf(scope: LogScope, query: Filters): LogFilter {
  return {
    ...scope,
    created_at: {least: query.time_of_generation_min, most: query.time_of_generation_max},
    total_tokens: {least: query.total_units_min, most: query.total_units_max},
    prompt_tokens: {least: query.prompt_token_min, most: query.prompt_token_max},
    completion_tokens: {least: query.completion_token_min, most: query.completion_token_max},
    cost_nanousd: {least: nanousd(query.cost_min, 'up'), most: nanousd(query.cost_max, 'down')},
    models: query.ai_model,
    provider_models: query.ai_org_model,
    statuses: query.status_code,
    providers: query.virtual_keys,
    configs: query.configs,
    api_key_ids: query.api_key_ids,
    trace_id: query.trace_id,
    span_id: query.span_id,
    prompt_slug: query.prompt_slug,
    metadata: query.metadata,
    feedback: {least: query.weighted_feedback_min, most: query.weighted_feedback_max},
  }
}

type Filters = Omit<LogQuery, 'current_page' | 'page_size'>

export const NANOUSD_A_CENT = 1e7

/** US cents as whole nano-dollars, exactly: a bound finer than one is moved to the next that a cost can be. */
function nanousd(cents: number | undefined, to: 'up' | 'down'): number | undefined {
  if (cents === undefined) return undefined
  const {numerator, denominator} = scaleDecimal(String(cents), 7)!
  return Number((numerator + (to === 'up' ? denominator - 1n : 0n)) / denominator)
}

/**
 * A row as clients read it. What is not in a store of objects will be there as the settings say. Both cost and a cent
 * are whole numbers, so that their quotient is the double nearest to the true cost.
 */
export function metricsOf(
  row: LogRow,
  {log_store_file_path_format}: Pick<Settings, 'log_store_file_path_format'>,
): z.input<typeof LogMetrics> {
  const is_success = isSuccess(row.status, row.outcome)
  const metadata = JSON.parse(row.metadata) as Record<string, string>
  const {
    unpriced_units = [],
    mode_unpriced = null,
    usage_unknown = [],
    unanswered = false,
    ...usage
  } = JSON.parse(row.usage) as Unpriced & Record<string, unknown>
  return {
    id: row.id,
    organisation_id: row.organisation_id,
    organisation_name: row.organisation_name,
    workspace_slug: row.workspace_slug,
    api_key_id: row.api_key_id,
    api_key_name: row.api_key_name,
    user_id: row.user_id,
    virtual_key: row.provider_slug,
    prompt_id: row.prompt?.id ?? null,
    prompt_version_id: row.prompt?.version_id ?? null,
    prompt_slug: row.prompt?.slug ?? null,
    config: row.config_slug,
    config_id: row.config_id,
    config_version_id: null,
    created_at: row.created_at,
    is_success,
    ai_org: row.provider,
    ai_model: row.model,
    endpoint: row.endpoint,
    req_units: row.prompt_tokens,
    res_units: row.completion_tokens,
    total_units: row.prompt_tokens + row.completion_tokens,
    usage,
    usage_source: row.usage_source as UsageSource,
    cost: row.cost_nanousd / NANOUSD_A_CENT,
    cost_currency: 'USD',
    unpriced: row.unpriced === 1,
    unpriced_units,
    mode_unpriced,
    usage_unknown,
    unanswered,
    request_url: row.upstream_url ?? row.url,
    request_method: row.method,
    response_status_code: row.status,
    response_time: whole(row.last_byte_ms),
    is_proxy_call: row.is_passthrough,
    cache_status: row.cache_status,
    cache_type: null,
    stream_mode: row.is_stream ? 1 : 0,
    retry_success_count: is_success ? row.retry_count : 0,
    trace_id: row.trace_id,
    span_id: row.span_id,
    span_name: row.span_name,
    parent_span_id: row.parent_span_id,
    internal_trace_id: row.call_id,
    mode: row.mode,
    last_used_option_index: Number(/\[(\d+)\][^[\]]*$/.exec(row.option_path)?.[1] ?? 0),
    source: isReceived(row.endpoint) ? 'otel' : row.is_passthrough ? 'proxy' : row.prompt ? 'prompt' : 'gateway',
    runtime: null,
    runtime_version: null,
    sdk_version: null,
    log_store_file_path_format: row.log_format ?? log_store_file_path_format,
    metadata: {key: Object.keys(metadata), value: Object.values(metadata)},
    outcome: row.outcome,
    delivered: row.delivered === 1,
    error: row.error,
    warning: row.warning,
    ...(row.request_encoding === undefined ? {} : {request_encoding: row.request_encoding}),
    ...(row.similar === undefined ? {} : {similar: row.similar}),
    ...(row.span === undefined ? {} : {span: row.span}),
    request_parsing_time: whole(row.plan_ms),
    pre_processing_time: whole(row.auth_ms),
    // no cache is looked up, and answers are passed on unchanged
    cache_processing_time: 0,
    response_parsing_time: 0,
    gateway_processing_time: whole(row.overhead_ms),
    upstream_response_time: whole(row.last_byte_ms - row.overhead_ms),
    phases_ms: {
      auth: fine(row.auth_ms),
      plan: fine(row.plan_ms),
      connect: row.connect_ms === null ? null : fine(row.connect_ms),
      first_byte: row.first_byte_ms === null ? null : fine(row.first_byte_ms),
      last_byte: fine(row.last_byte_ms),
      overhead: fine(row.overhead_ms),
    },
  }
}

/** Milliseconds as a whole number, and to the microsecond. */
const whole = (ms: number) => Math.max(0, Math.round(ms))
const fine = (ms: number) => Math.max(0, Math.round(ms * 1000) / 1000)

/** The headers in which client libraries describe themselves, under either prefix. */
function librarySaid(headers: Readonly<Record<string, string>>) {
  const {values} = ownHeaders(headers)
  return {
    runtime: values.runtime ?? null,
    runtime_version: values['runtime-version'] ?? null,
    sdk_version: values['package-version'] ?? null,
  }
}

/** Our headers, and the others. */
function parted(headers: Readonly<Record<string, string>>): [Record<string, string>, Record<string, string>] {
  const entries = Object.entries(headers)
  return [
    Object.fromEntries(entries.filter(([name]) => isOwn(name))),
    Object.fromEntries(entries.filter(([name]) => !isOwn(name))),
  ]
}
