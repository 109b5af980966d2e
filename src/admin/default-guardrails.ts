import {Refusal} from '../base/errors.ts'
import type {Db} from '../store/database.ts'
import {findGuardrail} from '../store/guardrails.ts'

/** Guardrails that run on every call besides, by id or slug, as they were given. */
export interface DefaultGuardrailsInput {
  readonly input_guardrails?: readonly string[] | null | undefined
  readonly output_guardrails?: readonly string[] | null | undefined
}

/** The scope of defaults: a workspace, or, with null, all of the organisation. */
export interface DefaultsOf {
  readonly organisation_id: string
  readonly workspace_id: string | null
}

const SIDES = ['input_guardrails', 'output_guardrails'] as const

/**
 * Refuses those that calls could not find: each call would be refused for them. `before` goes before the field's name.
 */
export async function requireGuardrails(
  db: Db,
  of: DefaultsOf,
  defaults: DefaultGuardrailsInput | null | undefined,
  before = '',
) {
  for (const side of SIDES)
    for (const value of defaults?.[side] ?? [])
      if (!(await isFound(db, of, value)))
        throw new Refusal('parent.not_found', {field: before + side, object: 'guardrail', value})
}

/** Those of them that calls find. */
export async function foundGuardrails(
  db: Db,
  of: DefaultsOf,
  defaults: DefaultGuardrailsInput,
): Promise<DefaultGuardrailsInput> {
  const kept = await Promise.all(
    SIDES.map(async side => {
      const named = defaults[side] ?? []
      const found = await Promise.all(named.map(value => isFound(db, of, value)))
      return [side, named.filter((_, index) => found[index])]
    }),
  )
  return Object.fromEntries(kept)
}

async function isFound(db: Db, of: DefaultsOf, named: string): Promise<boolean> {
  return (await findGuardrail(db, {...of, with_shared: true}, named)) !== undefined
}

/** Defaults as a row keeps them: what is empty is left out. */
export function keepDefaults(defaults: object | null): string | null {
  const kept = Object.entries(defaults ?? {}).filter(([, value]) => value && Object.keys(value).length)
  return kept.length ? JSON.stringify(Object.fromEntries(kept)) : null
}
