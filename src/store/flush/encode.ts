import {cleaned, cutTo, MAX_ID_BYTES, MAX_MODEL_BYTES, MAX_PATH_BYTES, storedMetadata} from '../../base/stored-text.ts'
import {type Hop, MAX_HOPS} from '../../schema/hops.ts'
import {apiKeyIdOf} from '../../schema/principal.ts'
import type {LogRecord, Settlement} from '../../schema/records.ts'
import {INPUT_CLASSES, OUTPUT_CLASSES, type TokenClass, type Usage} from '../../schema/usage.ts'
import {durationOf, isRescued} from './duration.ts'
import type {Detail, EntryValues, LedgerLine, RowValues} from './lines.ts'

/**
 * A settlement as the journal holds it, up to three lines of JSON: the values of `ENTRY_COLUMNS`, whose text is what
 * the hash of the entry covers; where there is a row of the log, its `RowValues`; and its detail, which is stored
 * unchanged. Without a row the second line is the client's trace, if there is one. Arrays, as this is done for every
 * call.
 */
export function encodeSettlement(settlement: Settlement): string {
  const text = linesOf(settlement)
  return text.includes('\\u') ? linesOf(JSON.parse(JSON.stringify(settlement), storable) as Settlement) : text
}

function linesOf(settlement: Settlement): string {
  const entry = JSON.stringify(entryOf(settlement))
  const {log, w3c} = settlement
  if (log) return `${entry}\n${JSON.stringify(rowOf(settlement, log))}\n${JSON.stringify(detailOf(log, w3c))}`
  return w3c ? `${entry}\n${JSON.stringify(w3c)}` : entry
}

/** Whatever brought it: clients choose metadata and models. */
function storable(_: string, value: unknown): unknown {
  return typeof value === 'string' ? cleaned(value) : value
}

const name = (text: string) => cutTo(text, MAX_ID_BYTES)
const nameOrNull = (text: string | null) => (text === null ? null : cutTo(text, MAX_ID_BYTES))
const path = (text: string | null) => (text === null ? null : cutTo(text, MAX_PATH_BYTES))

function entryOf(settlement: Settlement): EntryValues {
  const {hops} = settlement
  const more = hops ? {...settlement, hops: hops.map(storedHop)} : (settlement as Omit<Settlement, 'hops'>)
  const {prompt_tokens, completion_tokens, usage} = counted(settlement.usage ?? {}, more)
  return [
    settlement.call_id,
    settlement.attempt,
    name(settlement.trace_id),
    settlement.organisation_id,
    settlement.workspace_id,
    name(apiKeyIdOf(settlement.principal)),
    nameOrNull(settlement.user_id),
    settlement.provider_id,
    settlement.provider_slug,
    settlement.integration_id,
    settlement.config_id,
    settlement.provider,
    settlement.model === null ? null : cutTo(settlement.model, MAX_MODEL_BYTES),
    settlement.endpoint,
    settlement.admitted_at,
    settlement.settled_at,
    settlement.outcome,
    settlement.status,
    usage,
    settlement.usage_source,
    prompt_tokens,
    completion_tokens,
    settlement.cost_nanousd,
    settlement.unpriced ? 1 : 0,
    settlement.delivered ? 1 : 0,
    JSON.stringify(settlement.counter_keys),
  ]
}

function metadataText(metadata: LogRecord['metadata']): string {
  for (const _ in metadata) return JSON.stringify(storedMetadata(metadata))
  return '{}'
}

function rowOf({outcome, covers, ending}: Settlement, log: LogRecord): RowValues {
  return [
    log.id,
    name(log.span_id),
    log.created_at,
    log.response_status,
    metadataText(log.metadata),
    durationOf(log),
    log.cache_status,
    log.retry_count,
    isRescued(log, outcome),
    covers ?? null,
    log.hook_results ? 1 : 0,
    ending ?? 'call',
  ]
}

