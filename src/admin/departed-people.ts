import type {z} from 'zod'
import {Refusal} from '../base/errors.ts'
import {hasScope} from '../identity/access.ts'
import {issuerOf, readConnection, type SsoConnection} from '../identity/connections.ts'
import type {LdapDirectories} from '../identity/ldap/directory.ts'
import type {LdapPresence, LdapState} from '../identity/ldap/presence.ts'
import {SignInFault} from '../identity/sign-in-fault.ts'
import {
  type CheckedPerson,
  MOST_CHECKED,
  type OrganisationAuthCheck,
  type OrganisationAuthChecked,
} from '../schema/sign-in-checks.ts'
import {listConnections} from '../store/connections.ts'
import {countLinked, identitiesOf, type LinkedPerson, linkedPeople} from '../store/identities.ts'
import {findOrganisationUser, leaveOrganisation} from '../store/users.ts'
import type {OperationCall} from './operation.ts'
import {found, invalid} from './tenancy.ts'
import {guardOwner} from './users.ts'

type Call = OperationCall<undefined, undefined, typeof OrganisationAuthCheck>
type Ldap = Extract<SsoConnection, {type: 'ldap'}>

/** Searches at once: connections of the search account are few, and people sign in meanwhile. */
const AT_ONCE = 3
/** From so many on, a directory that has none of them is one that is read wrongly. */
const FEW_PEOPLE = 3
const LEFT: ReadonlySet<LdapState> = new Set(['gone', 'disabled'])
const SPELLED = {oidc: 'OpenID Connect', saml: 'SAML', ldap: 'LDAP'} as const
const ARCHIVING_SCOPE = 'organisation_users.delete'

interface Looked {
  readonly link: LinkedPerson
  readonly presence: LdapPresence
}

/** A page of the people that a connection let in, as its directory has them now; or those who are to be archived. */
export async function checkedPeople(call: Call): Promise<z.input<typeof OrganisationAuthChecked>> {
  const {actor, db, body} = call
  const connection = await directoryOf(call)
  const issuer = issuerOf(connection)
  const {organisation_id} = actor
  const total = await countLinked(db, organisation_id, issuer)
  const facts = {connection: connection.name, total, object: 'organisation-auth-check'} as const
  if (body.archive) return {...facts, data: await archived(call, connection, body.archive, total), next: null}
  const page = await linkedPeople(db, {organisation_id, issuer, after: body.after, limit: MOST_CHECKED + 1})
  const shown = page.slice(0, MOST_CHECKED)
  const looked = await lookedUp(call, connection, shown)
  return {...facts, data: looked.map(viewOf), next: page.length > MOST_CHECKED ? shown.at(-1)!.id : null}
}

/** A connection to a directory; refuses one of another type. */
async function directoryOf({actor, db, app, body}: Call): Promise<Ldap> {
  const {organisation_id} = actor
  const of_environment = app.environment_connection
  const known =
    of_environment?.organisation_id === organisation_id
      ? [of_environment]
      : (await listConnections(db, organisation_id)).map(row => readConnection(row, app.seal))
  const connection = found(
    known.find(({id, name}) => id === body.connection || name === body.connection),
    'connection',
  )
  if (connection.type === 'ldap') return connection
  throw invalid(
    'connection',
    `is one of ${SPELLED[connection.type]}, which has no way to ask for a person who does not sign in. ` +
      'Let the directory say who left (SCIM), or set provisioning.keys_need_sign_in_days',
  )
}

/** Nothing is concluded from a part: one search that fails is the end of all. */
async function lookedUp({app}: Call, connection: Ldap, links: readonly LinkedPerson[]): Promise<Looked[]> {
  if (!app.providers) throw new Error('no directories are asked here')
  const directories: LdapDirectories = await app.providers.ldap()
  const looked: Looked[] = []
  try {
    for (let at = 0; at < links.length; at += AT_ONCE)
      looked.push(
        ...(await Promise.all(
          links
            .slice(at, at + AT_ONCE)
            .map(async link => ({link, presence: await directories.presenceOf(connection.settings, link)})),
        )),
      )
  } catch (fault) {
    if (!(fault instanceof SignInFault)) throw fault
    throw new Refusal('directory.failed', {connection: connection.name, reason: fault.detail}, {cause: fault})
  }
  return looked
}

