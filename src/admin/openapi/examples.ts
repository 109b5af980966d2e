import {createHash} from 'node:crypto'
import type {Schema} from './schemas.ts'
import {LEFT_OUT, NOUNS, WORDS} from './words.ts'

/**
 * A value that the schema takes, the same every time: what its field is usually called tells most of it (words.ts), its
 * type, format and bounds the rest. `noun` is what the operation is about. Everything is shown that may be there, each
 * list with one item.
 */
export function exampleOf(schema: Schema, name: string, noun: string): unknown {
  const example = NOUNS[noun]?.[name] ?? WORDS[name]
  if (example !== undefined && fits(example, schema)) return example
  if (schema.enum) return schema.enum.find(value => value !== null) ?? null
  const forms = schema.anyOf ?? schema.oneOf
  if (forms) return exampleOf(forms[0]!, name, noun)
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map(part => exampleOf(part, name, noun)))
  if (schema.properties) {
    const shown = Object.entries(schema.properties).filter(
      ([key]) => schema.required?.includes(key) || !LEFT_OUT.has(key),
    )
    return Object.fromEntries(shown.map(([key, property]) => [key, exampleOf(property, key, noun)]))
  }
  switch (schema.type) {
    case 'object':
      return recordOf(schema, name, noun)
    case 'array':
      return schema.maxItems === 0 || !schema.items
        ? []
        : [exampleOf(schema.items, name.replace(/ies$/, 'y').replace(/s$/, ''), noun)]
    case 'integer':
    case 'number':
      return Math.min(Math.max(numberOf(name), schema.minimum ?? 0), schema.maximum ?? Number.MAX_SAFE_INTEGER)
    case 'boolean':
      return !/^(reset|is_default|is_cut|is_proxy|unpriced|shadow)/.test(name)
    case 'string':
      return textOf(schema, name, noun)
    default:
      return {}
  }
}

/** An id that looks like one, the same for the same noun. */
export function idOf(noun: string): string {
  const hex = createHash('sha256').update(noun).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/**
 * True for a value of the schema's type that is one of its few where it has but these, with all the members it needs
 * and no others.
 */
function fits(value: unknown, schema: Schema): boolean {
  const forms = schema.anyOf ?? schema.oneOf
  if (forms) return forms.some(form => fits(value, form))
  if (schema.enum) return schema.enum.includes(value)
  if (schema.format === 'uuid') return false
  if (value === null) return schema.nullable === true || schema.type === undefined
  switch (schema.type) {
    case undefined:
      return true
    case 'array':
      return Array.isArray(value) && value.every(item => fits(item, schema.items ?? {}))
    case 'object':
      return typeof value === 'object' && !Array.isArray(value) && fitsMembers(value, schema)
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === schema.type
  }
}

function fitsMembers(value: object, {properties, required = [], additionalProperties}: Schema): boolean {
  if (!properties) return true
  const members = Object.entries(value)
  return (
    required.every(key => key in value) &&
    members.every(([key, member]) => (properties[key] ? fits(member, properties[key]) : additionalProperties !== false))
  )
}

function textOf({format, pattern, maxLength = 255}: Schema, name: string, noun: string): string {
  if (name === 'id') return idOf(noun)
  if (format === 'uuid' || /(^|_)id$|Id$/.test(name)) return idOf(name.replace(/_?[iI]d$/, 's'))
  if (format === 'date-time' || /_at$|_time$/.test(name)) return '2026-03-04T05:06:07.000Z'
  if (format === 'email') return 'dana@example.com'
  if (format === 'uri' || /url$/i.test(name)) return 'https://example.com'
  return pattern ? 'example' : (name || 'text').replace(/_/g, ' ').slice(0, maxLength)
}

function numberOf(name: string): number {
  if (/status/.test(name)) return 200
  if (/_ms$|time|latency/.test(name)) return 412
  if (/tokens?|units/.test(name)) return 128
  return 1
}

/** One entry, where it is known what such a record is keyed by. */
function recordOf({additionalProperties}: Schema, name: string, noun: string): object {
  const key = RECORD_KEYS[name]
  if (key === undefined || typeof additionalProperties !== 'object') return {}
  return {[key]: exampleOf(additionalProperties, key, noun)}
}

const RECORD_KEYS: Readonly<Record<string, string>> = {
  headers: 'content-type',
  value_key_usage_map: 'current_usage',
  data: 'requests',
}
