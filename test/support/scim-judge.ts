import {type AttributeRule, COMMON, ENTERPRISE, GROUP, type Rules, SCIM_TYPES, URN, USER} from './scim-rules.ts'
import {configFaults, schemaFaultsOf, typeFaults} from './scim-served.ts'

/** A reply, and the request that it answers. */
export interface JudgedReply {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly status: number
  readonly content_type: string | null
  readonly location: string | null
  readonly etag: string | null
  // biome-ignore lint/suspicious/noExplicitAny: what is judged may be anything
  readonly body: any
}

type Json = Record<string, unknown>

const KINDS: Readonly<Record<string, {readonly urn: string; readonly rules: Rules}>> = {
  Users: {urn: URN.user, rules: USER},
  Groups: {urn: URN.group, rules: GROUP},
}

/** What a reply has otherwise than RFC 7643 and RFC 7644 say; attributes that they do not know are faults as well. */
export function scimFaults(reply: JudgedReply): string[] {
  const {status, body, content_type} = reply
  if (status === 204 || status === 304) return body === undefined ? [] : [`a body with ${status}`]
  const wrong: string[] = []
  // RFC 7644 §3.8
  if (!/^application\/scim\+json(?:;|$)/.test(content_type ?? '')) wrong.push(`content-type: ${content_type}`)
  if (!isObject(body)) return [...wrong, 'the body is no object']
  if (status >= 400) return [...wrong, ...errorFaults(status, body)]
  if (![200, 201].includes(status)) wrong.push(`status ${status}`)
  const {kind, is_list, is_narrowed} = placeOf(reply)
  const of = (resource: Json, path: string) => resourceFaults(kind, resource, path, is_narrowed)
  if (is_list) return [...wrong, ...listFaults(body, of)]
  return [...wrong, ...of(body, ''), ...headerFaults(reply)]
}

const PLACE = /\/(Users|Groups|Schemas|ResourceTypes|ServiceProviderConfig)(?:\/([^/]+))?$/

function placeOf({path, method}: JudgedReply) {
  const [place = '', query = ''] = path.split('?')
  const [, kind = '', id] = PLACE.exec(place) ?? []
  const params = new URLSearchParams(query)
  const is_search = id === '.search'
  return {
    kind,
    is_list: is_search || (method === 'GET' && id === undefined && kind !== 'ServiceProviderConfig'),
    is_narrowed: params.has('attributes') || params.has('excludedAttributes') || is_search,
  }
}

/** RFC 7644 §3.4.2 */
function listFaults(body: Json, of: (resource: Json, path: string) => string[]): string[] {
  const {schemas, totalResults, Resources, startIndex, itemsPerPage} = body
  const wrong: string[] = []
  if (JSON.stringify(schemas) !== JSON.stringify([URN.list])) wrong.push('schemas: is not that of a list')
  for (const [name, value] of Object.entries({totalResults, startIndex, itemsPerPage}))
    if (!Number.isInteger(value) || (value as number) < 0) wrong.push(`${name}: is no number`)
  if (startIndex === 0) wrong.push('startIndex: counts from 1')
  if (Resources !== undefined && !Array.isArray(Resources)) return [...wrong, 'Resources: is no list']
  const found = (Resources ?? []) as unknown[]
  if (Resources === undefined && totalResults !== 0 && itemsPerPage !== 0) wrong.push('Resources: is missing')
  if (found.length !== itemsPerPage) wrong.push('itemsPerPage: is not how many there are')
  if (found.length > (totalResults as number)) wrong.push('totalResults: is less than there are')
  const known = new Set(['schemas', 'totalResults', 'Resources', 'startIndex', 'itemsPerPage'])
  for (const name of Object.keys(body)) if (!known.has(name)) wrong.push(`${name}: a list has none`)
  const ids = found.map(each => (isObject(each) ? each.id : undefined))
  if (new Set(ids).size !== ids.length) wrong.push('Resources: one comes twice')
  return [...wrong, ...found.flatMap((each, at) => (isObject(each) ? of(each, `[${at}].`) : [`[${at}]: is no object`]))]
}

/** RFC 7644 §3.12 */
function errorFaults(status: number, body: Json): string[] {
  const {schemas, status: written, scimType, detail} = body
  const wrong: string[] = []
  if (JSON.stringify(schemas) !== JSON.stringify([URN.error])) wrong.push('schemas: is not that of an error')
  if (written !== String(status)) wrong.push('status: is not the one of the reply, as text')
  if (detail !== undefined && (typeof detail !== 'string' || detail === '')) wrong.push('detail: is no text')
  if (scimType !== undefined && !SCIM_TYPES[String(scimType)]?.includes(status))
    wrong.push(`scimType: ${scimType} does not go with ${status}`)
  const known = new Set(['schemas', 'status', 'scimType', 'detail'])
  for (const name of Object.keys(body)) if (!known.has(name)) wrong.push(`${name}: an error has none`)
  return wrong
}

