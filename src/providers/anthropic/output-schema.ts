import {isObject, list, object} from '../../base/json-object.ts'
import {withParts} from '../fit/schemas.ts'
import {type Json, UnsupportedInputFault} from '../translation.ts'

/** Limits that Anthropic refuses: they go where the model still reads them. */
const LIMITS =
  `minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength maxItems uniqueItems contains
  minContains maxContains minProperties maxProperties patternProperties propertyNames dependentRequired dependentSchemas
  if then else not unevaluatedProperties unevaluatedItems prefixItems`.split(/\s+/)
const FORMATS: ReadonlySet<unknown> = new Set(
  'date-time time date duration email hostname uri ipv4 ipv6 uuid'.split(' '),
)
/** References that lead from one to the next. */
const MAX_OPEN = 100
/** Of one value in a description. */
const MAX_SHOWN = 300

/**
 * A JSON schema in the subset that Anthropic promises to keep: its objects are closed, its limits are in descriptions,
 * `oneOf` is `anyOf`. Throws `UnsupportedInputFault` for a schema that refers to itself or to another document.
 * Source: platform.claude.com/docs, Structured outputs, JSON Schema limitations.
 */
export function outputSchema(schema: Json, field: string, report?: (adaptation: string) => void): Json {
  checkReferences(schema, {root: schema, field, checked: new Set()}, [])
  const changes = {is_closed: false, has_limits: false}
  const subset = inSubset(schema, changes)
  if (changes.is_closed) report?.(`converted ${field}: its objects take no other properties`)
  if (changes.has_limits) report?.(`converted ${field}: limits are in its descriptions`)
  return subset
}

function inSubset(schema: Json, changes: {is_closed: boolean; has_limits: boolean}): Json {
  const {oneOf, ...others} = schema
  const plain: Record<string, unknown> =
    oneOf === undefined || others.anyOf !== undefined ? {...schema} : {...others, anyOf: oneOf}
  const noted: string[] = []
  const note = (name: string) => {
    noted.push(`${name}: ${JSON.stringify(plain[name]).slice(0, MAX_SHOWN)}`)
    delete plain[name]
  }
  for (const name of LIMITS) if (plain[name] !== undefined) note(name)
  if (plain.minItems !== undefined && plain.minItems !== 0 && plain.minItems !== 1) note('minItems')
  if (plain.format !== undefined && !FORMATS.has(plain.format)) note('format')
  if (list(plain.enum).some(value => typeof value === 'object' && value !== null)) note('enum')
  if (noted.length > 0) {
    changes.has_limits = true
    const before = typeof plain.description === 'string' ? `${plain.description} ` : ''
    plain.description = `${before}(${noted.join(', ')})`
  }
  const is_object = plain.type === 'object' || isObject(plain.properties)
  if (is_object && plain.additionalProperties !== false) {
    changes.is_closed = true
    plain.additionalProperties = false
  }
  return withParts(plain, part => inSubset(part, changes))
}

interface Checking {
  readonly root: Json
  readonly field: string
  /** References whose targets hold no circle: each is followed once, however many lead to it. */
  readonly checked: Set<string>
}

/** `open`: the references that led here. */
function checkReferences(schema: Json, of: Checking, open: readonly string[]) {
  const {$ref} = schema
  const {root, field, checked} = of
  if (typeof $ref === 'string' && !checked.has($ref)) {
    if (!$ref.startsWith('#')) throw new UnsupportedInputFault(field, 'expected no references to other documents')
    if ($ref === '#' || open.includes($ref))
      throw new UnsupportedInputFault(field, 'expected a schema that does not refer to itself')
    if (open.length >= MAX_OPEN)
      throw new UnsupportedInputFault(field, `expected at most ${MAX_OPEN} references in a row`)
    const target = targetOf(root, $ref)
    if (isObject(target)) checkReferences(target, of, [...open, $ref])
    checked.add($ref)
  }
  // Definitions are followed where something refers to them.
  const {$defs: _, definitions: __, ...used} = schema
  withParts(used, part => {
    checkReferences(part, of, open)
    return part
  })
}

function targetOf(root: Json, ref: string): unknown {
  let at: unknown = root
  for (const step of ref.split('/').slice(1)) at = object(at)[step.replaceAll('~1', '/').replaceAll('~0', '~')]
  return at
}
