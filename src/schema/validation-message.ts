import {z} from 'zod'
import {nearest} from '../base/nearest.ts'

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

const MAX_ISSUES = 5
const MAX_KEYS = 24

/** The names of the root and its fields. */
export interface InputLocation {
  /** Stands for the whole: `the request body`. */
  readonly root: string
  /** Goes before a field's path: `query parameter `. */
  readonly before?: string
}

/**
 * Why `input` does not fit `schema`, in one line for a person: each field by its path, what it must be, what it is (its
 * type, never its value), and for an unknown key the nearest known one. At most five complaints.
 */
export function explain(error: z.ZodError, schema: z.ZodType, input: unknown, place: InputLocation): string {
  const issues = error.issues.flatMap(settled)
  const sentences = issues
    .slice(0, MAX_ISSUES)
    .map(issue => `${nameOf(issue.path, place)}: ${complaint(issue, schema, input)}`)
  const more = issues.length - sentences.length
  const line = sentences.join('; ') + (more > 0 ? `; and ${more} more` : '')
  return line.endsWith('?') ? line : `${line}.`
}

/** The way to a field as it would be written: `targets[0].weight`. */
export function fieldPath(path: Path): string {
  return path.reduce<string>(
    (way, key) => (typeof key === 'number' ? `${way}[${key}]` : way ? `${way}.${String(key)}` : String(key)),
    '',
  )
}

/** The name of the field at `path`. */
export function nameOf(path: Path, {root, before = ''}: InputLocation): string {
  return path.length ? `${before}${fieldPath(path)}` : root
}

/** A union complains in every one of its forms; only the form that was nearly met says something useful. */
function settled(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union' || !issue.errors.length) return [issue]
  const forms = issue.errors.map(issues =>
    issues.map(inner => ({...inner, path: [...issue.path, ...inner.path]})).flatMap(settled),
  )
  const wrongType = (form: Issue[]) =>
    form.some(inner => inner.path.length === issue.path.length && TYPE_CODES.has(inner.code))
  const near = forms.filter(form => !wrongType(form)).toSorted((a, b) => a.length - b.length)[0]
  return near ?? [{...issue, errors: forms} as Issue]
}

const TYPE_CODES: ReadonlySet<string> = new Set(['invalid_type', 'invalid_value'])

function complaint(issue: Issue, schema: z.ZodType, input: unknown): string {
  const value = valueAt(input, issue.path)
  if (value !== undefined && !LIBRARY_WORDS.test(issue.message)) return issue.message
  switch (issue.code) {
    case 'invalid_type':
      return value === undefined
        ? `is required (${kind(issue.expected)})`
        : `must be ${kind(issue.expected)}, not ${kindOf(value)}`
    case 'invalid_value':
      return value === undefined
        ? `is required (${oneOf(issue.values)})`
        : `must be ${oneOf(issue.values)}${hint(value, issue.values)}`
    case 'unrecognized_keys':
      return issue.keys.map(key => unknownKey(key, knownKeys(jsonSchema(schema), issue.path))).join('; ')
    case 'too_small':
      return `must ${amount(issue.origin, issue.inclusive ? 'at least' : 'more than', Number(issue.minimum))}`
    case 'too_big':
      return `must ${amount(issue.origin, issue.inclusive ? 'at most' : 'less than', Number(issue.maximum))}`
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'invalid_format':
      return issue.format === 'regex'
        ? `must match ${issue.pattern}`
        : `must be ${FORMATS[issue.format] ?? issue.format}`
    case 'invalid_union':
      return unionTypes(issue, value) || 'has none of the accepted forms'
    case 'invalid_key':
      return issue.issues.map(inner => inner.message).join(', ')
    default:
      return issue.message
  }
}

/** How the library's own messages begin; any other was written where the schema was. */
const LIBRARY_WORDS = /^(?:Invalid|Too small|Too big|Unrecognized)/

