import {readAddress} from '../base/address.ts'
import {isList, type JsonObject, type JsonValue, own} from '../base/json-member.ts'
import type {OrganisationRole} from '../store/tables/people.ts'
import {badRequest, ScimFault} from './fault.ts'
import {inForm} from './form.ts'
import {type MutableObject, memberOf, removeMember} from './json.ts'

/** The facts in a resource of a user that the gateway acts on. */
export interface UserFacts {
  readonly user_name: string
  /** The e-mail address that he is known by here, and its domain. */
  readonly address: string
  readonly domain: string
  /** All of his addresses, in lower case. */
  readonly addresses: readonly string[]
  readonly external_id: string | null
  /** Undefined: it does not say. */
  readonly active: boolean | undefined
  readonly first_name: string | null
  readonly last_name: string | null
  readonly role: OrganisationRole | undefined
}

const LONGEST_NAME = 255
const MAX_RESOURCE_BYTES = 64 * 1024
/** Attributes that the service adds itself, keeps elsewhere, or may not keep. */
const NOT_KEPT = ['id', 'meta', 'schemas', 'groups', 'active', 'roles', 'password', 'externalId'] as const

/** Refuses with `invalidValue` what no user can be made of. */
export function userFacts(resource: JsonObject): UserFacts {
  const user_name = textIn(resource, 'userName')
  if (user_name === null)
    throw badRequest('invalidValue', 'userName: is required, as a text of at most 255 characters.')
  const addresses = addressesIn(resource)
  const read = readAddress(user_name) ?? readAddress(addresses[0])
  if (!read) throw badRequest('invalidValue', 'userName: is no e-mail address, and there is none in emails.')
  const active = own(resource, 'active')
  if (active !== undefined && typeof active !== 'boolean')
    throw badRequest('invalidValue', 'active: expected true or false.')
  const name = memberOf(resource, 'name')
  return {
    user_name,
    ...read,
    addresses: [...new Set([read.address, ...addresses.map(address => address.toLowerCase())])],
    external_id: textIn(resource, 'externalId'),
    active,
    first_name: textIn(name, 'givenName'),
    last_name: textIn(name, 'familyName'),
    role: roleIn(memberOf(resource, 'roles')),
  }
}

/** The attributes that are kept as they came, but for their shape. */
export function keptResource(resource: MutableObject): string {
  const {userName, ...rest} = resource
  for (const name of NOT_KEPT) removeMember(rest, name)
  const text = JSON.stringify({userName, ...inForm(rest)})
  if (Buffer.byteLength(text) > MAX_RESOURCE_BYTES) throw new ScimFault(413, 'The resource is larger than 64 KB.')
  return text
}

function textIn(value: JsonValue | undefined, name: string): string | null {
  const text = memberOf(value, name)
  if (text === undefined || text === null || text === '') return null
  if (typeof text !== 'string' || text.length > LONGEST_NAME)
    throw badRequest('invalidValue', `${name}: expected a text of at most ${LONGEST_NAME} characters.`)
  return text
}

/** The primary address first. */
function addressesIn(resource: JsonObject): string[] {
  const emails = memberOf(resource, 'emails')
  const listed = (isList(emails) ? emails : []).flatMap(each => {
    const value = memberOf(each, 'value')
    return typeof value === 'string' ? [{value, is_primary: memberOf(each, 'primary') === true}] : []
  })
  return listed.toSorted((a, b) => Number(b.is_primary) - Number(a.is_primary)).map(({value}) => value)
}

const LEVELS: readonly OrganisationRole[] = ['member', 'admin', 'owner']

/** The highest of the roles that are named; a name that is unknown is a member's. Undefined where none is named. */
function roleIn(roles: JsonValue | undefined): OrganisationRole | undefined {
  const named = (isList(roles) ? roles : []).map(each => memberOf(each, 'value') ?? each)
  const levels = named
    .filter(each => typeof each === 'string' && each !== '')
    .map(each => Math.max(0, LEVELS.indexOf(String(each).toLowerCase() as OrganisationRole)))
  return levels.length > 0 ? LEVELS[Math.max(...levels)] : undefined
}
