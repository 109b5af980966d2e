import {isObject} from '../../src/base/json-object.ts'
import {inOrder} from './access.ts'
import type {Spec} from './document.ts'
import {withoutDefaults} from './fields.ts'
import type {ApplyTarget, Known, SpecField} from './kind.ts'

/** Fields that are filled from secret references, which files name by slug. */
export const MAPPINGS: SpecField = {
  none: [],
  normal: value => inOrder(value, 'target_field', each => withoutDefaults(each)),
}

/** The field as the gateway shows it, its references by their slugs. */
export function mappingsOf({secret_mappings}: Spec, {named}: Pick<ApplyTarget, 'named'>): Spec[] {
  return (secret_mappings as Spec[]).map(each => ({
    ...each,
    secret_reference_id: named(String(each.secret_reference_id)),
  }))
}

/** Its faults: unknown references. */
export function unknownReferences({secret_mappings}: Spec, known: Known): string[] {
  const mappings = Array.isArray(secret_mappings) ? secret_mappings.filter(isObject) : []
  return mappings.flatMap(({secret_reference_id}, at) => {
    const slug = String(secret_reference_id)
    if (known({kind: 'secret-reference', workspace: null, slug})) return []
    return [`secret_mappings[${at}].secret_reference_id: there is no secret-reference ${slug.slice(0, 80)}`]
  })
}
