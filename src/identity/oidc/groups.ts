import {isList, isObject, type JsonObject, type JsonValue, own} from '../../base/json-member.ts'
import type {StatedGroups} from '../statement.ts'

const MOST_GROUPS = 5_000
const LONGEST_GROUP = 1_024

/**
 * The groups that claims state, exactly as written. A text is one group, whatever is in it; of an object, its keys are
 * the groups. `groups_claim` is the name of a member, else a path with dots; null: groups are not of interest. A claim
 * that is absent means none, as several providers leave an empty one out, unless the token says that they did not fit.
 */
export function readGroups(claims: JsonObject, groups_claim: string | null): StatedGroups {
  if (groups_claim === null) return {kind: 'unset'}
  if (isOverage(claims, groups_claim)) return {kind: 'unknown', reason: 'groups not in token'}
  const value = memberAt(claims, groups_claim)
  if (value === undefined) return {kind: 'known', names: [], dropped: 0}
  const named = namedIn(value)
  if (named === null) return {kind: 'unknown', reason: 'the claim of groups is no text, list or object'}
  if (named.length > MOST_GROUPS) return {kind: 'unknown', reason: `more than ${MOST_GROUPS} groups`}
  const names = named.filter(isGroup)
  return {kind: 'known', names: [...new Set(names)], dropped: named.length - names.length}
}

/** False: the claim is absent, and nothing says that it did not fit. Another document may have it. */
export function hasGroups(claims: JsonObject, groups_claim: string): boolean {
  return isOverage(claims, groups_claim) || memberAt(claims, groups_claim) !== undefined
}

/** Entra's marks of a list that was too long for the token. */
function isOverage(claims: JsonObject, groups_claim: string): boolean {
  const elsewhere = own(claims, '_claim_names')
  const mark = own(claims, 'hasgroups')
  const is_elsewhere = own(elsewhere, 'groups') !== undefined || own(elsewhere, groups_claim) !== undefined
  return is_elsewhere || mark === true || mark === 'true'
}

/**
 * The member of that exact name, else at the end of the path. Names of clients may hold dots themselves
 * (`resource_access.my.app.roles`): each way to cut the path is tried, shortest names first.
 */
function memberAt(value: JsonObject, path: string): JsonValue | undefined {
  const whole = own(value, path)
  if (whole !== undefined) return whole
  for (let dot = path.indexOf('.'); dot >= 0; dot = path.indexOf('.', dot + 1)) {
    const inner = own(value, path.slice(0, dot))
    const found = isObject(inner) ? memberAt(inner, path.slice(dot + 1)) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

function namedIn(value: JsonValue): readonly JsonValue[] | null {
  if (typeof value === 'string') return [value]
  if (isList(value)) return value
  return isObject(value) ? Object.keys(value) : null
}

/** A text that a database keeps as it is. */
function isGroup(value: JsonValue): value is string {
  return typeof value === 'string' && value.length <= LONGEST_GROUP && /^[^\0\p{Cs}]+$/u.test(value)
}
