import {z} from 'zod'
import {
  DEFAULT_STREAM_WINDOW_CHARS,
  GuardrailActions,
  GuardrailCheck,
  type HookFeedback,
  MAX_CHECKS,
  type StreamMode,
} from '../schema/guardrails.ts'
import {explain} from '../schema/validation-message.ts'
import type {Prepared} from './check.ts'
import {own} from './json.ts'
import type {Registry} from './registry.ts'

/**
 * Checks that run together and what follows from their verdict: a raw hook, a shorthand or a saved guardrail, all come
 * to this.
 */
export interface Hook {
  readonly id: string
  readonly type: 'guardrail' | 'mutator'
  readonly checks: readonly HookCheck[]
  readonly deny: boolean
  readonly async: boolean
  readonly sequential: boolean
  readonly on_success: HookFeedback | null
  readonly on_fail: HookFeedback | null
  readonly guardrail_version_id: string | null
  readonly stream_mode: StreamMode
  readonly stream_window_chars: number
  /** Checks that ask a service do so on every route. */
  readonly every_route: boolean
}

export interface HookCheck {
  /** As it is written in results. */
  readonly id: string
  readonly prepared: Prepared
}

/** Something wrong in a config or a saved guardrail, at its path. */
export interface HookFault {
  readonly path: string
  readonly message: string
}

/** The form of a raw hook (docs/guardrails.md, Attach a guardrail). */
export const RawHook = GuardrailActions.extend({
  id: z.string().max(255).optional(),
  type: z.enum(['guardrail', 'mutator']).optional(),
  checks: z.array(GuardrailCheck).min(1).max(MAX_CHECKS),
  guardrail_version_id: z.string().max(255).optional(),
})

/** The keys of a hook beside its checks: in a shorthand every other key is a check. */
export const HOOK_KEYS: ReadonlySet<string> = new Set(Object.keys(RawHook.shape).filter(key => key !== 'checks'))

export interface MakeOptions {
  readonly registry: Registry
  readonly path: string
  /** For a hook that names none. */
  readonly id: string
  readonly type: 'guardrail' | 'mutator'
  /** Notes feedback although none is configured: +5 and -5, as saved guardrails do. */
  readonly has_feedback?: boolean
}

/**
 * Reads a hook with its checks; undefined when something is wrong, which is in `faults` then, or when every check is
 * switched off.
 */
export function makeHook(
  input: unknown,
  {registry, path, ...options}: MakeOptions,
  faults: HookFault[],
): Hook | undefined {
  const read = RawHook.safeParse(input)
  if (!read.success) {
    faults.push({path, message: explain(read.error, RawHook, input, {root: 'the hook'})})
    return undefined
  }
  const {
    checks,
    id,
    type,
    guardrail_version_id,
    stream_mode,
    stream_window_chars,
    every_route,
    deny,
    async,
    sequential,
    ...after
  } = read.data
  const before = faults.length
  const enabled = checks.flatMap((each, index) => {
    // As it was written: the schema's own copy has lost a key that is called __proto__, which is to be refused.
    const parameters = own(own(own(input, 'checks'), index), 'parameters')
    const prepared = prepare({...each, parameters}, registry, `${path}.checks[${index}]`, faults)
    return prepared && each.is_enabled !== false ? [prepared] : []
  })
  if (faults.length > before || !enabled.length) return undefined
  const feedback = (given: GivenFeedback | undefined, value: number) =>
    given || options.has_feedback
      ? {value: given?.value ?? value, weight: given?.weight ?? 1, metadata: metadataOf(given?.metadata)}
      : null
  return {
    id: id ?? options.id,
    type: type ?? options.type,
    checks: enabled,
    deny: deny ?? false,
    async: async ?? false,
    sequential: sequential ?? false,
    on_success: feedback((after.on_success ?? after.onSuccess)?.feedback, 5),
    on_fail: feedback((after.on_fail ?? after.onFail)?.feedback, -5),
    guardrail_version_id: guardrail_version_id ?? null,
    stream_mode: stream_mode ?? 'after',
    stream_window_chars: stream_window_chars ?? DEFAULT_STREAM_WINDOW_CHARS,
    every_route: every_route ?? false,
  }
}

interface GivenFeedback {
  readonly value?: number | undefined
  readonly weight?: number | undefined
  readonly metadata?: string | Readonly<Record<string, unknown>> | undefined
}

function metadataOf(metadata: GivenFeedback['metadata']): HookFeedback['metadata'] {
  return typeof metadata === 'string' ? (metadata ? {note: metadata} : {}) : (metadata ?? {})
}

function prepare(
  given: {readonly id: string; readonly parameters: unknown},
  registry: Registry,
  path: string,
  faults: HookFault[],
): HookCheck | undefined {
  const check = registry.find(given.id)
  if (!check) {
    faults.push({path: `${path}.id`, message: registry.unknown(given.id)})
    return undefined
  }
  const prepared = check.ready(given.parameters)
  if (typeof prepared !== 'string') return {id: check.id, prepared}
  faults.push({path, message: `${check.id}: ${prepared}`})
  return undefined
}
