import type {LdapSettings} from '../../schema/connections.ts'
import {SignInFault} from '../sign-in-fault.ts'
import {firstValueOf, isEntryName, utf8} from './names.ts'
import type {LdapEntry} from './replies.ts'

/** An entry of a person, read by the settings. */
export interface LdapPerson {
  readonly dn: string
  /** Stays the same as long as the directory keeps the entry. */
  readonly id: string
  /** Every value of the e-mail attribute, as it came. */
  readonly addresses: readonly string[]
  readonly first_name: string | null
  readonly last_name: string | null
  /** First parts of the names in memberOf; null where they did not fit. */
  readonly member_of: GroupNames | null
  readonly locks: readonly LdapLock[]
}

export interface GroupNames {
  readonly names: readonly string[]
  readonly dropped: number
}

/** `lifts_by_bind`: a server clears the mark at the next bind that it admits, so it is read again after it. */
export interface LdapLock {
  readonly reason: string
  readonly lifts_by_bind: boolean
}

const IDS = ['entryUUID', 'objectGUID', 'nsUniqueId']
/** Attributes of these names are bytes, also where the bytes happen to be text. */
const BINARY = new Set(['objectguid', 'objectsid', 'guid', 'ms-ds-consistencyguid'])
const [MEMBER_OF, CONTROL, NS_LOCK, LOCKED_TIME] = [
  'memberOf',
  'userAccountControl',
  'nsAccountLock',
  'pwdAccountLockedTime',
]
export const LOCK_ATTRIBUTES: readonly string[] = [CONTROL, NS_LOCK, LOCKED_TIME]
const ACCOUNT_DISABLED = 2
/** The time that means a lock that an administrator alone lifts. */
const LOCKED_BY_HAND = '000001010000'

const MAX_NAME_BYTES = 4096
const CONTROL_CHARACTERS = /[\x00-\x1f\x7f-\x9f]/
const MAX_ID_BYTES = 255
const MAX_ADDRESSES = 50
const MAX_PERSON_NAME = 255
const MAX_GROUPS = 1000
const MAX_GROUP_NAME = 255

/** Attributes that a search for people names. */
export function personAttributes(settings: LdapSettings): readonly string[] {
  const ids = settings.id_attribute === null ? IDS : [settings.id_attribute]
  const groups = settings.group_base === null ? [MEMBER_OF] : []
  return [...new Set([settings.email_attribute, ...ids, ...settings.name_attributes, ...groups, ...LOCK_ATTRIBUTES])]
}

/** Reads the entry of a person. Throws SignInFault `provider_invalid`, `address_not_unique` for very many addresses. */
export function readPerson(settings: LdapSettings, entry: LdapEntry): LdapPerson {
  if (Buffer.byteLength(entry.dn) > MAX_NAME_BYTES || !isEntryName(entry.dn))
    throw new SignInFault('provider_invalid', 'the name of the entry cannot be read')
  const addresses = valuesOf(entry, settings.email_attribute).map(value => value.subarray(0, MAX_NAME_BYTES).toString())
  if (addresses.length > MAX_ADDRESSES)
    throw new SignInFault('address_not_unique', `the entry has more than ${MAX_ADDRESSES} e-mail addresses`)
  const [first_name, last_name] = settings.name_attributes.map(name => nameIn(entry, name))
  return {
    dn: entry.dn,
    id: idOf(settings, entry),
    addresses,
    first_name: first_name ?? null,
    last_name: last_name ?? null,
    member_of: groupsIn(entry),
    locks: locksIn(entry),
  }
}

/** Marks of an entry that keep its account from signing in. */
export function locksIn(entry: LdapEntry): readonly LdapLock[] {
  const text = (name: string) => valuesOf(entry, name)[0]?.toString('latin1')
  const locks: LdapLock[] = []
  const control = text(CONTROL)
  if (control !== undefined && Number(control) & ACCOUNT_DISABLED)
    locks.push({reason: `${CONTROL} says that it is disabled`, lifts_by_bind: false})
  if (/^true$/i.test(text(NS_LOCK) ?? '')) locks.push({reason: `${NS_LOCK} is set`, lifts_by_bind: false})
  const locked = text(LOCKED_TIME)
  if (locked !== undefined)
    locks.push({reason: `${LOCKED_TIME} is set`, lifts_by_bind: !locked.startsWith(LOCKED_BY_HAND)})
  return locks
}

/** Values of one attribute, in any case of letters, without those of its options (`cn;lang-de`). */
export function valuesOf(entry: LdapEntry, attribute: string): readonly Buffer[] {
  return entry.attributes.get(attribute.toLowerCase()) ?? []
}

function idOf({id_attribute}: LdapSettings, entry: LdapEntry): string {
  const names = id_attribute === null ? IDS : [id_attribute]
  const name = names.find(each => valuesOf(entry, each).length > 0)
  if (name === undefined) {
    if (id_attribute === null) return withoutCase(entry.dn)
    throw new SignInFault('provider_invalid', `the entry has no attribute ${id_attribute}`)
  }
  const [value, ...more] = valuesOf(entry, name)
  if (!value || value.length === 0 || value.length > MAX_ID_BYTES || more.length > 0)
    throw new SignInFault('provider_invalid', `the attribute ${name} is not one value of 1 to ${MAX_ID_BYTES} bytes`)
  const text = BINARY.has(name.toLowerCase()) ? undefined : utf8(value)
  return text === undefined || CONTROL_CHARACTERS.test(text) ? value.toString('hex') : text
}

/** In small letters, but for those whose small form is another letter's: two entries would be one person. */
function withoutCase(dn: string): string {
  return dn.replace(/[^\u0130\u03f4\u1e9e\u2126\u212a\u212b]+/g, part => part.toLowerCase())
}

function nameIn(entry: LdapEntry, attribute: string): string | null {
  const [value] = valuesOf(entry, attribute)
  const text = value && utf8(value)
  return text && !CONTROL_CHARACTERS.test(text) ? text.slice(0, MAX_PERSON_NAME) : null
}

function groupsIn(entry: LdapEntry): LdapPerson['member_of'] {
  // Active Directory gives the first of very many values only, under a name with a range
  const in_parts = [...entry.attributes.keys()].some(name => name.startsWith(`${MEMBER_OF.toLowerCase()};range=`))
  const values = valuesOf(entry, MEMBER_OF)
  if (in_parts || values.length > MAX_GROUPS) return null
  return fittingGroups(
    values.map(value => {
      const dn = value.length > MAX_NAME_BYTES ? undefined : utf8(value)
      return dn === undefined ? undefined : firstValueOf(dn)
    }),
  )
}

/** Names of groups without the doubles; those that are no text, or a very long one, are counted as dropped. */
export function fittingGroups(names: readonly (string | undefined)[]): GroupNames {
  const fitting = names.filter(name => name !== undefined && isGroupName(name))
  return {names: [...new Set(fitting as string[])], dropped: names.length - fitting.length}
}

function isGroupName(name: string): boolean {
  return name !== '' && name.length <= MAX_GROUP_NAME && !CONTROL_CHARACTERS.test(name)
}
