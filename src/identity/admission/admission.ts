import {type EmailAddress, readAddress} from '../../base/address.ts'
import {newId} from '../../base/ids.ts'
import {provisioningSettings} from '../../schema/organisation-auth.ts'
import {type AccountPower, accountPower} from '../../store/account-power.ts'
import type {Db} from '../../store/database.ts'
import {coversDomain} from '../../store/domains.ts'
import {findIdentity, identitiesOf, insertIdentity, updateIdentity} from '../../store/identities.ts'
import {findOrganisation} from '../../store/organisations.ts'
import {findScimUser} from '../../store/scim-users.ts'
import type {IdentitiesTable} from '../../store/tables/sign-in.ts'
import {
  findOrganisationUser,
  findUserByEmail,
  insertUser,
  joinOrganisation,
  type OrganisationUser,
  updateUser,
} from '../../store/users.ts'
import {issuerOf} from '../connections.ts'
import {SignInFault} from '../sign-in-fault.ts'
import type {AdmissionContext, AdmissionDeed, Arrival} from './context.ts'
import {acceptInvites, type OpenInvite, pendingInvites} from './invites.ts'
import {type Proof, proofOf, requireProof} from './proof.ts'
import {startingRole, syncGroups, syncRole} from './roles.ts'

/** The user who comes in. Nothing was written when a `SignInFault` is thrown: the transaction is given up. */
export interface Admitted {
  readonly user_id: string
  readonly email: string
  readonly deeds: readonly AdmissionDeed[]
  readonly notes: readonly string[]
}

/**
 * Decides who a verified statement is here, makes him where that is allowed, and gives him the role that his provider
 * says. In the transaction that opens his session.
 */
export async function admitted(db: Db, arrival: Arrival, now: string): Promise<Admitted> {
  const {connection} = arrival
  const {organisation_id} = connection
  const organisation = await findOrganisation(db, organisation_id)
  const context: AdmissionContext = {
    ...{...arrival, db, organisation_id, now, issuer: issuerOf(connection), deeds: [], notes: []},
    rules: provisioningSettings(organisation?.auth),
  }
  noteGroups(context)
  const link = await linkOf(context)
  const address = await addressOf(context, link)
  const user = link ? await linkedUser(context, link, address) : await userByAddress(context, address!)
  if (connection.lets_owners_in === false && user.role === 'owner')
    throw new SignInFault('owner_protected', 'the connection was written by an admin, so that no owner comes in by it')
  await syncRole(context, user)
  await syncGroups(context, user)
  return {user_id: user.id, email: user.email, deeds: context.deeds, notes: context.notes}
}

function noteGroups({statement: {groups}, notes}: AdmissionContext) {
  if (groups.kind === 'unknown') notes.push('groups not in token')
  if (groups.kind === 'known' && groups.dropped > 0)
    notes.push(`${groups.dropped} groups are no text, and were dropped`)
}

async function linkOf({db, organisation_id, issuer, statement: {subject}, notes}: AdmissionContext) {
  if (subject !== null) return findIdentity(db, {organisation_id, issuer, subject})
  notes.push('the provider names no lasting subject: by the address alone')
  return undefined
}

/** The stated address, of a domain that this connection may sign in. Null for a known person whose is not said. */
async function addressOf(context: AdmissionContext, link: IdentitiesTable | undefined): Promise<EmailAddress | null> {
  const {email, email_verified} = context.statement
  if (email_verified === false)
    throw new SignInFault('email_unverified', 'the provider says the address is not verified')
  const address = readAddress(email)
  if (!address) {
    if (link && (email === null || email === undefined)) return null
    throw new SignInFault('email_missing', 'the provider states no address that can be read')
  }
  await requireDomain(context, address)
  return address
}

async function linkedUser(
  context: AdmissionContext,
  link: IdentitiesTable,
  address: EmailAddress | null,
): Promise<OrganisationUser> {
  const {db, organisation_id, now} = context
  const before = await findOrganisationUser(db, organisation_id, link.user_id)
  if (!before) throw new SignInFault('person_archived', 'the linked user is none of the organisation')
  if (!address) await requireDomain(context, readAddress(before.email))
  const invites = await pendingInvites(context, before.email)
  if (before.status === 'archived') await requireWayBack(context, before, invites)
  requireNoChangeSince(context, before)
  await updateIdentity(db, link.id, {last_seen_at: now, ...(address && {email: address.address})})
  const power = await accountPower(db, organisation_id, before.id)
  const email = await takeAddress(context, before, address?.address ?? before.email, power)
  const user = {...before, email}
  if (!power.is_elsewhere) await takeNames(context, user)
  if (user.status === 'archived') return joined(context, user.id, invites, 'link')
  return acceptInvites(context, user, invites, 'link')
}

/** The address of a linked user from now on. One that an invite waits for is not had by saying so. */
async function takeAddress(
  context: AdmissionContext,
  user: OrganisationUser,
  address: string,
  {is_elsewhere}: AccountPower,
): Promise<string> {
  const {db, now, notes, statement} = context
  if (address === user.email) return address
  const is_taken = (await findUserByEmail(db, address)) !== undefined
  const is_invited = statement.email_verified !== true && (await pendingInvites(context, address)).length > 0
  if (is_elsewhere || is_taken || is_invited) {
    const why = is_elsewhere
      ? 'he is of another organisation too'
      : is_taken
        ? 'another user has it'
        : 'an invite waits'
    notes.push(`the address stays, not ${address}: ${why}`)
    return user.email
  }
  await updateUser(db, user.id, {email: address, last_updated_at: now})
  context.deeds.push(changed(context, user.id, {from: user.email, to: address}))
  return address
}