function unionTypes({errors}: {errors: readonly Issue[][]}, value: unknown): string {
  const expected = errors.flat().flatMap(inner => {
    if (inner.code === 'invalid_type') return [kind(inner.expected)]
    return inner.code === 'invalid_value' ? [oneOf(inner.values)] : []
  })
  const types = [...new Set(expected)].join(' or ')
  return types && (value === undefined ? `is required (${types})` : `must be ${types}`)
}

const FORMATS: Record<string, string> = {
  datetime: 'a time such as 2026-01-31T00:00:00Z (ISO 8601 with a zone)',
  email: 'an e-mail address',
  uuid: 'a UUID',
  url: 'a URL',
}

const KINDS: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
}

function kind(expected: string): string {
  return KINDS[expected] ?? expected
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'number') return Number.isInteger(value) ? 'a number' : 'a number with a fraction'
  return typeof value === 'boolean' ? 'a boolean' : kind(typeof value)
}

function oneOf(values: readonly unknown[]): string {
  const listed = values.slice(0, MAX_KEYS).map(value => (typeof value === 'string' ? value : JSON.stringify(value)))
  return values.length === 1 ? listed[0]! : `one of ${listed.join(', ')}${values.length > MAX_KEYS ? ', …' : ''}`
}

function hint(value: unknown, values: readonly unknown[]): string {
  const like =
    typeof value === 'string' &&
    nearest(
      value,
      values.filter(each => typeof each === 'string'),
    )
  return like ? `: did you mean ${like}?` : ''
}

function amount(origin: string, bound: string, n: number): string {
  if (origin === 'string') return `have ${bound} ${n} character${n === 1 ? '' : 's'}`
  if (origin === 'array') return `have ${bound} ${n} item${n === 1 ? '' : 's'}`
  return `be ${bound} ${n}`
}

function unknownKey(key: string, known: readonly string[]): string {
  const sentence = `the key ${key.length > 100 ? `${key.slice(0, 100)}…` : key} is not known here`
  const like = nearest(key, known)
  if (like) return `${sentence}: did you mean ${like}?`
  return known.length && known.length <= MAX_KEYS ? `${sentence} (known: ${known.join(', ')})` : sentence
}

function valueAt(input: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        ? (value as Record<PropertyKey, unknown>)[key]
        : undefined,
    input,
  )
}

/** The little of JSON Schema that leads from a path to the keys known there. */
interface Json {
  readonly $ref?: string
  readonly $defs?: Record<string, Json>
  readonly properties?: Record<string, Json>
  readonly additionalProperties?: Json | boolean
  readonly items?: Json
  readonly anyOf?: readonly Json[]
  readonly oneOf?: readonly Json[]
  readonly allOf?: readonly Json[]
}

const schemas = new WeakMap<z.ZodType, Json>()

function jsonSchema(schema: z.ZodType): Json {
  const made = schemas.get(schema) ?? (z.toJSONSchema(schema, {io: 'input', unrepresentable: 'any'}) as Json)
  schemas.set(schema, made)
  return made
}

function knownKeys(root: Json, path: Path): string[] {
  let nodes = forms(root, root)
  for (const key of path) nodes = nodes.flatMap(node => below(node, key)).flatMap(node => forms(node, root))
  return [...new Set(nodes.flatMap(node => Object.keys(node.properties ?? {})))]
}

function below(node: Json, key: PropertyKey): Json[] {
  const next = typeof key === 'number' ? node.items : (node.properties?.[String(key)] ?? node.additionalProperties)
  return typeof next === 'object' ? [next] : []
}

/** A node and all that it may be instead. */
function forms(node: Json, root: Json): Json[] {
  const target = node.$ref === '#' ? root : root.$defs?.[node.$ref?.replace('#/$defs/', '') ?? '']
  if (node.$ref) return target ? forms(target, root) : []
  return [
    node,
    ...[...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? [])].flatMap(form => forms(form, root)),
  ]
}
