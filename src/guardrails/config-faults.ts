import {type AttachKeys, attachKeys} from '../schema/config-hooks.ts'
import {attach, type SavedGuardrail} from './attach.ts'
import type {HookFault} from './hook.ts'

export interface ConfigNode {
  readonly node: AttachKeys
  readonly path: string
}

/** Faults, and parts without effect, in the guardrails of a config's nodes. */
export function guardrailFaults(
  nodes: readonly ConfigNode[],
  saved: (handle: string) => SavedGuardrail | undefined,
): readonly HookFault[] {
  return nodes.flatMap(({node, path}) => {
    const {faults, warnings} = attach(attachKeys(node), {path, defaults: [], saved})
    return [...faults, ...warnings]
  })
}

/** Stands for a guardrail of a workspace that cannot be read. */
export const SOME_GUARDRAIL: SavedGuardrail = {
  id: '',
  slug: '',
  version_id: '',
  checks: [{id: 'default.notNull'}],
  actions: {},
}
