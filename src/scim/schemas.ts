import {ENTERPRISE, GROUP, USER} from './names.ts'

// The schemas of RFC 7643 §4 as far as they mean something here; other attributes are kept as they come.

interface Attribute {
  readonly name: string
  readonly type: 'string' | 'boolean' | 'complex' | 'reference' | 'dateTime' | 'binary'
  readonly multiValued: boolean
  readonly description: string
  readonly required: boolean
  readonly caseExact: boolean
  readonly mutability: 'readOnly' | 'readWrite' | 'writeOnly' | 'immutable'
  readonly returned: 'always' | 'default' | 'never' | 'request'
  readonly uniqueness: 'none' | 'server'
  readonly subAttributes?: readonly Attribute[]
  readonly referenceTypes?: readonly string[]
}

function attribute(name: string, description: string, more: Partial<Attribute> = {}): Attribute {
  return {
    ...{name, description, type: 'string', multiValued: false, required: false, caseExact: false},
    ...{mutability: 'readWrite', returned: 'default', uniqueness: 'none'},
    ...more,
  } as Attribute
}

function list(name: string, description: string, value: Partial<Attribute> = {}): Attribute {
  return attribute(name, description, {
    type: 'complex',
    multiValued: true,
    subAttributes: [
      attribute('value', 'The value.', value),
      attribute('display', 'Its name for people.'),
      attribute('type', 'What it is used for, for example work.'),
      attribute('primary', 'The one that is preferred.', {type: 'boolean'}),
    ],
  })
}

const NAME = ['formatted', 'familyName', 'givenName', 'middleName', 'honorificPrefix', 'honorificSuffix']
const ADDRESS = ['formatted', 'streetAddress', 'locality', 'region', 'postalCode', 'country', 'type']
const OF_GROUP = [
  attribute('value', 'The id of the user.', {mutability: 'immutable'}),
  attribute('$ref', 'Where it is found.', {type: 'reference', referenceTypes: ['User'], mutability: 'immutable'}),
  attribute('display', 'The address of the user.', {mutability: 'readOnly'}),
  attribute('type', 'User.', {mutability: 'immutable'}),
]

const GROUPS_OF_USER = [
  attribute('value', 'The id of the group.', {mutability: 'readOnly'}),
  attribute('$ref', 'Where it is found.', {type: 'reference', referenceTypes: ['Group'], mutability: 'readOnly'}),
  attribute('display', 'The name of the group.', {mutability: 'readOnly'}),
  attribute('type', 'direct: groups hold no groups.', {mutability: 'readOnly'}),
]

const USER_ATTRIBUTES = [
  attribute('userName', 'The name by which the user signs in: an e-mail address.', {
    required: true,
    uniqueness: 'server',
  }),
  attribute('name', 'The parts of the name.', {
    type: 'complex',
    subAttributes: NAME.map(each => attribute(each, 'A part of the name.')),
  }),
  ...['displayName', 'nickName', 'title', 'userType', 'preferredLanguage', 'locale', 'timezone'].map(name =>
    attribute(name, 'Kept as it came.'),
  ),
  attribute('profileUrl', 'Kept as it came.', {type: 'reference', referenceTypes: ['external']}),
  attribute('active', 'False ends all access to the organisation.', {type: 'boolean'}),
  attribute('password', 'Taken, and never kept.', {mutability: 'writeOnly', returned: 'never'}),
  list('emails', 'Addresses; the account goes by userName, or the primary one.'),
  ...['phoneNumbers', 'ims', 'entitlements'].map(name => list(name, 'Kept as it came.')),
  list('photos', 'Kept as it came.', {type: 'reference', referenceTypes: ['external']}),
  list('x509Certificates', 'Kept as it came.', {type: 'binary', caseExact: true}),
  attribute('addresses', 'Kept as it came.', {
    type: 'complex',
    multiValued: true,
    subAttributes: [
      ...ADDRESS.map(each => attribute(each, 'A part of the address.')),
      attribute('primary', 'The one that is preferred.', {type: 'boolean'}),
    ],
  }),
  list('roles', 'The role in the organisation: owner, admin or member.'),
  attribute('groups', 'The groups that the user is in.', {
    ...{type: 'complex', multiValued: true, mutability: 'readOnly'},
    subAttributes: GROUPS_OF_USER,
  }),
]

const GROUP_ATTRIBUTES = [
  attribute('displayName', 'The name; one of the agreed form maps the group to a workspace.', {required: true}),
  attribute('members', 'The users in it.', {type: 'complex', multiValued: true, subAttributes: OF_GROUP}),
]

const ENTERPRISE_ATTRIBUTES = [
  ...['employeeNumber', 'costCenter', 'organization', 'division', 'department'].map(name =>
    attribute(name, 'Kept as it came.'),
  ),
  attribute('manager', 'Kept as it came.', {
    type: 'complex',
    subAttributes: [
      attribute('value', 'The id of the manager.'),
      attribute('$ref', 'Where it is found.', {type: 'reference', referenceTypes: ['User']}),
      attribute('displayName', 'The name.', {mutability: 'readOnly'}),
    ],
  }),
]

const SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Schema'

export function schemas(location: string) {
  return [
    {id: USER, name: 'User', description: 'A user', attributes: USER_ATTRIBUTES},
    {id: GROUP, name: 'Group', description: 'A group', attributes: GROUP_ATTRIBUTES},
    {
      id: ENTERPRISE,
      name: 'EnterpriseUser',
      description: 'Further attributes of a user',
      attributes: ENTERPRISE_ATTRIBUTES,
    },
  ].map(each => ({
    schemas: [SCHEMA],
    ...each,
    meta: {resourceType: 'Schema', location: `${location}/Schemas/${each.id}`},
  }))
}

export function resourceTypes(location: string) {
  const type = (id: string, endpoint: string, schema: string, extensions: readonly string[]) => ({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
    ...{id, name: id, description: `${id} of the organisation`, endpoint, schema},
    schemaExtensions: extensions.map(each => ({schema: each, required: false})),
    meta: {resourceType: 'ResourceType', location: `${location}/ResourceTypes/${id}`},
  })
  return [type('User', '/Users', USER, [ENTERPRISE]), type('Group', '/Groups', GROUP, [])]
}

export function serviceProviderConfig(location: string) {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
    patch: {supported: true},
    bulk: {supported: false, maxOperations: 0, maxPayloadSize: 0},
    filter: {supported: true, maxResults: 200},
    changePassword: {supported: false},
    sort: {supported: true},
    etag: {supported: true},
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Bearer token',
        description: 'A token that gateway scim tokens create prints',
        primary: true,
      },
    ],
    meta: {resourceType: 'ServiceProviderConfig', location: `${location}/ServiceProviderConfig`},
  }
}