async function requireDomain({db, organisation_id, connection}: AdmissionContext, address: EmailAddress | undefined) {
  const domain = address?.domain ?? ''
  const is_of_connection = connection.domains.length === 0 || connection.domains.includes(domain)
  if (!is_of_connection || !(await coversDomain(db, organisation_id, domain)))
    throw new SignInFault('domain_foreign', `the domain ${domain} is no verified one of this connection`)
}

async function userByAddress(context: AdmissionContext, {address}: EmailAddress): Promise<OrganisationUser> {
  const {db, organisation_id, holders, statement} = context
  if (holders !== null && holders !== 1)
    throw new SignInFault('address_not_unique', `${holders} entries of the directory have this address`)
  const invites = await pendingInvites(context, address)
  const known = await findUserByEmail(db, address)
  if (!known) return made(context, address, invites)
  const power = await accountPower(db, organisation_id, known.id)
  const proof = await proofOf(context, known.id)
  const links = await identitiesOf(db, organisation_id, known.id)
  if (statement.subject !== null && links.some(({issuer}) => issuer === context.issuer))
    throw new SignInFault('link_conflict', 'the address belongs to another identity at this provider')
  requireProof(power, proof)
  const user = await findOrganisationUser(db, organisation_id, known.id)
  if (user?.status === 'archived') await requireWayBack(context, user, invites)
  requireNoChangeSince(context, user)
  if (user?.status === 'active') {
    await link(context, user.id, address, proof)
    if (!power.is_elsewhere) await takeNames(context, user)
    return acceptInvites(context, user, invites, proof)
  }
  if (!user) requireWayIn(context, invites)
  await link(context, known.id, address, proof)
  return joined(context, known.id, invites, proof)
}

/** A user who has not been here before. */
async function made(
  context: AdmissionContext,
  address: string,
  invites: readonly OpenInvite[],
): Promise<OrganisationUser> {
  const {db, connection, statement, now} = context
  requireWayIn(context, invites)
  const id = newId()
  const {first_name, last_name} = statement
  await insertUser(db, {id, email: address, first_name, last_name, created_at: now, last_updated_at: now})
  context.deeds.push({resource: 'user', resource_id: id, action: 'create', body: {by: connection.type, email: address}})
  const proof = await proofOf(context, id)
  await link(context, id, address, proof)
  return joined(context, id, invites, proof)
}

async function joined(
  context: AdmissionContext,
  user_id: string,
  invites: readonly OpenInvite[],
  proof: Proof,
): Promise<OrganisationUser> {
  const {db, organisation_id, now} = context
  const {role, role_source} = startingRole(context, invites)
  const times = {created_at: now, last_updated_at: now}
  await joinOrganisation(db, {organisation_id, user_id, role, status: 'active', role_source, ...times})
  const user = (await findOrganisationUser(db, organisation_id, user_id))!
  return acceptInvites(context, user, invites, proof)
}

/** A sign-in that was open when its person was removed does not come back with him, nor one of while he was away. */
function requireNoChangeSince({begun_at}: AdmissionContext, user: OrganisationUser | undefined) {
  const changed_at = user?.status_changed_at ?? null
  if (changed_at === null || begun_at >= changed_at) return
  throw new SignInFault(
    'transaction_expired',
    `it began before ${changed_at}, when the person was removed or came back`,
  )
}

/** A person who was removed comes back by an invite that was made afterwards, and only where no directory says no. */
async function requireWayBack(
  {db, organisation_id}: AdmissionContext,
  user: OrganisationUser,
  invites: readonly OpenInvite[],
) {
  const of_directory = await findScimUser(db, organisation_id, user.id)
  const is_directory_s = of_directory?.resource !== null && of_directory?.resource !== undefined
  const is_invited = invites.some(({created_at}) => created_at > user.last_updated_at)
  if (is_directory_s || !is_invited)
    throw new SignInFault('person_archived', is_directory_s ? 'the directory says he is gone' : 'he was removed')
}

function requireWayIn({rules}: AdmissionContext, invites: readonly OpenInvite[]) {
  if (rules.scim_only) throw new SignInFault('not_invited', 'users are made by the directory alone (scim_only)')
  if (rules.disable_auto_provision_user && invites.length === 0)
    throw new SignInFault(
      'not_invited',
      'first sign-ins make no user (disable_auto_provision_user), and no invite waits',
    )
}

async function link(
  {db, organisation_id, issuer, statement, deeds, now}: AdmissionContext,
  user_id: string,
  email: string,
  proof: Proof,
) {
  const {subject} = statement
  if (subject === null) return
  const id = newId()
  await insertIdentity(db, {
    ...{id, organisation_id, issuer, subject, user_id, email},
    ...{created_at: now, last_seen_at: now},
  })
  deeds.push({resource: 'identity', resource_id: id, action: 'create', body: {issuer, subject, email, proof}})
}

async function takeNames({db, statement, now}: AdmissionContext, user: OrganisationUser) {
  const {first_name, last_name} = statement
  const change = {
    ...(first_name !== null && first_name !== user.first_name && {first_name}),
    ...(last_name !== null && last_name !== user.last_name && {last_name}),
  }
  if (Object.keys(change).length > 0) await updateUser(db, user.id, {...change, last_updated_at: now})
}

function changed({connection}: AdmissionContext, user_id: string, body: object): AdmissionDeed {
  return {resource: 'user', resource_id: user_id, action: 'update', body: {by: connection.type, ...body}}
}
