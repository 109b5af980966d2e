import {z} from 'zod'
import {DescribedRequest} from './explanations.ts'
import {GuardrailActions, GuardrailCheck, MAX_CHECKS, SIDES} from './guardrails.ts'
import {Handle} from './names.ts'
import {FirstTime} from './times.ts'

/** A saved guardrail by its id or slug, or one that is not saved. */
const Named = z.union([
  Handle,
  z.strictObject({
    name: z.string().max(255).optional(),
    checks: z.array(GuardrailCheck).min(1).max(MAX_CHECKS),
    actions: GuardrailActions.optional(),
  }),
])
export type NamedGuardrail = z.output<typeof Named>

export const GuardrailTest = z.strictObject({
  guardrail: Named,
  request: DescribedRequest,
  /** An answer to judge too. */
  response: z.strictObject({status: z.int().min(100).max(599).default(200), body: z.unknown()}).optional(),
  /** Id or slug. */
  workspace_id: Handle.optional(),
})
export type GuardrailTest = z.output<typeof GuardrailTest>

const Running = z.strictObject({
  /** Null for one that is not saved. */
  id: z.uuid().nullable(),
  slug: z.string().nullable(),
  version_id: z.uuid().nullable(),
})

const TriedSide = z.strictObject({
  side: z.enum(SIDES),
  /** `denied`: the call would end with 446. `failed`: with 246, or in the log alone (`async`). */
  outcome: z.enum(['passed', 'failed', 'denied', 'skipped']),
  /** As in `hook_results`. */
  result: z.looseObject({id: z.string(), type: z.string()}),
  is_transformed: z.boolean(),
  /** As the checks left it. */
  body: z.unknown(),
  /** Headers to send to the provider besides. */
  headers: z.record(z.string(), z.string()),
})

/** The verdict of a guardrail on a call that is not made. */
export const GuardrailTested = z.strictObject({
  object: z.literal('guardrail_test'),
  guardrail: Running,
  is_denied: z.boolean(),
  sides: z.array(TriedSide),
})
export type GuardrailTested = z.output<typeof GuardrailTested>

export const GuardrailEvaluate = z.strictObject({
  guardrail: Named,
  since: FirstTime,
  /** Calls before it; the `next` of the page before. Now by default. */
  before: FirstTime.optional(),
  /** The bodies of a page are held at once. */
  limit: z.int().min(1).max(200).default(100),
  sides: z.array(z.enum(SIDES)).min(1).max(2).optional(),
  /** Id or slug. */
  workspace_id: Handle.optional(),
})

const Count = z.int().nonnegative()

const EvaluatedCheck = z.strictObject({
  side: z.enum(SIDES),
  /** Its place among those that are switched on, from 0: a check may be there twice. */
  index: Count,
  id: z.string(),
  passed: Count,
  failed: Count,
  /** Could not judge; such pass, unless `failOnError`. */
  errored: Count,
  skipped: Count,
  transformed: Count,
  /** Of calls that it failed: ids of log rows, the newest first; three at most. */
  examples: z.array(
    z.strictObject({
      log_id: z.string(),
      explanation: z.string().nullable(),
      /** The first hundred characters of what was judged, where the check shows them, as redactions left them. */
      excerpt: z.string().nullable(),
    }),
  ),
})

/** One page of an evaluation, the newest calls first: what a guardrail would have done with calls that were made. */
export const GuardrailEvaluated = z.strictObject({
  object: z.literal('guardrail_evaluation'),
  guardrail: Running,
  calls: Count,
  /** Calls of which a side was judged. */
  judged: Count,
  /** Calls that it would have failed, on either side; and those among them that it would have ended. */
  failed: Count,
  denied: Count,
  transformed: Count,
  /** Calls of routes that have no text. */
  left_out: Count,
  /**
   * Calls of which a body that would be judged is not kept, or only in part, or is a stream in words of its provider's
   * own.
   */
  without_body: Count,
  checks: z.array(EvaluatedCheck),
  /** The `before` of the next page; null on the last. */
  next: z.string().nullable(),
})
export type GuardrailEvaluated = z.output<typeof GuardrailEvaluated>
export type EvaluatedCheck = z.output<typeof EvaluatedCheck>

export const GuardrailCoverage = z.strictObject({
  guardrail: Named,
  /** Id or slug. */
  workspace_id: Handle.optional(),
})

const CoveredSide = z.strictObject({
  side: z.enum(SIDES),
  /**
   * `dialect`: its texts. `strings`: every string of it. `every_route`: the same, when the guardrail asks for it.
   * `none`: nothing.
   */
  reads: z.enum(['dialect', 'strings', 'every_route', 'none']),
  /** Checks that judge it. */
  judged: z.array(z.string()),
  skipped: z.array(
    z.strictObject({
      id: z.string(),
      /**
       * `not_text`: it asks for more than strings. `no_body`, `no_text`: there is nothing to judge. `not_here`: it does
       * not run on this route.
       */
      reason: z.enum(['other_side', 'no_body', 'no_text', 'not_text', 'not_here']),
    }),
  ),
})

/** The parts of each operation of a provider that a guardrail judges. */
export const GuardrailCovered = z.strictObject({
  object: z.literal('guardrail_coverage'),
  guardrail: Running,
  operations: z.array(
    z.strictObject({
      /** `proxy`: whatever the gateway does not know. */
      operation: z.string(),
      method: z.string(),
      path: z.string(),
      sides: z.array(CoveredSide),
      /**
       * Checks that judge each row of its file, in the words of the row's route; for operations that upload or run a
       * file for batches.
       */
      rows: z.array(z.string()).optional(),
    }),
  ),
  /** The treatment of calls with files, sound and longer bodies, which cannot be read. */
  unreadable: z.strictObject({bodies: z.enum(['allow', 'deny']), over_mb: Count}),
})
export type GuardrailCovered = z.output<typeof GuardrailCovered>
