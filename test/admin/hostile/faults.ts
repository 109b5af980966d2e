/** As much of a JSON schema as faults are made from. */
interface Schema {
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly maxItems?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
}

/** A good body with one thing wrong in it. */
export interface Fault {
  /** `name: null` */
  readonly what: string
  readonly body: unknown
  /** The last part of the field's path, which the refusal must name. */
  readonly leaf: string
}

export type Path = readonly (string | number)[]

/** Longer than any text that a field may take whose length is not said. */
const LONG = 'x'.repeat(1_100_000)
const SAMPLES: readonly (readonly [string, unknown])[] = [
  ['boolean', true],
  ['number', 7.5],
  ['string', 'no such word'],
  ['array', [[]]],
  ['object', {'no such key': 1}],
]

/**
 * Each field of `body` that `schema` knows, missing, null, of another type, too large; and a field that it does not
 * know, on every level.
 */
export function faultsOf(schema: unknown, body: unknown): Fault[] {
  const found: Fault[] = []
  const add = (
    path: Path,
    what: string,
    value: unknown,
    leaf = String(path.findLast(step => typeof step === 'string') ?? 'the request body'),
  ) => void found.push({what: `${path.join('.')}: ${what}`, body: put(body, path, value), leaf})
  visit(schema as Schema, body, [])
  return found

  function visit(whole: Schema, value: unknown, path: Path) {
    const node = fitting(whole, value)
    if (!node) return
    if (Array.isArray(value)) {
      if (node.items && value.length) visit(node.items, value[0], [...path, 0])
      if (node.maxItems !== undefined && node.maxItems <= 1000 && value.length)
        add(
          path,
          'too many',
          Array.from({length: node.maxItems + 1}, () => value[0]),
        )
      return
    }
    if (typeof value !== 'object' || value === null) return
    if (node.additionalProperties === false) add([...path, 'surplus'], 'unknown', 1)
    for (const [name, field] of Object.entries(node.properties ?? {})) {
      const at = [...path, name]
      if (node.required?.includes(name)) add(at, 'missing', undefined)
      for (const [what, wrong] of wrongValues(field)) add(at, what, wrong)
      if (Object.hasOwn(value, name)) visit(field, (value as Record<string, unknown>)[name], at)
    }
  }
}

/** The form of a schema that a value is of. */
function fitting(schema: Schema, value: unknown): Form | undefined {
  return forms(schema).find(form => form.type === typeOf(value) && (form.type !== 'object' || hasWords(form, value)))
}

/** Where forms are told apart by a word, its value must be that. */
function hasWords({properties = {}}: Form, value: unknown): boolean {
  return Object.entries(properties).every(
    ([name, field]) => field.const === undefined || (value as Record<string, unknown>)[name] === field.const,
  )
}

function* wrongValues(field: Schema): Generator<readonly [string, unknown]> {
  const all = forms(field)
  if (all.some(form => form.type === undefined && form.const === undefined && !form.enum)) return
  const takes = (type: string) =>
    all.some(
      form => (form.type === 'integer' ? 'number' : (form.type ?? typeof (form.const ?? form.enum?.[0]))) === type,
    )
  if (!takes('null')) yield ['null', null]
  for (const [type, sample] of SAMPLES) if (!takes(type)) yield [type, sample]
  const texts = all.filter(form => form.type === 'string')
  if (texts.length && texts.every(form => form.enum ?? form.const)) yield ['another word', 'no such word']
  if (texts.length)
    yield ['too long', 'x'.repeat(Math.max(...texts.map(form => (form.maxLength ?? LONG.length - 1) + 1)))]
  const numbers = all.filter(form => form.type === 'number' || form.type === 'integer')
  if (!numbers.length) return
  if (numbers.every(form => form.type === 'integer')) yield ['a fraction', 1.5]
  if (numbers.every(form => form.maximum !== undefined)) yield ['too much', 1e300]
  if (numbers.every(form => form.minimum !== undefined)) yield ['too little', -1e300]
}

/** Every form that a schema lets a value have, each of one type. */
function forms(schema: Schema): Form[] {
  const below = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]
  if (below.length) return below.flatMap(forms)
  const {type, ...rest} = schema
  return typeof type === 'object'
    ? type.map(each => ({...rest, type: each}))
    : [{...rest, ...(type !== undefined && {type})}]
}

type Form = Omit<Schema, 'type'> & {readonly type?: string}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** A copy of `node` with `value` at `path`; undefined takes away what is there. */
export function put(node: unknown, [step, ...rest]: Path, value: unknown): unknown {
  if (step === undefined) return value
  if (Array.isArray(node)) return node.with(step as number, put(node[step as number], rest, value))
  const {[step]: before, ...others} = (node ?? {}) as Record<string, unknown>
  if (!rest.length && value === undefined) return others
  return {...others, [step]: put(before, rest, value)}
}

/** The way to every place in a body. */
export function waysOf(node: unknown, way: Path = []): Path[] {
  if (typeof node !== 'object' || node === null) return [way]
  return [
    way,
    ...Object.entries(node).flatMap(([step, value]) =>
      waysOf(value, [...way, Array.isArray(node) ? Number(step) : step]),
    ),
  ]
}
