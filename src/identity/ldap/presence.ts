import type {LdapSettings} from '../../schema/connections.ts'
import {LOCK_ATTRIBUTES, locksIn} from './entries.ts'
import type {LdapEntry} from './replies.ts'
import type {LdapSearch} from './requests.ts'
import type {Searching} from './searches.ts'

/** A person as links know him: by the id of his entry, and by the address that the directory stated last. */
export interface LdapLink {
  readonly subject: string
  readonly email: string
}

/**
 * `locked` ends by itself, or after a sign-in: strangers cause it with wrong passwords. `other_entry` has his address,
 * and another id. `unclear`: several entries fit.
 */
export type LdapState = 'present' | 'disabled' | 'locked' | 'gone' | 'other_entry' | 'unclear'

export interface LdapPresence {
  readonly state: LdapState
  /** The name of the entry, and why it is as it is; null for none. */
  readonly detail: string | null
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i
const NS_UNIQUE_ID = /^[\da-f]{8}(?:-[\da-f]{8}){3}$/i
const GUID = /^[\da-f]{32}$/i
const HEX = /^(?:[\da-f]{2})+$/i
const LONGEST_DETAIL = 500

/** Looks for the entry of a person who was let in before. Throws SignInFault where the directory does not say. */
export async function presenceIn(search: Searching, settings: LdapSettings, link: LdapLink): Promise<LdapPresence> {
  for (const wanted of searchesFor(settings, link.subject)) {
    const {entries, has_more} = await search('the search for a linked person', wanted)
    if (has_more || entries.length > 1) return {state: 'unclear', detail: 'several entries have his id'}
    if (entries[0]) return stateOf(entries[0])
  }
  const {entries} = await search(
    'the search for the address of a linked person',
    within(settings, {attribute: settings.email_attribute, value: link.email}),
  )
  const [other] = entries
  return other ? {state: 'other_entry', detail: cut(other.dn)} : {state: 'gone', detail: null}
}

/** An id is kept without the name of its attribute: of those that it may be of, each has a form of its own. */
function searchesFor(settings: LdapSettings, subject: string): readonly LdapSearch[] {
  const {id_attribute} = settings
  const equal = (attribute: string, value: string | Buffer) => within(settings, {attribute, value})
  if (id_attribute !== null) {
    // bytes that are no text are kept as digits, and text may look like them
    const bytes = HEX.test(subject) ? [equal(id_attribute, Buffer.from(subject, 'hex'))] : []
    return [equal(id_attribute, subject), ...bytes]
  }
  if (UUID.test(subject)) return [equal('entryUUID', subject)]
  if (GUID.test(subject)) return [equal('objectGUID', Buffer.from(subject, 'hex'))]
  if (NS_UNIQUE_ID.test(subject)) return [equal('nsUniqueId', subject)]
  if (!subject.includes('=')) return []
  return [{...within(settings, '(objectClass=*)'), base: subject, scope: 'base', may_be_absent: true}]
}

function within({user_base}: LdapSettings, filter: LdapSearch['filter']): LdapSearch {
  return {base: user_base, scope: 'sub', filter, attributes: LOCK_ATTRIBUTES, most_entries: 2}
}

function stateOf(entry: LdapEntry): LdapPresence {
  const locks = locksIn(entry)
  const lasting = locks.find(({lifts_by_bind}) => !lifts_by_bind)
  const lock = lasting ?? locks[0]
  if (!lock) return {state: 'present', detail: cut(entry.dn)}
  return {state: lasting ? 'disabled' : 'locked', detail: cut(`${entry.dn}: ${lock.reason}`)}
}

function cut(text: string): string {
  return text.slice(0, LONGEST_DETAIL)
}
