import {z} from 'zod'
import {CallTarget} from './call-targets.ts'
import {Handle, Name, Slug} from './names.ts'
import {pageParams} from './paging.ts'

/** The two places of guardrails: before the model is called, and before its answer is sent to the client. */
export const SIDES = ['input', 'output'] as const
export type Side = (typeof SIDES)[number]

/** When the checks of a streamed answer run (decisions: providers and guardrails). */
export const STREAM_MODES = ['after', 'window', 'buffer'] as const
export type StreamMode = (typeof STREAM_MODES)[number]

export const DEFAULT_STREAM_WINDOW_CHARS = 400

const feedback = z.strictObject({
  value: z.number().min(-10).max(10).optional(),
  weight: z.number().min(0).max(1).optional(),
  /** A text is kept under the name `note`. */
  metadata: z.union([z.record(z.string(), z.unknown()), z.string().max(2000)]).optional(),
})
const outcome = z.strictObject({feedback: feedback.optional()})

/** The effects of a saved guardrail's verdict (docs/guardrails.md, How a guardrail runs). */
export const GuardrailActions = z.strictObject({
  deny: z.boolean().optional(),
  async: z.boolean().optional(),
  sequential: z.boolean().optional(),
  on_success: outcome.optional(),
  on_fail: outcome.optional(),
  onSuccess: outcome.optional(),
  onFail: outcome.optional(),
  stream_mode: z.enum(STREAM_MODES).optional(),
  stream_window_chars: z.int().min(1).max(100_000).optional(),
  /** Its services are called on every route with a body, not on those of known dialects alone. */
  every_route: z.boolean().optional(),
})
export type GuardrailActions = z.output<typeof GuardrailActions>

/** A check as it is written in a guardrail: what it is, and with which parameters; their shape is the check's own. */
export const GuardrailCheck = z.strictObject({
  id: z.string().min(1).max(255),
  name: z.string().max(255).optional(),
  parameters: z.record(z.string(), z.unknown()).optional(),
  is_enabled: z.boolean().optional(),
})
export type GuardrailCheck = z.output<typeof GuardrailCheck>

/** A note on a call's quality, by a person or by a guardrail. */
export interface HookFeedback {
  readonly value: number
  readonly weight: number
  readonly metadata: Readonly<Record<string, unknown>>
}

/** One check's part of `hook_results`. */
export interface CheckResult {
  readonly id: string
  readonly verdict: boolean
  /** The check's own words about what it saw; `explanation` is for a person. */
  readonly data: unknown
  readonly error?: {readonly name: string; readonly message: string}
  /** Milliseconds. */
  readonly execution_time: number
  readonly transformed: boolean
  /** ISO 8601, UTC. */
  readonly created_at: string
  readonly log: unknown
  readonly fail_on_error: boolean
  /** The check does not run on this route or this side. */
  readonly skipped?: true
  readonly reason?: SkipReason
}

/**
 * `not_text`: the dialect of the body is not known, and the check asks for more than strings. `unreadable`: it, or this
 * part of it, cannot be read.
 */
export type SkipReason = 'not_text' | 'unreadable'

/** One hook's part of `hook_results`. */
export interface RanHook {
  readonly verdict: boolean
  readonly id: string
  readonly transformed: boolean
  readonly checks: readonly CheckResult[]
  readonly feedback: HookFeedback | null
  /** Milliseconds. */
  readonly execution_time: number
  readonly async: boolean
  readonly type: 'guardrail' | 'mutator'
  /** ISO 8601, UTC. */
  readonly created_at: string
  readonly deny: boolean
  /** The saved guardrail's version that ran. */
  readonly guardrail_version_id?: string
  /** In the log alone: when the checks of a streamed answer ran. */
  readonly stream_mode?: StreamMode
  /** Of a file for batches: how many of its rows were judged, how many failed, and the line of the first that did. */
  readonly rows?: {readonly judged: number; readonly failed: number; readonly line?: number}
}

export interface SkippedHook {
  readonly id: string
  readonly type: 'guardrail' | 'mutator'
  readonly skipped: true
  readonly reason?: SkipReason
  /** The unread part: the name of a part of a form, `body` for all of it. */
  readonly part?: string
  readonly stream_mode?: StreamMode
}

export type HookResult = RanHook | SkippedHook

export interface HookResults {
  readonly before_request_hooks: readonly HookResult[]
  readonly after_request_hooks: readonly HookResult[]
}

/** The treatment of calls with bodies that guardrails cannot read. */
export const UNREADABLE_BODIES = ['allow', 'deny'] as const
export type UnreadableBodies = (typeof UNREADABLE_BODIES)[number]

/** Most checks of one guardrail. */
export const MAX_CHECKS = 100

const Times = {created_at: z.iso.datetime(), last_updated_at: z.iso.datetime()}

/** A saved guardrail's row. */
export const GuardrailView = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  slug: z.string(),
  target: CallTarget,
  organisation_id: z.uuid(),
  /** Null for a guardrail of the organisation, which every workspace's calls may name. */
  workspace_id: z.uuid().nullable(),
  status: z.enum(['active', 'archived']),
  owner_id: z.string().nullable(),
  updated_by: z.string().nullable(),
  ...Times,
})

const SavedCheck = z.object({
  id: z.string(),
  name: z.string().optional(),
  parameters: z.record(z.string(), z.unknown()),
  is_enabled: z.boolean(),
})

/** With what it does; secrets are masked. */
export const GuardrailDetails = GuardrailView.extend({
  version_id: z.uuid(),
  checks: z.array(SavedCheck),
  actions: GuardrailActions,
})

/** One version of a guardrail. */
export const GuardrailVersion = GuardrailDetails.extend({version: z.int()})

export const GuardrailCreate = z.strictObject({
  name: Name,
  /** Made of the name where it is absent. */
  slug: Slug.optional(),
  /** The calls that it judges. It never changes. */
  target: CallTarget.default('llm'),
  /** Id or slug. */
  workspace_id: Handle.optional(),
  /** In place of a workspace: for all of the organisation. The caller's own; another is not found. */
  organisation_id: Handle.optional(),
  /** Parameters are the check's own. */
  checks: z.array(GuardrailCheck).min(1).max(MAX_CHECKS),
  actions: GuardrailActions,
})

/** An absent member stays; `checks` and `actions` are replaced whole. */
export const GuardrailUpdate = GuardrailCreate.pick({name: true, checks: true, actions: true}).partial()

export const GuardrailMade = z.strictObject({id: z.uuid(), slug: z.string(), version_id: z.uuid()})

export const GuardrailsQuery = z.strictObject({
  ...pageParams(),
  /** Id or slug. */
  workspace_id: Handle.optional(),
  /** The organisation's own guardrails alone, where no workspace is named. */
  organisation_id: Handle.optional(),
})

/** MCP servers, by slug, and the sides on which a guardrail judges calls of their tools. */
export const GuardrailServers = z.strictObject({
  mcp_servers: z.array(Handle).max(1000),
  run_on: z.enum(['input', 'output', 'both']).default('both'),
})
