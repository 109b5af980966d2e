import type {LdapSettings} from '../../schema/connections.ts'
import {SignInFault} from '../sign-in-fault.ts'
import type {StatedGroups} from '../statement.ts'
import {type LdapAnswered, type LdapConnection, noted} from './connection.ts'
import {
  fittingGroups,
  type LdapLock,
  type LdapPerson,
  LOCK_ATTRIBUTES,
  locksIn,
  personAttributes,
  readPerson,
  valuesOf,
} from './entries.ts'
import {filledFilter} from './filters.ts'
import {utf8} from './names.ts'
import type {LdapRequests, LdapSearch} from './requests.ts'

/** How many entries fit a user name. A search that was cut short found several, however many it gave. */
export type FoundPerson = {readonly kind: 'one'; readonly person: LdapPerson} | {readonly kind: 'none' | 'several'}

/** Looks for the person of a user name. Throws SignInFault. */
export async function findPerson(search: Searching, settings: LdapSettings, username: string): Promise<FoundPerson> {
  const {entries, has_more} = await search('the search for the user name', {
    base: settings.user_base,
    scope: 'sub',
    filter: filledFilter(settings.user_filter, 'username', username),
    attributes: personAttributes(settings),
    most_entries: 2,
  })
  const [entry, ...more] = entries
  if (has_more || more.length > 0) return {kind: 'several'}
  return entry ? {kind: 'one', person: readPerson(settings, entry)} : {kind: 'none'}
}

/** Entries that have `address` as a value of the e-mail attribute, 2 for all larger numbers. Throws SignInFault. */
export async function countAddress(search: Searching, settings: LdapSettings, address: string): Promise<number> {
  const {entries, has_more} = await search('the search for the address', {
    base: settings.user_base,
    scope: 'sub',
    filter: {attribute: settings.email_attribute, value: address},
    attributes: NO_ATTRIBUTES,
    most_entries: 2,
  })
  return has_more ? 2 : entries.length
}

/** The marks that an entry has now. Throws SignInFault. */
export async function locksOf(search: Searching, dn: string): Promise<readonly LdapLock[]> {
  const {entries} = await search('the second search for the entry', {
    base: dn,
    scope: 'base',
    filter: '(objectClass=*)',
    attributes: LOCK_ATTRIBUTES,
    most_entries: 1,
  })
  if (!entries[0]) throw new SignInFault('provider_unreachable', 'the entry was not found again')
  return locksIn(entries[0])
}

/**
 * The groups of a person, by memberOf or by a search. Throws SignInFault `provider_unreachable` where the search fails:
 * that a person has no groups is never concluded from it.
 */
export async function groupsOf(search: Searching, settings: LdapSettings, person: LdapPerson): Promise<StatedGroups> {
  const {group_base, group_filter, group_name_attribute} = settings
  if (group_base === null) {
    return person.member_of
      ? {kind: 'known', ...person.member_of}
      : {kind: 'unknown', reason: 'memberOf has more values than are read here, or than the directory gives at once'}
  }
  const {entries, result, has_more} = await search(GROUP_SEARCH, {
    base: group_base,
    scope: 'sub',
    filter: filledFilter(group_filter ?? '(member={dn})', 'dn', person.dn),
    attributes: [group_name_attribute],
    most_entries: MAX_GROUPS,
  })
  if (has_more) throw new SignInFault('provider_unreachable', `${GROUP_SEARCH} was cut short: ${noted(result)}`)
  const names = entries.flatMap(entry => {
    const values = valuesOf(entry, group_name_attribute).map(value => utf8(value))
    return values.length > 0 ? values : [undefined]
  })
  return {kind: 'known', ...fittingGroups(names)}
}

/** Runs a search under a name for messages. A result other than success and "cut short" is a SignInFault. */
export type Searching = (name: string, search: LdapSearch) => Promise<LdapAnswered>

/** Searches over one connection. */
export function searchingOver(connection: LdapConnection, requests: LdapRequests): Searching {
  return async (name, search) => {
    const answered = await connection.ask(requests.search(search))
    const {code} = answered.result
    if (code === NO_SUCH_OBJECT && search.may_be_absent) return {...answered, entries: [], has_more: false}
    if (code === SUCCESS || code === SIZE_LIMIT_EXCEEDED) return answered
    const detail = `${name} failed: ${noted(answered.result)}`
    if (code === PROTOCOL_ERROR) throw new SignInFault('provider_invalid', detail)
    const is_setting = WRONG_SETTINGS.has(code) && name !== GROUP_SEARCH
    throw new SignInFault(is_setting ? 'provider_error' : 'provider_unreachable', detail)
  }
}

const GROUP_SEARCH = 'the search for groups'
const NO_ATTRIBUTES = ['1.1']
const MAX_GROUPS = 1000
const [SUCCESS, PROTOCOL_ERROR, SIZE_LIMIT_EXCEEDED, NO_SUCH_OBJECT] = [0, 2, 4, 32]
/** No such base, a name that is none, not allowed: the same answer would come tomorrow. */
const WRONG_SETTINGS = new Set([12, 13, 18, 21, 32, 34, 50, 53])