/** The members that no column of the row has. */
function detailOf(log: LogRecord, w3c: Settlement['w3c']): Detail {
  return {
    parent_span_id: nameOrNull(log.parent_span_id),
    span_name: nameOrNull(log.span_name),
    method: log.method,
    url: path(log.url) ?? '',
    upstream_url: path(log.upstream_url),
    is_stream: log.is_stream,
    is_passthrough: log.is_passthrough,
    mode: log.mode,
    option_path: log.option_path,
    request_bytes: log.request_bytes,
    response_bytes: log.response_bytes,
    error: log.error,
    warning: log.warning,
    auth_ms: log.auth_ms,
    plan_ms: log.plan_ms,
    connect_ms: log.connect_ms,
    first_byte_ms: log.first_byte_ms,
    last_byte_ms: log.last_byte_ms,
    overhead_ms: log.overhead_ms,
    keeps_bodies: log.keeps_bodies,
    request_encoding: log.request_encoding,
    prompt: log.prompt,
    hook_results: log.hook_results,
    mcp: log.mcp,
    similar: log.similar,
    w3c: log.w3c ?? w3c,
    span: log.span,
    received_at: log.received_at,
  }
}

/** The part of the usage that has no price or is not known, as the column of usage shows it beside the counts. */
export interface Unpriced {
  readonly unpriced_units?: readonly string[] | undefined
  readonly mode_unpriced?: string | undefined
  readonly usage_unknown?: readonly string[] | undefined
  readonly unanswered?: true | undefined
  readonly hops?: readonly StoredHop[] | undefined
}

/**
 * Tokens and usage as the columns hold them: usage is a JSON object of the classes and units that are not zero, and of
 * what has no price.
 */
export function counted(
  usage: Partial<Usage>,
  {unpriced_units, mode_unpriced, usage_unknown, unanswered, hops}: Unpriced = {},
): Pick<LedgerLine, 'prompt_tokens' | 'completion_tokens' | 'usage'> {
  let prompt_tokens = 0
  let completion_tokens = 0
  let text = ''
  for (const name of INPUT_CLASSES) {
    const count = usage[name]
    if (!count) continue
    prompt_tokens += count
    text += `${text && ','}"${name}":${count}`
  }
  for (const name of OUTPUT_CLASSES) {
    const count = usage[name]
    if (!count) continue
    completion_tokens += count
    text += `${text && ','}"${name}":${count}`
  }
  const units = usage.units && Object.entries(usage.units).filter(([, count]) => count)
  if (units && units.length > 0) text += `${text && ','}"units":${JSON.stringify(Object.fromEntries(units))}`
  if (unpriced_units && unpriced_units.length > 0)
    text += `${text && ','}"unpriced_units":${JSON.stringify(unpriced_units)}`
  if (mode_unpriced) text += `${text && ','}"mode_unpriced":${JSON.stringify(mode_unpriced)}`
  if (usage_unknown && usage_unknown.length > 0)
    text += `${text && ','}"usage_unknown":${JSON.stringify(usage_unknown)}`
  if (unanswered) text += `${text && ','}"unanswered":true`
  if (hops && hops.length > 0) text += `${text && ','}"hops":${JSON.stringify(hops.slice(0, MAX_HOPS))}`
  return {prompt_tokens, completion_tokens, usage: `{${text}}`}
}

/** A part of a call as its row tells it: what is zero, and what goes without saying, is left out. */
export interface StoredHop extends Readonly<Partial<Record<TokenClass, number>>> {
  readonly type?: string
  readonly model?: string
  readonly is_billed?: boolean
}

function storedHop({model, type, usage, is_billed}: Hop): StoredHop {
  const counts = [...INPUT_CLASSES, ...OUTPUT_CLASSES].flatMap(name =>
    usage[name] ? [[name, usage[name]] as const] : [],
  )
  return {
    ...(type && {type: cutTo(type, MAX_ID_BYTES)}),
    ...(model !== null && {model: cutTo(model, MAX_MODEL_BYTES)}),
    ...Object.fromEntries(counts),
    ...(!is_billed && {is_billed}),
  }
}
