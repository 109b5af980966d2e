import {z} from 'zod'

/** A job in the background, as the process that has it last left it. */
export const WorkerView = z.strictObject({
  name: z.string(),
  /** The process that did it last, or does it now: host and process id. */
  holder: z.string().nullable(),
  status: z.enum(['running', 'waiting', 'failing']),
  last_run_at: z.iso.datetime().nullable(),
  duration_ms: z.int().nullable(),
  next_run_at: z.iso.datetime(),
  runs: z.int(),
  failures: z.int(),
  /** Of the last run; null when it succeeded. */
  last_error: z.string().nullable(),
  object: z.literal('worker'),
})
