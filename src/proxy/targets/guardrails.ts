import {createHash} from 'node:crypto'
import {Refusal} from '../../base/errors.ts'
import {attach, type DefaultGuardrails, type SavedGuardrail} from '../../guardrails/attach.ts'
import type {Hook} from '../../guardrails/hook.ts'
import type {TargetSpec} from '../../routing/plan.ts'
import {attachKeys, namesIn} from '../../schema/config-hooks.ts'
import type {UnreadableBodies} from '../../schema/guardrails.ts'
import type {Caller, Uses} from '../services.ts'

type Services = Uses<'guardrails'>

/** The guardrails of a target, ready to run on any number of calls. */
export interface TargetGuardrails {
  readonly input: readonly Hook[]
  readonly output: readonly Hook[]
  /** Says which checks an answer has passed, and with which parameters: answers are kept apart by it. */
  readonly digest: string
  /** The same of requests: a file that was judged is judged again where this is another. */
  readonly input_digest: string
  /** The treatment of bodies that they cannot read; null: as the setting. */
  readonly unreadable_bodies: UnreadableBodies | null
}

/**
 * The guardrails of a leaf of a config: of the config, its hooks inherited already, and of the defaults of the
 * organisation, the workspace and the key. Null for none, or when guardrails are switched off. Refuses (400) a name of
 * no guardrail or check.
 */
export async function resolveGuardrails(
  spec: TargetSpec,
  path: string,
  caller: Caller,
  services: Services,
): Promise<TargetGuardrails | null> {
  const {guardrails} = services
  if (!guardrails) return null
  const keys = attachKeys(spec)
  const defaults = await guardrails.defaults(caller)
  const handles = new Set([...defaults.flatMap(handlesOf), ...namesIn(keys)])
  if (handles.size === 0 && Object.keys(keys).length === 0) return null
  const found = handles.size > 0 ? await guardrails.find(caller, [...handles]) : NONE
  const {input, output, faults} = attach(keys, {path, defaults, saved: handle => found.get(handle)})
  if (faults.length)
    throw new Refusal('config.invalid', {issues: faults.map(fault => `${fault.path}: ${fault.message}`).join('; ')})
  if (input.length === 0 && output.length === 0) return null
  const unreadable_bodies = defaults.findLast(each => each.unreadable_bodies)?.unreadable_bodies ?? null
  return {
    input,
    output,
    digest: digestOf(spec, output, found),
    input_digest: inputDigest(spec, input, found),
    unreadable_bodies,
  }
}

const NONE: ReadonlyMap<string, SavedGuardrail> = new Map()

const handlesOf = ({input_guardrails, output_guardrails}: DefaultGuardrails) => [
  ...input_guardrails,
  ...output_guardrails,
]

function digestOf(spec: TargetSpec, output: readonly Hook[], found: ReadonlyMap<string, SavedGuardrail>): string {
  if (output.length === 0) return ''
  const {after_request_hooks, output_guardrails, output_mutators, default_output_guardrails} = spec
  return digested([after_request_hooks, output_guardrails, output_mutators, default_output_guardrails], output, found)
}

function inputDigest(spec: TargetSpec, input: readonly Hook[], found: ReadonlyMap<string, SavedGuardrail>): string {
  if (input.length === 0) return ''
  const {before_request_hooks, input_guardrails, input_mutators, default_input_guardrails} = spec
  return digested([before_request_hooks, input_guardrails, input_mutators, default_input_guardrails], input, found)
}

function digested(
  written: readonly unknown[],
  hooks: readonly Hook[],
  found: ReadonlyMap<string, SavedGuardrail>,
): string {
  const ran = hooks.map(hook => [hook.id, hook.guardrail_version_id])
  const saved = [...found.values()].map(({id, version_id}) => [id, version_id])
  return createHash('sha256')
    .update(JSON.stringify([...written, ran, saved]))
    .digest('hex')
}

/** A hook with those of its checks that can judge a part of an answer. */
export function partOf(hook: Hook): Hook[] {
  const checks = hook.checks.filter(({prepared}) => prepared.judges_parts)
  return checks.length ? [{...hook, checks}] : []
}
