import type {ScimReply} from './scim.ts'

interface Attribute {
  readonly name: string
  readonly type: string
  readonly multiValued: boolean
  readonly required: boolean
  readonly subAttributes?: readonly Attribute[]
}

/** An attribute of RFC 7643 §3.1 that every resource has. */
const COMMON: readonly Attribute[] = [
  {name: 'id', type: 'string', multiValued: false, required: true},
  {name: 'externalId', type: 'string', multiValued: false, required: false},
  {
    ...{name: 'meta', type: 'complex', multiValued: false, required: true},
    subAttributes: ['resourceType', 'created', 'lastModified', 'location', 'version'].map(name => ({
      ...{name, type: 'string', multiValued: false, required: true},
    })),
  },
]

/** What a resource has otherwise than the schemas that it names say, by the schemas that the gateway itself serves. */
export function schemaFaults(resource: ScimReply['body'], schemas: readonly ScimReply['body'][]): string[] {
  const named = resource.schemas as string[]
  if (!Array.isArray(named) || named.length === 0) return ['schemas: is missing']
  const core = schemas.find(({id}) => id === named[0])
  if (!core) return [`schemas: ${named[0]} is not served`]
  const extensions = named.slice(1).flatMap(urn => {
    const schema = schemas.find(({id}) => id === urn)
    return schema && resource[urn] ? faultsOf(resource[urn], schema.attributes, `${urn}:`, true) : []
  })
  const {schemas: _, ...rest} = resource
  for (const urn of named.slice(1)) delete rest[urn]
  return [...faultsOf(rest, [...COMMON, ...core.attributes], '', true), ...extensions]
}

function faultsOf(
  value: Record<string, unknown>,
  attributes: readonly Attribute[],
  path: string,
  may_have_more: boolean,
): string[] {
  const missing = attributes.filter(({required, name}) => required && value[name] === undefined)
  const wrong = Object.entries(value).flatMap(([name, inner]) => {
    const attribute = attributes.find(each => each.name === name)
    if (!attribute) return may_have_more ? [] : [`${path}${name}: is not in the schema`]
    if (attribute.multiValued !== Array.isArray(inner)) return [`${path}${name}: a list where none is, or none`]
    const each = Array.isArray(inner) ? inner : [inner]
    return each.flatMap(one => faultOf(one, attribute, path + name))
  })
  return [...missing.map(({name}) => `${path}${name}: is missing`), ...wrong]
}

function faultOf(value: unknown, {type, subAttributes}: Attribute, path: string): string[] {
  if (type === 'complex')
    return typeof value === 'object' && value !== null
      ? faultsOf(value as Record<string, unknown>, subAttributes ?? [], `${path}.`, true)
      : [`${path}: is no object`]
  const expected = type === 'boolean' ? 'boolean' : 'string'
  return typeof value === expected ? [] : [`${path}: is ${typeof value} and not ${expected}`]
}
