import {z} from 'zod'
import {parseJson} from '../base/json-object.ts'
import {Metadata} from './metadata.ts'
import {pageParams, wholeInQuery} from './paging.ts'
import {LISTED_TEXT, listPattern} from './query-lists.ts'
import {JSON_OBJECT} from './tags.ts'
import {FirstTime, LastTime, Time} from './times.ts'
import {USAGE_SOURCES} from './usage.ts'

const MAX_LISTED = 100
const MAX_LIST_LENGTH = 8000

/** A name or an id in a query. PostgreSQL takes no NUL in a text. */
export const Word = z
  .string()
  .min(1)
  .max(255)
  .refine(text => !text.includes('\0'), 'must hold no NUL character')
const Tokens = wholeInQuery(0, Number.MAX_SAFE_INTEGER).optional()
const Cents = numberInQuery(0, 1e8).optional()
const Feedback = numberInQuery(-10, 10).optional()

const WorkspaceFields = {
  /** Id or slug; a key of a workspace sees its own alone, an admin key without it sees all of the organisation. */
  workspace_id: Word.optional(),
  /** The same, in the words of the analytics. */
  workspace_slug: Word.optional(),
}

/** The filters of a list of log rows; lists are by commas. */
export const LogFilters = {
  ...WorkspaceFields,
  time_of_generation_min: FirstTime.optional(),
  time_of_generation_max: LastTime.optional(),
  total_units_min: Tokens,
  total_units_max: Tokens,
  prompt_token_min: Tokens,
  prompt_token_max: Tokens,
  completion_token_min: Tokens,
  completion_token_max: Tokens,
  /** US cents. */
  cost_min: Cents,
  cost_max: Cents,
  ai_model: listInQuery(Word).optional(),
  /** `provider__model` each. */
  ai_org_model: listInQuery(
    Word.refine(text => text.indexOf('__') > 0, 'expected provider__model').transform(providerAndModel),
    '[^,]+__[^,]*',
  ).optional(),
  status_code: listInQuery(
    z
      .string()
      .refine(text => /^[1-5]\d\d$/.test(text), 'expected an HTTP status, 100 to 599')
      .transform(Number),
    '[1-5]\\d\\d',
  ).optional(),
  /** Slugs or ids of providers. */
  virtual_keys: listInQuery(Word).optional(),
  /** Slugs or ids. */
  configs: listInQuery(Word).optional(),
  api_key_ids: listInQuery(Word).optional(),
  trace_id: listInQuery(Word).optional(),
  span_id: Word.optional(),
  /** A JSON object of texts: rows that carry all of them. */
  metadata: z.string().max(MAX_LIST_LENGTH).meta({pattern: JSON_OBJECT}).transform(readJson).pipe(Metadata).optional(),
  /** No row names a prompt yet: none is found by this. */
  prompt_slug: Word.optional(),
  /** Of the mean of what was thought of the trace: value times weight. */
  weighted_feedback_min: Feedback,
  weighted_feedback_max: Feedback,
}
export const LogQuery = z.strictObject({...pageParams(), ...LogFilters})
export type LogQuery = z.output<typeof LogQuery>

/** How keys of objects are made (LOG_STORE_FILE_PATH_FORMAT). */
export const LogFormat = z.enum(['v1', 'v2'])
export type LogFormat = z.output<typeof LogFormat>

export const LogPath = z.strictObject({logId: Word})
export const LogGetQuery = z.strictObject({
  ...WorkspaceFields,
  /** How a log store of files would find the row. Rows are found by their id here. */
  path_format: LogFormat.optional(),
  created_at: Time.optional(),
})

const Text = z.string().nullable()
const Count = z.int().nonnegative()
const Phase = z.number().nonnegative()

