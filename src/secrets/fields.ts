import {Refusal} from '../base/errors.ts'
import {isObject, list, parsed} from '../base/json-object.ts'
import {picked, type SecretValue} from './contents.ts'
import type {FieldValues, MappedField} from './port.ts'

/** A field, the reference that it is filled from, and the value that is held of it. */
export interface FilledFrom {
  readonly field: MappedField
  readonly reference: {readonly slug: string; readonly secret_key: string | null}
  readonly value: SecretValue
}

/** Visible ASCII without spaces: what a header takes as a credential. */
const CREDENTIAL = /^[\x21-\x7e]{1,16384}$/
/** Fields whose spaces count. */
const AS_IT_IS = /(?:passphrase|private_key)$/
/** A shorter text is a word that an answer may say. */
const MIN_MASKED = 8
const MOST_LEAVES = 100

/** The values of fields. Refuses (`secret.unresolvable`) with the reference and the key, never with any of a value. */
export function fieldValues(all: readonly FilledFrom[]): FieldValues {
  const byField = new Map<string, unknown>()
  const texts = new Set<string>()
  for (const each of all) {
    const value = filledWith(each)
    byField.set(each.field.target_field, value)
    for (const text of textsIn(value)) texts.add(text)
  }
  const references = new Map(all.map(({field, reference}) => [field.target_field, reference.slug]))
  return {byField, references, texts: [...texts]}
}

function filledWith({field, reference, value}: FilledFrom): unknown {
  const {target_field, value_format} = field
  const key = field.secret_key ?? reference.secret_key
  const refuse = (reason: string): never => {
    throw new Refusal('secret.unresolvable', {reference: reference.slug, field: target_field, reason})
  }
  const part = picked(value, key)
  if (part === 'no_json') return refuse(`its secret is no JSON object, of which the key ${quoted(key)} could be picked`)
  if (part === 'no_key') return refuse(`its secret has no key ${quoted(key)}`)
  if (part.value === null) return refuse(key === null ? 'its secret is null' : `its key ${quoted(key)} is null`)
  if (value_format === 'json') {
    const json = typeof part.value === 'string' ? parsed(part.value) : part.value
    return json === undefined ? refuse('it is not JSON, as value_format says') : json
  }
  const text = AS_IT_IS.test(target_field) ? part.text : part.text.replace(/^[\ufeff\s]+|[\ufeff\s]+$/g, '')
  if (text === '') return refuse('it is empty')
  if (target_field === 'key' && !CREDENTIAL.test(text))
    return refuse('it is no credential that a header takes: expected up to 16 KB of visible ASCII without spaces')
  return text
}

function quoted(key: string | null): string {
  return JSON.stringify(key)
}

/** The texts in a value that are long enough to be secrets; of a text also its lines, as keys in PEM are echoed. */
function* textsIn(value: unknown): Generator<string> {
  const open: unknown[] = [value]
  for (let seen = 0; open.length > 0 && seen < MOST_LEAVES; seen++) {
    const each = open.pop()
    if (typeof each === 'string' && each.length >= MIN_MASKED) yield each
    else if (isObject(each)) open.push(...Object.values(each))
    else open.push(...list(each))
  }
}
