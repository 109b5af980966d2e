import {z} from 'zod'
import {Handle} from './names.ts'
import {FirstTime} from './times.ts'

const Count = z.int().nonnegative()
const Digest = z.string().regex(/^[0-9a-f]{64}$/)
const Gate = z.enum(['strict', 'numbers', 'off'])

export const CacheQuestions = z.strictObject({
  since: FirstTime,
  /** Calls before it; the `next` of the page before. Now by default. */
  before: FirstTime.optional(),
  /** The bodies of a page are held at once. */
  limit: z.int().min(1).max(200).default(100),
  /** Id or slug. */
  workspace_id: Handle.optional(),
})

const LoggedQuestion = z.strictObject({
  log_id: z.string(),
  created_at: z.string(),
  /** Of everything but its text: only questions of one partition share answers. */
  partition: Digest,
  /** Of everything: the same request has the same. */
  digest: Digest,
  /** 32-bit floats, little endian, of length 1 together; base64. */
  vector: z.string(),
  /** Keyed digests of what the gate compares; no word of the text. */
  features: z.strictObject({
    v: z.int(),
    classes: z.record(z.string(), z.string()),
    words: z.string(),
    fillers: z.string(),
  }),
  /** True of a text that speaks of today: its answer is given for 15 minutes at most. */
  is_relative: z.boolean(),
  /** Digests of the answer's text and, where that is an object, of its JSON; null where it is not whole or not kept. */
  answer: z.strictObject({text: Digest, json: Digest.nullable()}).nullable(),
  cost_usd: z.number().nonnegative(),
})
export type LoggedQuestion = z.output<typeof LoggedQuestion>

/** One page of logged calls as the semantic cache compares them, the newest first. */
export const CacheQuestioned = z.strictObject({
  object: z.literal('cache_questions'),
  /** Null: no embedder is set, and nothing is compared. */
  embedder: z.string().nullable(),
  /** The operator's least cosine. */
  threshold: z.number(),
  gate: Gate,
  calls: Count,
  /** Calls that failed, that the cache answered, or that have no text to compare. */
  left_out: Count,
  without_body: Count,
  /** Calls whose text is too long, or for which the service gave no vector. */
  not_embedded: Count,
  /** Requests to the service for embeddings, which are charged to the caller. */
  embeddings: z.strictObject({requests: Count, cost_usd: z.number().nonnegative()}),
  data: z.array(LoggedQuestion),
  /** The `before` of the next page; null on the last. */
  next: z.string().nullable(),
})
export type CacheQuestioned = z.output<typeof CacheQuestioned>

export const CachePairs = z.strictObject({
  since: FirstTime,
  /** Calls before it; the `next` of the page before. Now by default. */
  before: FirstTime.optional(),
  /** Rows of the log whose prompts pairs are made of. */
  limit: z.int().min(1).max(200).default(50),
  /** Another seed makes other pairs of the same prompts. */
  seed: z.int().min(0).max(0xffff_ffff).default(1),
  /** Id or slug. */
  workspace_id: Handle.optional(),
})

const PairClass = z.strictObject({
  kind: z.string(),
  /** `miss`: the two sides have other answers. `hit`: one answer serves both. */
  expected: z.enum(['miss', 'hit']),
  pairs: Count,
  served: Count,
})
export type PairClass = z.output<typeof PairClass>

const WrongPair = z.strictObject({
  kind: z.string(),
  expected: z.enum(['miss', 'hit']),
  log_id: z.string(),
  a: z.string(),
  b: z.string(),
})
export type WrongPair = z.output<typeof WrongPair>

/** One page of pairs that were made of logged prompts, and the gate's judgement of them. */
export const CachePaired = z.strictObject({
  object: z.literal('cache_pairs'),
  gate: Gate,
  calls: Count,
  /** Different prompts among them. */
  prompts: Count,
  without_body: Count,
  classes: z.array(PairClass),
  /** Pairs that were not judged as expected, for a person to read; a hundred at most. */
  data: z.array(WrongPair),
  /** The `before` of the next page; null on the last. */
  next: z.string().nullable(),
})
export type CachePaired = z.output<typeof CachePaired>
