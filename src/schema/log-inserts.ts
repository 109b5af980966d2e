import {z} from 'zod'
import {Word} from './logs.ts'

const MAX_AT_ONCE = 500
const Headers = z.record(z.string().min(1).max(256), z.string().max(65_536))
const Body = z.record(z.string(), z.unknown())

/** A call that was made without the gateway (docs/analytics.md, Import calls made elsewhere). */
const One = z.strictObject({
  request: z.strictObject({
    url: z.string().min(1).max(8192),
    method: z
      .string()
      .regex(/^[A-Za-z]{1,16}$/, 'expected an HTTP method')
      .default('POST')
      .transform(method => method.toUpperCase()),
    headers: Headers.default({}),
    body: Body,
    /** The kind of provider; without it the host of the URL is named. */
    provider: Word.optional(),
  }),
  response: z.strictObject({
    status: z.int().min(100).max(599).default(200),
    headers: Headers.default({}),
    body: Body,
    /** Milliseconds. */
    response_time: z.int().min(0).max(86_400_000).default(0),
    streamingMode: z.union([z.boolean(), z.string().max(64)]).optional(),
  }),
  /** The trace's place, and texts to filter by. `user` stands for `_user`. */
  metadata: z
    .looseObject({
      trace_id: Word.optional(),
      span_id: Word.optional(),
      span_name: z.string().max(255).optional(),
      parent_span_id: Word.optional(),
    })
    .default({}),
})
export type LogInsert = z.output<typeof One>

export const LogInserts = z.union([One, z.array(One).min(1).max(MAX_AT_ONCE)])
