import {z} from 'zod'
import type {ImaginedCaller} from './explanations.ts'
import {Handle} from './names.ts'
import {FirstTime} from './times.ts'

export const ReplayCreate = z.strictObject({
  /** A config as JSON, or the slug of a saved one. */
  config: z.union([Handle, z.record(z.string(), z.unknown())]),
  since: FirstTime,
  /** Calls before it; the `next` of the page before. Now by default. */
  before: FirstTime.optional(),
  limit: z.int().min(1).max(1000).default(500),
  /** Id or slug. */
  workspace_id: Handle.optional(),
})

/** Calls that went one way and would go another. */
const Move = z.strictObject({
  /** `@slug/model`, `kind/model`, or `refused 400`. */
  from: z.string(),
  to: z.string(),
  calls: z.int(),
  /** How many of them a draw decided: another draw may send them elsewhere. */
  by_lot: z.int(),
  /** Ids of log rows, the newest first; three at most. */
  examples: z.array(z.string()),
})

/** One page of a replay, the newest calls first: what a config would have done with them. */
export const Replay = z.strictObject({
  object: z.literal('replay'),
  calls: z.int(),
  changed: z.int(),
  /** Calls that were refused before any config applied, for a limit or a bad body: they are not compared. */
  left_out: z.int(),
  /** Calls whose body a condition asks for, and whose body is not kept. */
  without_body: z.int(),
  moves: z.array(Move),
  /** The `before` of the next page; null on the last. */
  next: z.string().nullable(),
})
export type Replay = z.output<typeof Replay>
export type ReplayMove = Replay['moves'][number]

/** A call of the log, as a replay needs it. */
export interface LoggedCall {
  /** Of the row that ended it. */
  readonly id: string
  readonly call_id: string
  readonly created_at_ms: number
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly metadata: Readonly<Record<string, string>>
  /** The model that it was taken to request; null when it named none. */
  readonly model: string | null
  readonly is_stream: boolean
  /** The targets that it called, in order. */
  readonly targets: readonly LoggedTarget[]
  /** The body that was kept, where a condition asks for it. */
  readonly body: Readonly<Record<string, unknown>> | null
}

export interface LoggedTarget {
  /** `@slug` of a managed provider, or a kind; null where it got to none. */
  readonly provider: string | null
  readonly model: string | null
  readonly status: number
}

/** The decision of a config for a call. */
export interface Decision {
  readonly to: string
  readonly by_lot: boolean
}

/** Decides logged calls again, under one config. */
export interface Replayer {
  /** True when a condition or a sticky choice asks for members of the body. */
  readonly reads_bodies: boolean
  /**
   * Finds the target at which the call would have ended. Targets answer as in the log, 200 when it has no answer; draws
   * are made from the call's id, for sticky callers from their key.
   */
  decide(call: LoggedCall): Promise<Decision>
}

/** Refuses what is no config; `config` is its JSON, or the slug of a saved one. */
export type OpenReplay = (config: string, caller: ImaginedCaller) => Promise<Replayer>

/** A target in words: `@slug/model`. */
export function labelOf(provider: string, model: string | null): string {
  return model === null ? provider : `${provider}/${model}`
}