/** RFC 7644 §3.3, §3.14 */
function headerFaults({status, location, etag, body, method}: JudgedReply): string[] {
  const meta = isObject(body.meta) ? body.meta : {}
  const wrong: string[] = []
  if (method === 'POST' && status !== 201) wrong.push(`status: ${status} after a POST`)
  if (status === 201 && location === null) wrong.push('location: is missing')
  if (location !== null && meta.location !== undefined && location !== meta.location)
    wrong.push('location: is not meta.location')
  if (etag !== null && meta.version !== undefined && etag !== meta.version) wrong.push('etag: is not meta.version')
  return wrong
}

function resourceFaults(kind: string, resource: Json, path: string, is_narrowed: boolean): string[] {
  if (kind === 'Schemas') return schemaFaultsOf(resource, path)
  if (kind === 'ResourceTypes') return typeFaults(resource, path)
  if (kind === 'ServiceProviderConfig') return configFaults(resource, path)
  const {urn, rules} = KINDS[kind] ?? {urn: '', rules: {}}
  const {schemas, ...rest} = resource
  if (!isTexts(schemas) || schemas.length === 0) return [`${path}schemas: is missing`]
  const wrong: string[] = []
  if (!schemas.includes(urn)) wrong.push(`${path}schemas: lacks ${urn}`)
  if (new Set(schemas).size !== schemas.length) wrong.push(`${path}schemas: one comes twice`)
  const members: Json = {}
  for (const [name, value] of Object.entries(rest)) {
    if (!/^urn:/i.test(name)) members[name] = value
    else if (!schemas.includes(name)) wrong.push(`${path}${name}: is not in schemas`)
    else if (!isObject(value)) wrong.push(`${path}${name}: is no object`)
    else if (name === URN.enterprise) wrong.push(...membersFaults(value, ENTERPRISE, `${path}${name}:`, is_narrowed))
  }
  for (const extension of schemas)
    if (extension !== urn && !(extension in rest) && !is_narrowed)
      wrong.push(`${path}schemas: names ${extension}, of which there is nothing`)
  wrong.push(...membersFaults(members, {...COMMON, ...rules}, path, is_narrowed))
  return [...wrong, ...metaFaults(kind, resource, path)]
}

function metaFaults(kind: string, {id, meta}: Json, path: string): string[] {
  if (!isObject(meta)) return []
  const {resourceType, location, version, created, lastModified} = meta
  const wrong: string[] = []
  if (resourceType !== undefined && resourceType !== kind.slice(0, -1)) wrong.push(`${path}meta.resourceType`)
  if (location !== undefined && !(URL.canParse(String(location)) && String(location).endsWith(`/${kind}/${id}`)))
    wrong.push(`${path}meta.location: is no address of it`)
  // RFC 7232 §2.3
  if (version !== undefined && !/^(?:W\/)?"[\x21\x23-\x7e]*"$/.test(String(version)))
    wrong.push(`${path}meta.version: is no entity tag`)
  if (String(created) > String(lastModified)) wrong.push(`${path}meta.lastModified: is before created`)
  return wrong
}

function membersFaults(value: Json, rules: Rules, path: string, is_narrowed: boolean): string[] {
  const missing = Object.entries(rules)
    .filter(([name, {required, returned}]) => value[name] === undefined && isDue(required, returned, is_narrowed))
    .map(([name]) => `${path}${name}: is missing`)
  const wrong = Object.entries(value).flatMap(([name, inner]) => {
    const rule = Object.hasOwn(rules, name) ? rules[name]! : undefined
    if (!rule) return [`${path}${name}: is of no schema`]
    if (rule.returned === 'never') return [`${path}${name}: is never returned`]
    if (!rule.many) return valueFaults(inner, rule, path + name, is_narrowed)
    if (!Array.isArray(inner)) return [`${path}${name}: is no list`]
    const primary = inner.filter(each => isObject(each) && each.primary === true)
    return [
      ...(primary.length > 1 ? [`${path}${name}: several are primary`] : []),
      ...inner.flatMap((each, at) => valueFaults(each, rule, `${path}${name}[${at}]`, is_narrowed)),
    ]
  })
  return [...missing, ...wrong]
}

function isDue(required: true | undefined, returned: AttributeRule['returned'], is_narrowed: boolean): boolean {
  return returned === 'always' || (required === true && !is_narrowed)
}

function valueFaults(value: unknown, rule: AttributeRule, path: string, is_narrowed: boolean): string[] {
  const {type, parts, values} = rule
  if (type === 'complex')
    return isObject(value) ? membersFaults(value, parts!, `${path}.`, is_narrowed) : [`${path}: is no object`]
  if (type === 'boolean') return typeof value === 'boolean' ? [] : [`${path}: is neither true nor false`]
  if (typeof value !== 'string') return [`${path}: is no text`]
  if (values && !values.includes(value)) return [`${path}: is none of ${values.join(', ')}`]
  return isInForm(value, type) ? [] : [`${path}: is no ${type}`]
}

/** RFC 7643 §2.3 */
function isInForm(value: string, type: AttributeRule['type']): boolean {
  switch (type) {
    case 'dateTime':
      return (
        /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/.test(value) && !Number.isNaN(Date.parse(value))
      )
    case 'reference':
      return value !== '' && !/[\s<>"]/.test(value)
    case 'binary':
      return /^[\w+/-]*={0,2}$/.test(value)
    default:
      return true
  }
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(each => typeof each === 'string' && each !== '')
}
