import {isList, isObject, type JsonObject, type JsonValue} from '../../base/json-member.ts'
import {badRequest} from '../fault.ts'
import {type MutableValue, memberOf} from '../json.ts'
import {ENTERPRISE, READ_ONLY} from '../names.ts'
import {coerced, coercedSub} from './coerce.ts'
import {type PatchPath, readPatchPath} from './path.ts'

/** One change of one attribute, in the only form that `apply` knows. */
export interface PatchChange {
  readonly op: 'add' | 'remove' | 'replace'
  readonly path: PatchPath
  /** Undefined where a `remove` names no values. */
  readonly value: MutableValue | undefined
}

const MOST = 10_000
/** A name that begins with a schema of RFC 7643 and has an attribute behind it. */
const KNOWN = /^urn:ietf:params:scim:schemas:(?:core:2\.0:(?:user|group)|extension:enterprise:2\.0:user)[:.]/

/**
 * The changes of a PATCH body (RFC 7644 §3.5.2), in whatever shape directories send them: each of one attribute, its
 * value as the schema has it. What only the service writes is left out.
 */
export function readPatch(body: JsonValue): readonly PatchChange[] {
  const operations = memberOf(body, 'Operations')
  if (!isList(operations) || operations.length === 0)
    throw badRequest('invalidSyntax', 'Operations: expected a list of operations.')
  if (operations.length > MOST) throw badRequest('tooMany', `Operations: expected at most ${MOST}.`)
  return operations.flatMap(changesOf).filter(({path}) => path.urn !== null || !READ_ONLY.has(path.name))
}

function changesOf(operation: JsonValue): readonly PatchChange[] {
  const [op, path, value] = ['op', 'path', 'value'].map(name => memberOf(operation, name))
  const kind = typeof op === 'string' ? op.toLowerCase() : ''
  if (kind !== 'add' && kind !== 'remove' && kind !== 'replace')
    throw badRequest('invalidSyntax', 'op: expected add, remove or replace.')
  if (typeof path === 'string' && path !== '') return [changeAt(kind, readPatchPath(path), value)]
  if (path !== undefined && path !== null && path !== '') throw badRequest('invalidPath', 'path: expected a text.')
  if (kind === 'remove') throw badRequest('noTarget', 'A remove without a path names nothing.')
  if (!isObject(value)) throw badRequest('invalidValue', 'value: expected an object, as there is no path.')
  return exploded(kind, value)
}

/** One change for each member; the object of an extension is taken apart too. */
function exploded(op: 'add' | 'replace', members: JsonObject, prefix = ''): readonly PatchChange[] {
  return Object.entries(members).flatMap(([name, value]) => {
    const folded = name.toLowerCase()
    if (prefix === '' && folded === ENTERPRISE.toLowerCase() && isObject(value))
      return exploded(op, value, `${ENTERPRISE}:`)
    // the object of an extension that is unknown here is one attribute
    const is_whole = prefix === '' && isObject(value) && folded.startsWith('urn:') && !KNOWN.test(folded)
    const path = is_whole ? {urn: null, name, sub: null, filter: null} : readPatchPath(prefix + name)
    return [changeAt(op, path, value)]
  })
}

function changeAt(op: PatchChange['op'], path: PatchPath, value: JsonValue | undefined): PatchChange {
  if (value === null || (value === undefined && op === 'remove')) return {op: 'remove', path, value: undefined}
  if (value === undefined) throw badRequest('invalidValue', `value: is missing for ${path.name}.`)
  if (path.sub !== null) return {op, path, value: coercedSub(path.sub, value)}
  // one value of a list is meant where a filter picks it
  const [one] = path.filter ? (coerced(path.name, value) as MutableValue[]) : []
  return {op, path, value: path.filter && one !== undefined ? one : coerced(path.name, value)}
}
