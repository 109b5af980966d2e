import type {ScimGroupNarrowing} from '../store/scim-groups.ts'
import type {ScimUserNarrowing} from '../store/scim-users.ts'
import type {Filter} from './filter/filter.ts'

/** The part of a filter that indexes know; `is_whole` where nothing is left to be judged row by row. */
export interface Narrowed<By> {
  readonly by: By
  readonly is_whole: boolean
}

type Equality = {readonly name: string; readonly sub: string | null; readonly value: string}

export function narrowUsers(filter: Filter): Narrowed<ScimUserNarrowing> {
  return narrowedBy(filter, ({name, sub, value}): ScimUserNarrowing | undefined => {
    if (name === 'id' && sub === null) return {id: value}
    if (name === 'externalId' && sub === null) return {external_id: value}
    if (name === 'userName' && sub === null) return {user_name: value.toLowerCase()}
    return name === 'emails' && (sub === null || sub === 'value') ? {address: value.toLowerCase()} : undefined
  })
}

export function narrowGroups(filter: Filter): Narrowed<ScimGroupNarrowing> {
  return narrowedBy(filter, ({name, sub, value}): ScimGroupNarrowing | undefined => {
    if (name === 'id' && sub === null) return {id: value}
    if (name === 'externalId' && sub === null) return {external_id: value}
    if (name === 'displayName' && sub === null) return {name: value.toLowerCase()}
    return name === 'members' && (sub === null || sub === 'value') ? {member: value} : undefined
  })
}

function narrowedBy<By extends object>(filter: Filter, read: (equality: Equality) => By | undefined): Narrowed<By> {
  const terms = filter.kind === 'and' ? filter.of : [filter]
  let by = {} as By
  let is_whole = true
  for (const term of terms) {
    const equality = equalityOf(term)
    const found = equality && read(equality)
    // two of one kind cannot both narrow
    const is_new = found !== undefined && Object.keys(found).every(name => !Object.hasOwn(by, name))
    if (is_new) by = {...by, ...found}
    if (!is_new || term.kind !== 'compare') is_whole = false
  }
  return {by, is_whole}
}

/** `a eq "x"`, also of the value behind or in the filter of a list: `emails[type eq "work"].value eq "x"`. */
function equalityOf(term: Filter): Equality | undefined {
  if (term.kind === 'compare' && term.operator === 'eq' && typeof term.value === 'string' && term.path.urn === null)
    return {name: term.path.name, sub: term.path.sub, value: term.value}
  if (term.kind !== 'element' || term.path.urn !== null) return undefined
  const inner = [term.behind, ...(term.of.kind === 'and' ? term.of.of : [term.of])]
  const value = inner
    .map(each => (each === null ? undefined : equalityOf(each)))
    .find(each => each?.name === 'value' && each.sub === null)
  return value && {name: term.path.name, sub: 'value', value: value.value}
}
