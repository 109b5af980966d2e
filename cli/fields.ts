import {z} from 'zod'
import type {AnyOperation} from '../src/admin/operation.ts'
import {nearest} from '../src/base/nearest.ts'
import type {Input} from './connect.ts'
import {usageFault} from './fault.ts'
import {readJson} from './option-parsers.ts'

type Place = 'params' | 'query' | 'body'

/** One input of an operation, as a flag. */
export interface InputField {
  readonly name: string
  /** Without the hyphens in front: `workspace-id`. */
  readonly flag: string
  readonly place: Place
  readonly required: boolean
  readonly kind: 'text' | 'number' | 'boolean' | 'texts' | 'json'
  readonly nullable: boolean
  /** The words it takes, where they are few. */
  readonly choices: readonly string[]
}

interface Schema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

/**
 * The inputs of an operation, from its schemas: those of the path first, then the query, then the body. A name that
 * comes twice is a flag once, for the place that comes first; the other is given in the body's JSON.
 */
export function fieldsOf(operation: AnyOperation): InputField[] {
  const fields = new Map<string, InputField>()
  for (const place of ['params', 'query', 'body'] as const) {
    const {properties = {}, required = []} = schemaOf(operation[place])
    for (const [name, schema] of Object.entries(properties))
      if (!fields.has(flagOf(name)))
        fields.set(flagOf(name), {
          name,
          flag: flagOf(name),
          place,
          required: place === 'params' || required.includes(name),
          ...formOf(schema, place),
        })
  }
  return [...fields.values()]
}

/** How a field's flag is written in help. */
export function usageOf({flag, kind, choices}: InputField): string {
  const value = {text: 'text', number: 'number', boolean: '', texts: 'text...', json: 'json'}[kind]
  return `--${flag}${value && ` <${choices.length ? choices.join('|') : value}>`}`
}

/**
 * The input that `words` say: words without hyphens fill the path in order; `--flag value`, `--flag=value`, and
 * `--flag-file FILE` for any of them. What the words say goes over what `body` holds.
 */
export function readInput(
  fields: readonly InputField[],
  words: readonly string[],
  body: unknown,
  readFile: (path: string) => string,
): Required<Input> {
  const input = {
    params: {} as Record<string, string>,
    query: {} as Record<string, unknown>,
    body: body as Record<string, unknown> | undefined,
  }
  const path = fields.filter(({place}) => place === 'params')
  const rest = [...words]
  while (rest.length) {
    const word = rest.shift()!
    if (!word.startsWith('--')) {
      const next = path.find(({name}) => !(name in input.params))
      if (!next)
        throw usageFault(`There is one word too many: ${word.slice(0, 80)}.`, 'Fields are given as --name value.')
      input.params[next.name] = word
      continue
    }
    const [, option = '', joined] = /^--([^=]*)(?:=([\s\S]*))?$/.exec(word) ?? []
    const {field, from_file} = find(fields, option)
    const text = joined ?? (takesNext(field, from_file, rest) ? rest.shift() : undefined)
    if (text === undefined && (field.kind !== 'boolean' || from_file)) throw usageFault(`--${option} needs a value.`)
    put(input, field, text === undefined ? true : readValue(field, from_file ? readFile(text).trim() : text))
  }
  const missing = fields.find(({place, name}) => place === 'params' && !(name in input.params))
  if (missing) throw usageFault(`--${missing.flag} is missing.`)
  return {params: input.params, query: input.query, body: input.body}
}

function find(fields: readonly InputField[], option: string): {field: InputField; from_file: boolean} {
  const flag = flagOf(option)
  const field = fields.find(each => each.flag === flag)
  if (field) return {field, from_file: false}
  const filed = flag.endsWith('-file') && fields.find(each => each.flag === flag.slice(0, -'-file'.length))
  if (filed) return {field: filed, from_file: true}
  const near = nearest(
    flag,
    fields.map(each => each.flag),
  )
  throw usageFault(
    `The operation has no field --${option.slice(0, 80)}.`,
    near ? `The nearest is --${near}.` : 'See its --help.',
  )
}

/** A switch takes the next word only where that says true or false. */
function takesNext({kind}: InputField, from_file: boolean, [next]: readonly string[]): boolean {
  if (next === undefined) return false
  return kind === 'boolean' && !from_file ? next === 'true' || next === 'false' : true
}

function put(
  input: {params: Record<string, string>; query: Record<string, unknown>; body: Record<string, unknown> | undefined},
  {place, name, kind}: InputField,
  value: unknown,
) {
  if (place === 'params') input.params[name] = String(value)
  else if (place === 'query') input.query[name] = Array.isArray(value) ? value.join(',') : value
  else {
    const before = input.body?.[name]
    const added = kind === 'texts' && Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value
    input.body = {...input.body, [name]: added}
  }
}

function readValue({kind, nullable, flag}: InputField, text: string): unknown {
  if (nullable && text === 'null') return null
  if (kind === 'text') return text
  if (kind === 'number') {
    if (text.trim() !== '' && Number.isFinite(Number(text))) return Number(text)
    throw usageFault(`--${flag} takes a number.`)
  }
  if (kind === 'boolean') {
    if (text === 'true' || text === 'false') return text === 'true'
    throw usageFault(`--${flag} takes true or false.`)
  }
  if (kind === 'texts' && !text.trimStart().startsWith('[')) return [text]
  return readJson(text, `What --${flag} says`)
}

function flagOf(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase()
}

function schemaOf(schema: z.ZodType | undefined): Schema {
  return schema ? (z.toJSONSchema(schema, {io: 'input', unrepresentable: 'any'}) as Schema) : {}
}

function formOf(schema: Schema, place: Place): Pick<InputField, 'kind' | 'nullable' | 'choices'> {
  const all = alternatives(schema)
  const types = new Set(all.flatMap(({type = []}) => type as string | string[]))
  const nullable = types.delete('null')
  const choices = all
    .flatMap(each => each.enum ?? ('const' in each ? [each.const] : []))
    .filter(word => typeof word === 'string')
  const [type, ...others] = types
  const items = all.find(each => each.type === 'array')?.items
  // A path and a query are texts whatever they mean; so is what a schema leaves open there.
  if (types.has('string') || (types.size === 0 && place !== 'body')) return {kind: 'text', nullable, choices}
  if (others.length || type === undefined) return {kind: 'json', nullable, choices: []}
  if (type === 'number' || type === 'integer') return {kind: 'number', nullable, choices: []}
  if (type === 'boolean') return {kind: 'boolean', nullable, choices: []}
  return {kind: type === 'array' && items?.type === 'string' ? 'texts' : 'json', nullable, choices: []}
}

/** A schema, or all alternatives in its place, however deep. */
function alternatives(schema: Schema): Schema[] {
  const below = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]
  return below.length ? below.flatMap(alternatives) : [schema]
}
