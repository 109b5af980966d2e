import {hashedText, isShort, keyText} from '../base/stored-text.ts'

/** Longer than this no value key is, whatever the names of its groups: it is part of primary keys. */
const MAX_VALUE_KEY_BYTES = 1024

/**
 * Names the entity of a policy that a call is of, out of the values of its groups: `key:value` pairs, joined by `-`.
 * Two lists of values never have one name: where the pairs could be read in another way, the values are replaced by
 * their hashes.
 */
export function valueKeyOf(keys: readonly string[], values: readonly string[]): string {
  const texts = values.map(keyText)
  const plain = joined(keys, texts)
  if (isReadInOneWay(plain, keys, texts) && isShort(plain, MAX_VALUE_KEY_BYTES)) return plain
  const hashed = joined(keys, values.map(hashedText))
  return isShort(hashed, MAX_VALUE_KEY_BYTES) ? hashed : hashedText(hashed)
}

function joined(keys: readonly string[], values: readonly string[]): string {
  let text = ''
  for (let at = 0; at < keys.length; at++) text += `${at > 0 ? '-' : ''}${keys[at]}:${values[at]}`
  return text
}

/**
 * True when a reader that ends each value at the first place where the next pair may begin finds the values that were
 * written.
 */
function isReadInOneWay(text: string, keys: readonly string[], values: readonly string[]): boolean {
  let from = keys[0]!.length + 1
  for (let at = 1; at < keys.length; at++) {
    const next = `-${keys[at]}:`
    const ends = from + values[at - 1]!.length
    if (text.indexOf(next, from) !== ends) return false
    from = ends + next.length
  }
  return true
}
