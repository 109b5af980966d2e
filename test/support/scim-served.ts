import {type AttributeRule, ENTERPRISE, GROUP, type Rules, URN, USER} from './scim-rules.ts'

type Json = Record<string, unknown>

const TYPES = new Set(['string', 'boolean', 'decimal', 'integer', 'dateTime', 'reference', 'complex', 'binary'])
const MUTABILITY = new Set(['readOnly', 'readWrite', 'immutable', 'writeOnly'])
const RETURNED = new Set(['always', 'never', 'default', 'request'])
const UNIQUENESS = new Set(['none', 'server', 'global'])
const KNOWN: Readonly<Record<string, Rules>> = {[URN.user]: USER, [URN.group]: GROUP, [URN.enterprise]: ENTERPRISE}

/** A schema as it is served (RFC 7643 §7), against its form and against the standard's own of the same name. */
export function schemaFaultsOf(schema: Json, path: string): string[] {
  const {schemas, id, name, attributes, meta} = schema
  const wrong = commonFaults({schemas, id, meta}, {urn: URN.schema, type: 'Schema', path})
  if (typeof name !== 'string') wrong.push(`${path}name: is no text`)
  if (!Array.isArray(attributes) || attributes.length === 0) return [...wrong, `${path}attributes: is no list`]
  const rules = KNOWN[String(id)]
  return [...wrong, ...attributes.flatMap(each => attributeFaults(each as Json, rules, `${path}${id}:`))]
}

function attributeFaults(attribute: Json, rules: Rules | undefined, path: string): string[] {
  const {name, type, multiValued, required, caseExact, mutability, returned, uniqueness, subAttributes} = attribute
  if (typeof name !== 'string' || !/^\$?[A-Za-z][\w-]*$/.test(name)) return [`${path}${name}: is no name`]
  const at = `${path}${name}`
  const wrong: string[] = []
  const keep = (is_right: boolean, fault: string) => {
    if (!is_right) wrong.push(`${at}: ${fault}`)
  }
  keep(TYPES.has(String(type)), 'has no type')
  for (const [key, value] of Object.entries({multiValued, required}))
    keep(typeof value === 'boolean', `${key} is neither true nor false`)
  keep(type === 'complex' || typeof caseExact === 'boolean', 'caseExact is neither true nor false')
  keep(MUTABILITY.has(String(mutability)), 'has no mutability')
  keep(RETURNED.has(String(returned)), 'has no returned')
  keep(UNIQUENESS.has(String(uniqueness)), 'has no uniqueness')
  keep(type !== 'reference' || Array.isArray(attribute.referenceTypes), 'has no referenceTypes')
  keep((type === 'complex') === Array.isArray(subAttributes), 'has parts, or none, against its type')
  const rule = rules && Object.hasOwn(rules, name) ? rules[name] : undefined
  if (rules && !rule) wrong.push(`${at}: the standard has none`)
  if (rule) wrong.push(...ruleFaults(attribute, rule, at))
  const parts = Array.isArray(subAttributes) ? (subAttributes as Json[]) : []
  return [...wrong, ...parts.flatMap(each => attributeFaults(each, rule?.parts, `${at}.`))]
}

function ruleFaults(
  {type, multiValued, mutability, returned, uniqueness, subAttributes}: Json,
  rule: AttributeRule,
  at: string,
) {
  const wrong: string[] = []
  if (type !== rule.type) wrong.push(`${at}: is ${type}, and ${rule.type} in the standard`)
  if (multiValued !== (rule.many ?? false)) wrong.push(`${at}: multiValued differs`)
  if (mutability !== (rule.mutability ?? 'readWrite')) wrong.push(`${at}: mutability differs`)
  if (returned !== (rule.returned ?? 'default')) wrong.push(`${at}: returned differs`)
  if ((uniqueness === 'server') !== (rule.unique ?? false)) wrong.push(`${at}: uniqueness differs`)
  const parts = new Set(Array.isArray(subAttributes) ? subAttributes.map(each => (each as Json).name) : [])
  for (const part of Object.keys(rule.parts ?? {})) if (!parts.has(part)) wrong.push(`${at}.${part}: is missing`)
  return wrong
}

/** RFC 7643 §6 */
export function typeFaults(resource: Json, path: string): string[] {
  const {schemas, id, meta, name, endpoint, schema, schemaExtensions = []} = resource
  const wrong = commonFaults({schemas, id, meta}, {urn: URN.type, type: 'ResourceType', path})
  if (typeof name !== 'string') wrong.push(`${path}name: is no text`)
  if (!/^\/\w+$/.test(String(endpoint))) wrong.push(`${path}endpoint: is no path below the base`)
  if (!KNOWN[String(schema)]) wrong.push(`${path}schema: is unknown`)
  for (const each of schemaExtensions as Json[])
    if (!KNOWN[String(each.schema)] || typeof each.required !== 'boolean') wrong.push(`${path}schemaExtensions`)
  return wrong
}

/** RFC 7643 §5 */
export function configFaults(resource: Json, path: string): string[] {
  const {schemas, meta, authenticationSchemes} = resource
  const wrong = commonFaults({schemas, id: 'none', meta}, {urn: URN.config, type: 'ServiceProviderConfig', path})
  const parts = {
    ...{patch: ['supported'], changePassword: ['supported'], sort: ['supported'], etag: ['supported']},
    bulk: ['supported', 'maxOperations', 'maxPayloadSize'],
    filter: ['supported', 'maxResults'],
  }
  for (const [name, members] of Object.entries(parts)) {
    const part = (resource[name] ?? {}) as Json
    for (const member of members) {
      const is_right = member === 'supported' ? typeof part[member] === 'boolean' : Number.isInteger(part[member])
      if (!is_right) wrong.push(`${path}${name}.${member}: is missing or of another type`)
    }
  }
  if (!Array.isArray(authenticationSchemes) || authenticationSchemes.length === 0)
    return [...wrong, `${path}authenticationSchemes: is no list`]
  for (const each of authenticationSchemes as Json[])
    for (const member of ['type', 'name', 'description'])
      if (typeof each[member] !== 'string') wrong.push(`${path}authenticationSchemes.${member}: is no text`)
  return wrong
}

function commonFaults(
  {schemas, id, meta}: Json,
  {urn, type, path}: {urn: string; type: string; path: string},
): string[] {
  const wrong: string[] = []
  if (JSON.stringify(schemas) !== JSON.stringify([urn])) wrong.push(`${path}schemas: is not ${urn}`)
  if (typeof id !== 'string' || id === '') wrong.push(`${path}id: is no text`)
  const {resourceType, location} = (meta ?? {}) as Json
  if (resourceType !== type) wrong.push(`${path}meta.resourceType: is not ${type}`)
  if (!URL.canParse(String(location))) wrong.push(`${path}meta.location: is no address`)
  return wrong
}
