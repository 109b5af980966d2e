import {isObject, type JsonObject, type JsonValue} from '../../base/json-member.ts'
import type {Filter} from '../filter/filter.ts'
import {matches} from '../filter/matches.ts'
import {type MutableObject, type MutableValue, memberOf, removeMember, setMember} from '../json.ts'
import {canonical, isMany} from '../names.ts'
import {coercedSub} from './coerce.ts'
import type {PatchChange} from './read.ts'

/** Applies the changes to `resource`, in order. It is the caller's own copy: a fault leaves it half changed. */
export function apply(resource: MutableObject, changes: readonly PatchChange[]): void {
  for (const change of changes) applyOne(resource, change)
}

function applyOne(resource: MutableObject, change: PatchChange): void {
  const {urn, name} = change.path
  const container = urn === null ? resource : extensionOf(resource, urn, change.op)
  if (!container) return
  if (isMany(name) || change.path.filter) changeList(container, change)
  else if (change.path.sub !== null) changeSub(container, change)
  else changeWhole(container, change)
  if (urn !== null && Object.keys(container).length === 0) removeMember(resource, urn)
}

function extensionOf(resource: MutableObject, urn: string, op: PatchChange['op']): MutableObject | undefined {
  const found = memberOf(resource as JsonObject, urn)
  if (isObject(found)) return found as MutableObject
  if (op === 'remove') return undefined
  const made: MutableObject = {}
  setMember(resource, urn, made)
  return made
}

function changeWhole(container: MutableObject, {op, path: {name}, value}: PatchChange): void {
  if (op === 'remove') return removeMember(container, name)
  const before = memberOf(container as JsonObject, name)
  if (isObject(before) && isObject(value as JsonValue)) merge(before as MutableObject, value as MutableObject)
  else setMember(container, name, value!)
}

function changeSub(container: MutableObject, {op, path: {name, sub}, value}: PatchChange): void {
  const before = memberOf(container as JsonObject, name)
  if (op === 'remove') {
    if (isObject(before)) removeMember(before as MutableObject, sub!)
    return
  }
  if (isObject(before)) setMember(before as MutableObject, sub!, value!)
  else setMember(container, name, {[sub!]: value!})
}

function changeList(container: MutableObject, change: PatchChange): void {
  const {op, path, value} = change
  const found = memberOf(container as JsonObject, path.name)
  const list = (Array.isArray(found) ? found : found === undefined || found === null ? [] : [found]) as MutableValue[]
  const after = path.filter || path.sub !== null ? changeElements(list, change) : changeAll(list, op, value)
  if (after.length === 0) removeMember(container, path.name)
  else setMember(container, path.name, after)
}

function changeAll(list: MutableValue[], op: PatchChange['op'], value: MutableValue | undefined): MutableValue[] {
  const given = (value ?? []) as MutableValue[]
  if (op === 'remove') return value === undefined ? [] : list.filter(each => !given.some(other => isSame(each, other)))
  if (op === 'replace') return onePrimary(given, given)
  const merged = [...list]
  const added = given.map(each => {
    const at = merged.findIndex(other => isSame(other, each))
    if (at < 0) {
      merged.push(each)
      return each
    }
    const both = isObject(merged[at] as JsonValue) && isObject(each as JsonValue)
    merged[at] = both ? {...(merged[at] as MutableObject), ...(each as MutableObject)} : each
    return merged[at]!
  })
  return onePrimary(merged, added)
}

/** The elements that the filter picks, all without one; where it picks none, one is made of what it asks for. */
function changeElements(list: MutableValue[], {op, path: {filter, sub}, value}: PatchChange): MutableValue[] {
  const picked = list.filter(each => filter === null || matches(each as JsonValue, filter))
  if (op === 'remove') {
    if (sub === null) return list.filter(each => !picked.includes(each))
    for (const each of picked) if (isObject(each as JsonValue)) removeMember(each as MutableObject, sub)
    return list
  }
  const after = [...list]
  if (picked.length === 0) {
    const made: MutableObject = filter ? askedFor(filter) : {}
    after.push(made)
    picked.push(made)
  }
  for (const each of picked) {
    if (!isObject(each as JsonValue)) continue
    if (sub !== null) setMember(each as MutableObject, sub, value!)
    else if (isObject(value as JsonValue)) merge(each as MutableObject, value as MutableObject)
  }
  return onePrimary(after, picked)
}

/** An element that meets the equalities of a filter. */
function askedFor(filter: Filter): MutableObject {
  if (filter.kind === 'and') return Object.assign({}, ...filter.of.map(askedFor)) as MutableObject
  if (filter.kind !== 'compare' || filter.operator !== 'eq' || filter.value === null) return {}
  return {[filter.path.name]: coercedSub(filter.path.name, filter.value)}
}

function merge(into: MutableObject, from: MutableObject): void {
  for (const [name, value] of Object.entries(from)) {
    if (value === null) removeMember(into, name)
    else setMember(into, canonical(name), value)
  }
}

/** Two values of a list are one where their `value` is, and their type where both have one. */
function isSame(one: MutableValue, other: MutableValue): boolean {
  const [mine, yours] = [one, other].map(each => memberOf(each as JsonValue, 'value') ?? each)
  const [type, other_type] = [one, other].map(each => memberOf(each as JsonValue, 'type'))
  return mine === yours && (type === undefined || other_type === undefined || type === other_type)
}

/** Of several primary values the newest is it. */
function onePrimary(list: MutableValue[], changed: readonly MutableValue[]): MutableValue[] {
  const newest = changed.findLast(each => memberOf(each as JsonValue, 'primary') === true)
  if (newest === undefined) return list
  for (const each of list)
    if (each !== newest && memberOf(each as JsonValue, 'primary') === true)
      setMember(each as MutableObject, 'primary', false)
  return list
}