async function archived(
  call: Call,
  connection: Ldap,
  user_ids: readonly string[],
  total: number,
): Promise<CheckedPerson[]> {
  const {actor, db, body} = call
  if (!hasScope(actor, ARCHIVING_SCOPE)) throw new Refusal('scope.missing', {scope: ARCHIVING_SCOPE})
  const of = {organisation_id: actor.organisation_id, issuer: issuerOf(connection)}
  const links = await linkedPeople(db, {...of, user_ids, limit: 2 * MOST_CHECKED})
  const linked = new Set(links.map(({user_id}) => user_id))
  const at = user_ids.findIndex(id => !linked.has(id))
  if (at >= 0) throw invalid(`archive[${at}]`, 'is no active user that the connection let in')
  const looked = await lookedUp(call, connection, links)
  if (!body.force && total >= FEW_PEOPLE && !looked.some(isFound)) await requireAnyone(call, connection, looked)
  const people: CheckedPerson[] = []
  for (const each of looked) people.push(await archivedOne(call, connection, each, looked))
  return people
}

/** A wrong base, or an account that may read nothing, has no entry of anyone: that no one is left is not believed. */
async function requireAnyone(call: Call, connection: Ldap, looked: readonly Looked[]) {
  const of = {organisation_id: call.actor.organisation_id, issuer: issuerOf(connection)}
  const more = await linkedPeople(call.db, {...of, limit: 2 * MOST_CHECKED})
  const others = more.filter(({id}) => !looked.some(({link}) => link.id === id)).slice(0, MOST_CHECKED)
  for (const other of others) if ((await lookedUp(call, connection, [other])).some(isFound)) return
  throw new Refusal('row.unfit', {
    reason:
      `The directory has none of the ${looked.length + others.length} people of ${connection.name} that it was ` +
      'searched for, so user_base or the rights of the search account may be wrong: no one was archived. ' +
      'Send force where they did leave.',
  })
}

function isFound({presence}: Looked): boolean {
  return presence.state !== 'gone'
}

async function archivedOne(
  call: Call,
  connection: Ldap,
  looked: Looked,
  all: readonly Looked[],
): Promise<CheckedPerson> {
  const person = viewOf(looked)
  const {user_id} = looked.link
  const of_user = all.filter(({link}) => link.user_id === user_id)
  const here = of_user.find(({presence}) => !LEFT.has(presence.state))
  if (here) return {...person, kept: `the directory has an entry of his: ${here.presence.state}`}
  const {app} = call
  try {
    const was_active = await app.store.write(async db => {
      const user = await findOrganisationUser(db, call.actor.organisation_id, user_id)
      if (user?.status !== 'active') return false // by another link of his, or by others meanwhile
      await requireNoLaterSignIn({...call, db}, connection, looked.link)
      await guardOwner({...call, db}, user)
      await leaveOrganisation(db, call.actor.organisation_id, user_id, call.now)
      call.auditTarget(user_id, null)
      await call.auditOutcome(db, {status: 200, note: noteOf(connection, looked)})
      return true
    })
    return {...person, archived: true, kept: was_active ? null : 'he was archived before'}
  } catch (fault) {
    if (!(fault instanceof Refusal)) throw fault
    return {...person, kept: fault.message}
  }
}

/** A person who came in by another connection since, or by this one just now, has not left. */
async function requireNoLaterSignIn({actor, db, now}: Call, connection: Ldap, link: LinkedPerson) {
  const issuer = issuerOf(connection)
  const links = await identitiesOf(db, actor.organisation_id, link.user_id)
  const later = links.find(each => each.last_seen_at > (each.issuer === issuer ? now : link.last_seen_at))
  if (later) throw new Refusal('row.unfit', {reason: `He came in by ${later.issuer} at ${later.last_seen_at}.`})
}

function viewOf({link, presence}: Looked): CheckedPerson {
  const {user_id, user_email, role, subject} = link
  return {user_id, email: user_email, role, subject, ...presence, archived: false, kept: null}
}

/** The reason, beside the body of the call. */
function noteOf({name}: Ldap, {link: {email}, presence: {state, detail}}: Looked) {
  return {reason: `directory: ${state}`, ...(detail !== null && {detail}), connection: name, email}
}
