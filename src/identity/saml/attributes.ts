import {readAddress} from '../../base/address.ts'
import {SignInFault} from '../sign-in-fault.ts'
import type {StatedGroups} from '../statement.ts'
import {ASSERTION, EMAIL_FORMAT, PERSISTENT_FORMAT} from './names.ts'
import {attributeOf, childrenNamed, isNamed, type XmlElement} from './xml.ts'

/** Values of each attribute, in the order of the assertion; one that is there without values has an empty list. */
export type StatedAttributes = ReadonlyMap<string, readonly string[]>

export interface NameId {
  readonly value: string
  readonly format: string | null
  readonly qualifier: string | null
  readonly sp_qualifier: string | null
}

/** The settings of a connection that name attributes. */
export interface AttributeNames {
  readonly email_attribute: string | null
  readonly groups_attribute: string | null
  readonly subject_attribute: string | null
}

const CLAIMS = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims'
const OBJECT_ID = 'http://schemas.microsoft.com/identity/claims/objectidentifier'
const EMAILS = ['email', 'mail', 'urn:oid:0.9.2342.19200300.100.1.3', `${CLAIMS}/emailaddress`] as const
const FIRST_NAMES = [
  'first_name', 'firstName', 'given_name', 'givenName', 'urn:oid:2.5.4.42', `${CLAIMS}/givenname`,
] as const // biome-ignore format: a list is read by its line
const LAST_NAMES = [
  'last_name', 'lastName', 'family_name', 'surname', 'sn', 'urn:oid:2.5.4.4', `${CLAIMS}/surname`,
] as const // biome-ignore format: a list is read by its line
/** Entra sends it instead of groups that are too many. */
const GROUPS_LINK = /\/groups\.link$/
/** eduPersonTargetedID, whose value is an element by its definition; it is never read. */
const TARGETED_ID = 'urn:oid:1.3.6.1.4.1.5923.1.1.1.10'
const LONGEST_NAME = 255
const LONGEST_SUBJECT = 1024

/**
 * The attributes of an assertion that was verified. Refuses with `document_content` what has no name, is encrypted, or
 * has an element for its value.
 */
export function readAttributes(assertion: XmlElement): StatedAttributes {
  const found = new Map<string, string[]>()
  for (const statement of childrenNamed(assertion, ASSERTION, 'AttributeStatement'))
    for (const attribute of statement.children) {
      const name = attributeOf(attribute, 'Name')
      if (!isNamed(attribute, ASSERTION, 'Attribute') || !name)
        throw new SignInFault('document_content', 'The AttributeStatement has more than attributes with names.')
      if (name !== TARGETED_ID) found.set(name, [...(found.get(name) ?? []), ...attribute.children.map(textOf)])
    }
  return found
}

/** The address, as it came; null where there is none. Refuses several with `address_not_unique`. */
export function emailIn(attributes: StatedAttributes, name_id: NameId | null, names: AttributeNames): string | null {
  // an attribute that the connection names has no substitute: another one may be what people write themselves
  const {email_attribute} = names
  const candidates = email_attribute === null ? EMAILS : [email_attribute]
  const values = candidates.map(name => distinct(attributes, name)).find(list => list.length > 0) ?? []
  if (values.length > 1) throw new SignInFault('address_not_unique', 'The assertion has several e-mail addresses.')
  if (values.length === 1 || email_attribute !== null || name_id === null) return values[0] ?? null
  return name_id.format === EMAIL_FORMAT || readAddress(name_id.value) ? name_id.value : null
}

export function namesIn(attributes: StatedAttributes): {readonly first: string | null; readonly last: string | null} {
  const first = (names: readonly string[]) =>
    names.flatMap(name => distinct(attributes, name))[0]?.slice(0, LONGEST_NAME) ?? null
  return {first: first(FIRST_NAMES), last: first(LAST_NAMES)}
}

export function groupsIn(attributes: StatedAttributes, {groups_attribute}: AttributeNames): StatedGroups {
  if (groups_attribute === null) return {kind: 'unset'}
  const values = attributes.get(groups_attribute)
  if (values === undefined && [...attributes.keys()].some(name => GROUPS_LINK.test(name)))
    return {kind: 'unknown', reason: 'groups not in token'}
  // several providers leave an attribute without values out
  const names = distinct(attributes, groups_attribute)
  return {kind: 'known', names, dropped: (values ?? []).filter(value => value === '').length}
}

/**
 * The text that a link to a user is made by; null where the provider names none. Names that are addresses, or change
 * with each sign-in, are none. `own_ids` are names of this gateway at the provider. Refuses with `document_content`.
 */
export function subjectIn(
  attributes: StatedAttributes,
  name_id: NameId | null,
  {subject_attribute}: AttributeNames,
  issuer: string,
  own_ids: readonly string[],
): string | null {
  const values = distinct(attributes, subject_attribute ?? OBJECT_ID)
  if (values.length > 1) throw new SignInFault('document_content', 'The attribute of the subject has several values.')
  if (subject_attribute !== null && values.length === 0)
    throw new SignInFault('document_content', 'The assertion has not the attribute that the subject is read from.')
  const subject = values[0] ?? (name_id?.format === PERSISTENT_FORMAT ? persistent(name_id, issuer, own_ids) : null)
  if (subject !== null && subject.length > LONGEST_SUBJECT)
    throw new SignInFault('document_content', `The subject is longer than ${LONGEST_SUBJECT} characters.`)
  return subject
}

/** Absent qualifiers mean the provider and this gateway (SAML core §8.3.7), so that they are the same name. */
function persistent(name_id: NameId, issuer: string, own_ids: readonly string[]): string {
  const {value, qualifier, sp_qualifier} = name_id
  const by = qualifier === issuer ? null : qualifier
  const towards = sp_qualifier !== null && own_ids.includes(sp_qualifier) ? null : sp_qualifier
  if (by === null && towards === null) return value
  return `${encodeURIComponent(by ?? '')}!${encodeURIComponent(towards ?? '')}!${value}`
}

function textOf(value: XmlElement): string {
  if (!isNamed(value, ASSERTION, 'AttributeValue') || value.children.length > 0)
    throw new SignInFault('document_content', 'An attribute has a value that is no text.')
  return value.text
}

function distinct(attributes: StatedAttributes, name: string): readonly string[] {
  return [...new Set(attributes.get(name) ?? [])].filter(value => value !== '')
}