/** One target called, its retries inside, in numbers (core rule 2). */
export const LogMetrics = z.strictObject({
  id: z.string(),
  organisation_id: z.string(),
  organisation_name: Text,
  workspace_slug: Text,
  api_key_id: z.string(),
  /** Null where there is no such key any more. */
  api_key_name: z.string().nullable(),
  user_id: Text,
  /** The slug of the managed provider. */
  virtual_key: Text,
  prompt_id: Text,
  prompt_version_id: Text,
  prompt_slug: Text,
  /** The slug of the saved config. */
  config: Text,
  config_id: Text,
  /** The version that was current then; with one row alone. */
  config_version_id: Text,
  created_at: z.iso.datetime(),
  is_success: z.boolean(),
  ai_org: z.string(),
  ai_model: Text,
  endpoint: z.string(),
  req_units: Count,
  res_units: Count,
  total_units: Count,
  /** Tokens by class, and other units by name. */
  usage: z.record(z.string(), z.unknown()),
  usage_source: z.enum(USAGE_SOURCES),
  /** US cents, exact. */
  cost: z.number().nonnegative(),
  cost_currency: z.literal('USD'),
  /** True where something was used that has no price; it counts 0. */
  unpriced: z.boolean(),
  /** The classes of tokens and the units of it; empty where the model has no price at all. */
  unpriced_units: z.array(z.string()).readonly(),
  /** Served in a mode whose own price is not known, and charged at the standard one. */
  mode_unpriced: z.string().nullable(),
  /**
   * Numbers in the provider's report of usage that the gateway does not know, by their paths: at kinds that charge they
   * may cost.
   */
  usage_unknown: z.array(z.string()).readonly(),
  /** True where a request was sent whole and no answer began: the estimate of its prompt is charged. */
  unanswered: z.boolean(),
  /** The URL of the call; the requested path when it was not sent. */
  request_url: z.string(),
  request_method: z.string(),
  response_status_code: z.int(),
  response_time: Count,
  is_proxy_call: z.boolean(),
  cache_status: z.string(),
  cache_type: z.null(),
  stream_mode: z.union([z.literal(0), z.literal(1)]),
  retry_success_count: Count,
  trace_id: z.string(),
  span_id: z.string(),
  span_name: Text,
  parent_span_id: Text,
  /** The server's own id of the call, which the ledger goes by. */
  internal_trace_id: z.string(),
  mode: z.string(),
  last_used_option_index: Count,
  /** The kind of call: a route of a provider as it is, a saved prompt, or a route of the gateway; a span that came. */
  source: z.enum(['proxy', 'prompt', 'gateway', 'otel']),
  /** As the client's library says it in its headers, where those are kept; with one row alone. */
  runtime: Text,
  runtime_version: Text,
  sdk_version: Text,
  /** The parts of its object's key, when bodies are in a store of objects. */
  log_store_file_path_format: LogFormat,
  metadata: z.strictObject({key: z.array(z.string()), value: z.array(z.string())}),
  outcome: z.string(),
  /** False when the client had left before the end. */
  delivered: z.boolean(),
  error: Text,
  warning: Text,
  /** The `content-encoding` of a request that was decoded, and left without one. */
  request_encoding: z.string().optional(),
  /**
   * The answer to the same in other words that was found in the cache: the cosine of the two prompts, and the id of the
   * row that brought it. `served` false: it was only counted (`SEMANTIC_CACHE_MODE=shadow`); `agreement` compares it
   * with the provider's answer then, and the bodies of the two rows are the two answers.
   */
  similar: z
    .strictObject({
      similarity: z.number(),
      log_id: z.string(),
      served: z.boolean(),
      agreement: z.enum(['equal', 'unknown']).optional(),
    })
    .optional(),
  /**
   * Of a span that an application sent. `own_call_id` names the call through this gateway of which the span is the
   * application's view, and whose row has the cost; `is_charged` is true for the work of a model.
   */
  span: z
    .strictObject({
      kind: z.string(),
      start_ns: z.string(),
      end_ns: z.string(),
      operation: Text,
      is_charged: z.boolean(),
      scope: z.string(),
      dropped: z.number(),
      flags: z.array(z.enum(['times', 'tokens', 'cut'])).readonly(),
      own_call_id: Text,
    })
    .optional(),
  /** Whole milliseconds, as clients read them; `phases_ms` has the fractions. */
  request_parsing_time: Count,
  pre_processing_time: Count,
  cache_processing_time: Count,
  response_parsing_time: Count,
  gateway_processing_time: Count,
  upstream_response_time: Count,
  /**
   * Milliseconds: of the entry checks, of finding the target, of waiting for a connection; until the first and the last
   * byte; in the gateway itself.
   */
  phases_ms: z.strictObject({
    auth: Phase,
    plan: Phase,
    connect: Phase.nullable(),
    first_byte: Phase.nullable(),
    last_byte: Phase,
    overhead: Phase,
  }),
})

const Headers = z.record(z.string(), z.string())
/** JSON where it is JSON, else text; what cannot be decoded as it was stored: `{content_encoding, base64}`. */
const Body = z.unknown().optional()
const Side = z.strictObject({
  url: z.string().optional(),
  method: z.string().optional(),
  headers: Headers.optional(),
  body: Body,
})

/** A row of the log with its bodies, as far as that is kept. */
export const LogView = z.strictObject({
  _id: z.string(),
  organisation_id: z.string(),
  created_at: z.iso.datetime(),
  log_format: LogFormat,
  /** True when a body was longer than the log keeps: what is shown is its beginning. */
  is_cut: z.boolean(),
  request: z.strictObject({
    url: z.string(),
    method: z.string(),
    headers: Headers.optional(),
    body: Body,
    gatewayHeaders: Headers,
  }),
  response: z.strictObject({
    status: z.int(),
    headers: Headers.optional(),
    body: Body,
    responseTime: Count,
    lastUsedOptionJsonPath: z.string(),
  }),
  metrics: LogMetrics,
  /** The client's request, before it was translated for the provider. */
  finalUntransformedRequest: Side.optional(),
  /** The address it was sent to; the bytes that were sent are not kept. */
  transformedRequest: Side.optional(),
  /** The provider's answer. */
  originalResponse: Side.optional(),
  /** Why there are no bodies, where the log store has them and does not answer. */
  log_store_error: z.string().optional(),
})

/** A decimal number in a query, which is text. */
function numberInQuery(least: number, most: number) {
  const number = (text: unknown) =>
    typeof text === 'string' && /^-?\d{1,12}(?:\.\d{1,12})?$/.test(text) ? Number(text) : text
  return z.preprocess(number, z.number().min(least).max(most))
}

/** Values by commas. */
export function listInQuery<T extends z.ZodType<unknown, string>>(item: T, pattern = LISTED_TEXT) {
  return z
    .string()
    .max(MAX_LIST_LENGTH)
    .meta({pattern: listPattern(pattern, MAX_LISTED)})
    .transform(text => text.split(',').map(each => each.trim()))
    .pipe(z.array(item).max(MAX_LISTED))
}

/** The model may hold `__` too; no provider does. */
function providerAndModel(text: string): {provider: string; model: string} {
  const at = text.indexOf('__')
  return {provider: text.slice(0, at), model: text.slice(at + 2)}
}

export function readJson(text: string, context: z.RefinementCtx): unknown {
  try {
    return parseJson(text)
  } catch {
    context.addIssue({code: 'custom', message: 'must be a JSON object of texts'})
    return z.NEVER
  }
}
