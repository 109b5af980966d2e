/** URNs of RFC 7643 §8.7. */
export const USER = 'urn:ietf:params:scim:schemas:core:2.0:User'
export const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group'
export const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

/** Attributes of one value, and of several, whose names directories write in any case. */
const TEXTS = [
  ...['id', 'externalId', 'userName', 'displayName', 'nickName', 'profileUrl', 'title', 'userType'],
  ...['preferredLanguage', 'locale', 'timezone', 'password'],
] as const
const LISTS = [
  ...['emails', 'phoneNumbers', 'ims', 'photos', 'addresses', 'groups', 'entitlements', 'roles'],
  ...['x509Certificates', 'members'],
] as const
const OTHERS = ['schemas', 'meta', 'name', 'active'] as const
const SUBS = [
  ...['value', 'display', 'displayName', 'type', 'primary', '$ref', 'formatted', 'familyName', 'givenName'],
  ...['middleName', 'honorificPrefix', 'honorificSuffix', 'streetAddress', 'locality', 'region', 'postalCode'],
  ...['country', 'employeeNumber', 'costCenter', 'organization', 'division', 'department', 'manager'],
  ...['resourceType', 'created', 'lastModified', 'location', 'version'],
] as const

const CANONICAL = new Map([...TEXTS, ...LISTS, ...OTHERS, ...SUBS].map(name => [name.toLowerCase(), name as string]))
const MANY: ReadonlySet<string> = new Set(LISTS)
const TEXT: ReadonlySet<string> = new Set(TEXTS)
/** Attributes that are true or false. */
const BOOLEAN: ReadonlySet<string> = new Set(['active', 'primary'])
/** Attributes that only the service writes. */
export const READ_ONLY: ReadonlySet<string> = new Set(['id', 'meta', 'schemas'])

/** The name as RFC 7643 writes it; one that is unknown as it came. */
export function canonical(name: string): string {
  return CANONICAL.get(name.toLowerCase()) ?? name
}

export const isMany = (name: string) => MANY.has(name)
export const isText = (name: string) => TEXT.has(name)
export const isBoolean = (name: string) => BOOLEAN.has(name)
