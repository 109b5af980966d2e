import {z} from 'zod'
import {ENDPOINTS} from './endpoints.ts'
import {Handle} from './names.ts'
import {Time} from './times.ts'

const MAX_HEADER_LENGTH = 64 * 1024

/** A call that is not made: what a client would send. */
export const DescribedRequest = z.strictObject({
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).default('POST'),
  /** With its query, from `/v1/` on. */
  path: z
    .string()
    .max(8192)
    .regex(/^\/v1\/[^\s#]*$/, 'expected a path such as /v1/chat/completions')
    .default('/v1/chat/completions'),
  headers: z
    .record(
      z.string().regex(/^[\w!#$%&'*+.^`|~-]{1,128}$/, 'expected the name of a header'),
      z.string().max(MAX_HEADER_LENGTH),
    )
    .optional(),
  /** JSON; a text goes as it is. */
  body: z.unknown().optional(),
})
export type DescribedRequest = z.output<typeof DescribedRequest>

/** The assumed answer of a target: a status, or that it does not answer. */
const Answered = z.union([z.int().min(200).max(599), z.enum(['timeout', 'unreachable'])])
export type Answered = z.output<typeof Answered>

/** By the path of a target; of a list each retry takes the next, and the last one stays. */
export const Answers = z.record(
  z.string().regex(/^config(?:\.targets\[\d{1,4}\])*$/, 'expected the path of a target, such as config.targets[0]'),
  z.union([Answered, z.array(Answered).min(1).max(6)]),
)
export type Answers = z.output<typeof Answers>

/** A config as JSON, or the slug of a saved one. */
const Config = z.union([Handle, z.record(z.string(), z.unknown())])

export const ExplainCreate = z.strictObject({
  config: Config.optional(),
  request: DescribedRequest,
  /** The seed of draws: the same seed, the same draws. */
  seed: z.int().min(0).max(Number.MAX_SAFE_INTEGER).default(0),
  /** When the call is taken to come in; now by default. */
  at: Time.optional(),
  /** The assumed answers of targets; 200 by default. */
  answers: Answers.optional(),
  /** Id or slug. */
  workspace_id: Handle.optional(),
})
export type ExplainCreate = z.output<typeof ExplainCreate>

const Text = z.string()
const Ms = z.int().nonnegative()
const Params = z.record(z.string(), z.unknown())

const Choice = z.discriminatedUnion('mode', [
  z.strictObject({mode: z.enum(['single', 'fallback']), path: Text, to: Text.nullable()}),
  z.strictObject({
    mode: z.literal('loadbalance'),
    path: Text,
    to: Text.nullable(),
    weights: z.array(z.strictObject({path: Text, weight: z.number()})),
    /** 0 to 1, without 1. */
    drawn: z.number().nullable(),
    sticky_key: Text.nullable(),
  }),
  z.strictObject({
    mode: z.literal('conditional'),
    path: Text,
    to: Text.nullable(),
    /** `holds` is null for what is not evaluated any more. */
    conditions: z.array(z.strictObject({text: Text, holds: z.boolean().nullable(), to: Text})),
  }),
])

const RefusedView = z.strictObject({code: Text, status: z.int(), message: Text})

const End = z.strictObject({
  /** The client's status. */
  status: z.int(),
  /** The target whose answer that is; null when the gateway itself refuses. */
  target: Text.nullable(),
  /** -1: still failing, and no retry is left. */
  retry_attempt_count: z.int(),
  refusal: RefusedView.nullable(),
})

const Visited = z.strictObject({
  target: Text,
  because: z.array(Choice),
  tries: z.array(z.strictObject({wait_ms: Ms, status: z.int()})),
})

const Way = z.strictObject({visits: z.array(Visited), end: End, because: z.array(Choice)})

const Change = z.strictObject({
  key: Text,
  change: z.enum(['set', 'added', 'removed', 'shortened']),
  /** Absent for what was removed. */
  value: z.unknown().optional(),
  because: z.enum(['override_params', 'default_params', 'drop_params', 'model', 'stream_usage']),
})

const Body = z.strictObject({
  form: z.enum(['none', 'as sent', 'changed', 'translated']),
  bytes: z.int(),
  changes: z.array(Change),
  /** In the provider's format; a text when it is no JSON. */
  translated: z.unknown().optional(),
})

const Price = z.strictObject({
  /** The origin of the price: a package of the catalogue, `local` or `custom`. */
  source: Text,
  usd_per_million_tokens: z.record(z.string(), z.number()),
  usd_per_unit: z.record(z.string(), z.number()),
})

const Cache = z.strictObject({
  status: z.enum(['DISABLED', 'MISS', 'REFRESH']),
  mode: z.enum(['simple', 'semantic']).nullable(),
  max_age_s: z.int().nullable(),
  /** SHA-256 in hex. */
  digest: Text.nullable(),
  /** Of the mode `semantic`: if other words are searched for, else why not. */
  semantic: z
    .strictObject({
      searches: z.boolean(),
      because: Text.nullable(),
      embedder: Text,
      /** The least cosine of two prompts. */
      threshold: z.number(),
      gate: z.enum(['strict', 'numbers', 'off']),
    })
    .optional(),
  /** The properties that calls must share to share an answer, beside their request; null when nothing is kept. */
  partition: z
    .strictObject({
      organisation_id: Text,
      workspace_id: Text,
      namespace: Text.nullable(),
      metadata: z.record(z.string(), z.string()).nullable(),
    })
    .nullable(),
})

/** One place that the config can lead to, with what it inherits. */
const Target = z.strictObject({
  path: Text,
  name: Text.nullable(),
  /** The kind; null where it is not known. */
  provider: Text.nullable(),
  managed: Text.nullable(),
  host: Text.nullable(),
  model: Text.nullable(),
  request_timeout_ms: Ms.nullable(),
  retry: z
    .strictObject({attempts: z.int(), on_status_codes: z.array(z.int()), use_retry_after_header: z.boolean()})
    .nullable(),
  cache: Cache,
  /** Of a saved config; taken to be closed. */
  has_circuit: z.boolean(),
  params: z.strictObject({default_params: Params, override_params: Params, drop_params: z.array(Text)}),
  /** The request that would be sent; secrets are masked. Null when the target refuses. */
  sends: z.strictObject({method: Text, url: Text, headers: z.record(z.string(), z.string()), body: Body}).nullable(),
  price: Price.nullable(),
  /** Null where nothing names a model. */
  unpriced: z.boolean().nullable(),
  refusal: RefusedView.nullable(),
  /** The target after it, by what it answers; nothing: its answer goes to the client. */
  goes_on: z.array(z.strictObject({on_status_codes: z.array(z.int()).nullable(), to: Text})),
})

/**
 * The outcome of a call, and the reasons. The same question gets the same bytes, as long as nothing was changed that it
 * names.
 */
export const Explanation = z.strictObject({
  object: z.literal('explanation'),
  seed: z.int(),
  /** As the request has it; null: now. */
  at: Text.nullable(),
  config: z.strictObject({id: Text.nullable(), slug: Text.nullable()}).nullable(),
  warnings: z.array(Text),
  call: z.strictObject({
    method: Text,
    path: Text,
    endpoint: z.enum(['proxy', ...new Set(ENDPOINTS.map(({name}) => name))]),
    model: Text.nullable(),
    is_stream: z.boolean(),
    metadata: z.record(z.string(), z.string()),
  }),
  /** With the answers that were given, 200 where none was. */
  way: Way,
  /** The same when every target fails, so that the next one is called. */
  failing: Way,
  /** The branches that choose among the targets, outermost first. */
  branches: z.array(
    z.strictObject({
      path: Text,
      name: Text.nullable(),
      mode: z.enum(['single', 'fallback', 'loadbalance', 'conditional']),
    }),
  ),
  targets: z.array(Target),
})
export type Explanation = z.output<typeof Explanation>
export type ExplainedTarget = Explanation['targets'][number]
export type ExplainedWay = Explanation['way']
export type ExplainedChoice = z.output<typeof Choice>

/** The workspace that an imagined call comes from, and what it gives every call. */
export interface ImaginedCaller {
  readonly organisation_id: string
  readonly workspace_id: string
  readonly workspace_slug: string
  readonly metadata: Readonly<Record<string, string>>
  readonly config_id: string | null
  /** The column text of its list of models, and whose it is in words. */
  readonly models?: {readonly whose: string; readonly column: string | null} | undefined
}

/** Refuses what is no config and no call; what a target refuses is part of the answer. */
export type Explain = (request: Omit<ExplainCreate, 'workspace_id'>, caller: ImaginedCaller) => Promise<Explanation>
