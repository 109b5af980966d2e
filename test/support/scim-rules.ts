/**
 * The rules for attributes, written from RFC 7643 §3.1, §4 and §8.7 alone: independent of the schemas that the gateway
 * serves, which are judged by them as well.
 */
export interface AttributeRule {
  readonly type: 'string' | 'boolean' | 'reference' | 'dateTime' | 'binary' | 'complex'
  readonly many?: true
  /** It has to be there, in every representation that is not narrowed. */
  readonly required?: true
  readonly mutability?: 'readOnly' | 'immutable' | 'writeOnly'
  readonly returned?: 'always' | 'never'
  readonly unique?: true
  /** Its only values; of attributes whose values the client chooses they are a proposal, and none is here. */
  readonly values?: readonly string[]
  readonly parts?: Rules
}

export type Rules = Readonly<Record<string, AttributeRule>>

export const URN = {
  user: 'urn:ietf:params:scim:schemas:core:2.0:User',
  group: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  enterprise: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
  list: 'urn:ietf:params:scim:api:messages:2.0:ListResponse',
  error: 'urn:ietf:params:scim:api:messages:2.0:Error',
  schema: 'urn:ietf:params:scim:schemas:core:2.0:Schema',
  type: 'urn:ietf:params:scim:schemas:core:2.0:ResourceType',
  config: 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig',
} as const

const text: AttributeRule = {type: 'string'}
const truth: AttributeRule = {type: 'boolean'}
const link: AttributeRule = {type: 'reference'}
const moment: AttributeRule = {type: 'dateTime', required: true, mutability: 'readOnly'}
const readOnly = <Rule extends AttributeRule>(rule: Rule) => ({...rule, mutability: 'readOnly'}) as const
const texts = (...names: string[]): Rules => Object.fromEntries(names.map(name => [name, text]))
/** §2.4: the parts that lists of complex values have in common. */
const plural = (value: AttributeRule = text): AttributeRule => ({
  ...{type: 'complex', many: true},
  parts: {...texts('display', 'type'), value, primary: truth},
})

/** §3.1 */
export const COMMON: Rules = {
  id: {type: 'string', required: true, returned: 'always', mutability: 'readOnly'},
  externalId: text,
  meta: {
    ...{type: 'complex', required: true, mutability: 'readOnly'},
    parts: {
      resourceType: {type: 'string', required: true, mutability: 'readOnly'},
      ...{created: moment, lastModified: moment},
      location: {type: 'reference', required: true, mutability: 'readOnly'},
      // ETags are offered
      version: {type: 'string', required: true, mutability: 'readOnly'},
    },
  },
}

/** §4.1, §8.7.1 */
export const USER: Rules = {
  userName: {type: 'string', required: true, unique: true},
  name: {
    type: 'complex',
    parts: texts('formatted', 'familyName', 'givenName', 'middleName', 'honorificPrefix', 'honorificSuffix'),
  },
  ...texts('displayName', 'nickName', 'title', 'userType', 'preferredLanguage', 'locale', 'timezone'),
  profileUrl: link,
  active: truth,
  password: {type: 'string', mutability: 'writeOnly', returned: 'never'},
  ...{emails: plural(), phoneNumbers: plural(), ims: plural(), photos: plural(link)},
  addresses: {
    ...{type: 'complex', many: true},
    parts: {
      ...texts('formatted', 'streetAddress', 'locality', 'region', 'postalCode', 'country', 'type'),
      primary: truth,
    },
  },
  groups: {
    ...{type: 'complex', many: true, mutability: 'readOnly'},
    parts: {
      ...{value: readOnly(text), $ref: readOnly(link), display: readOnly(text)},
      type: {type: 'string', mutability: 'readOnly', values: ['direct', 'indirect']},
    },
  },
  ...{entitlements: plural(), roles: plural(), x509Certificates: plural({type: 'binary'})},
}

/** §4.3 */
export const ENTERPRISE: Rules = {
  ...texts('employeeNumber', 'costCenter', 'organization', 'division', 'department'),
  manager: {type: 'complex', parts: {value: text, $ref: link, displayName: readOnly(text)}},
}

/** §4.2 */
export const GROUP: Rules = {
  displayName: {type: 'string', required: true},
  members: {
    ...{type: 'complex', many: true},
    parts: {
      value: {type: 'string', mutability: 'immutable'},
      $ref: {type: 'reference', mutability: 'immutable'},
      type: {type: 'string', mutability: 'immutable', values: ['User', 'Group']},
      // §2.4: every list has it, and the service writes it
      display: readOnly(text),
    },
  },
}

/** RFC 7644 §3.12, table 9: the status with which each comes. */
export const SCIM_TYPES: Readonly<Record<string, readonly number[]>> = {
  invalidFilter: [400],
  tooMany: [400],
  uniqueness: [409],
  mutability: [400],
  invalidSyntax: [400],
  invalidPath: [400],
  noTarget: [400],
  invalidValue: [400],
  invalidVers: [400],
  sensitive: [400, 403],
}
