import {isObject, type JsonValue, listOf, own} from '../json-member.ts'
import {parsed} from '../json-object.ts'

/** The keys of a set that a token may be signed with: the one of its `kid`, all where it names none. */
export function keysNamed(keys: readonly JsonValue[], kid: JsonValue | undefined): readonly JsonValue[] {
  return kid === undefined ? keys : keys.filter(key => own(key, 'kid') === kid)
}

/** The keys of a set given in place: an object, or its JSON. */
export function readKeySet(input: unknown): readonly JsonValue[] | undefined {
  const set = typeof input === 'string' ? parsed(input) : input
  return isObject(set) && Array.isArray(own(set, 'keys')) ? listOf(own(set, 'keys')) : undefined
}
