import type {Json} from '../../../src/providers/translation.ts'
import {list, object} from '../dialects/words.ts'

/** A schema and all that are in it, their places before them. References are not followed. */
export function schemasIn(schema: unknown, place = '#'): readonly (readonly [place: string, schema: Json])[] {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return []
  const one = schema as Json
  const maps = ['properties', '$defs', 'definitions', 'patternProperties'].flatMap(name =>
    Object.entries(object(one[name])).flatMap(([key, each]) => schemasIn(each, `${place}/${name}/${key}`)),
  )
  const lists = ['anyOf', 'allOf', 'oneOf', 'prefixItems'].flatMap(name =>
    list(one[name]).flatMap((each, at) => schemasIn(each, `${place}/${name}/${at}`)),
  )
  const singles = ['items', 'additionalProperties', 'not'].flatMap(name => schemasIn(one[name], `${place}/${name}`))
  return [[place, one], ...maps, ...lists, ...singles]
}

/** True where a reference leads, through others or at once, to a schema that it is in. */
export function isRecursive(root: Json): boolean {
  const goes = (schema: unknown, open: readonly string[]): boolean => {
    for (const [, {$ref}] of schemasIn(schema)) {
      if (typeof $ref !== 'string') continue
      if ($ref === '#' || open.includes($ref)) return true
      if (goes(targetOf(root, $ref), [...open, $ref])) return true
    }
    return false
  }
  const {$defs: _, definitions: __, ...rest} = root
  return goes(rest, [])
}

function targetOf(root: Json, ref: string): unknown {
  let at: unknown = root
  for (const step of ref.split('/').slice(1)) at = object(at)[step]
  return at
}

/** The reason for which OpenAI refuses `schema` as a strict one. */
export function notStrict(schema: unknown): string | null {
  for (const [place, each] of schemasIn(schema)) {
    if (each.type !== 'object') continue
    if (each.additionalProperties !== false) return `${place} leaves additionalProperties open`
    const names = Object.keys(object(each.properties))
    const required = new Set<unknown>(list(each.required))
    const missing = names.find(name => !required.has(name))
    if (missing !== undefined) return `${place} does not require ${missing}`
  }
  return null
}
