import {z} from 'zod'
import {FeedbackView} from './feedback.ts'
import {LogMetrics, Word} from './logs.ts'

const Count = z.int().nonnegative()
const At = z.iso.datetime()

/** All calls of one trace. */
export const TraceRow = z.strictObject({
  trace_id: z.string(),
  requests: Count,
  error_count: Count,
  /** US cents. */
  cost: z.number(),
  total_tokens: Count,
  /** Milliseconds, added up. */
  latency: Count,
  first_at: At,
  last_at: At,
  object: z.literal('trace'),
})

export const TracePath = z.strictObject({traceId: Word})

/** A span: the calls that carry its id (a fallback makes several), and the spans that name it their parent. */
export interface SpanNode {
  span_id: string
  parent_span_id: string | null
  span_name: string | null
  logs: z.input<typeof LogMetrics>[]
  children: SpanNode[]
}

export const TraceView = z.strictObject({
  ...TraceRow.shape,
  /** Those without a parent, or whose parent is not of the trace. */
  spans: z.array(z.custom<SpanNode>(value => typeof value === 'object' && value !== null)),
  /** True where a trace has more calls than are shown. */
  is_cut: z.boolean(),
  feedback: z.array(FeedbackView),
})

/** Calls in the order of their time, and what they add up to. */
export const SpanList = z.strictObject({
  object: z.literal('list'),
  total: Count,
  data: z.array(LogMetrics),
  summary: z.strictObject({requests: Count, cost: z.number(), total_tokens: Count, avg_latency: z.number()}),
})
