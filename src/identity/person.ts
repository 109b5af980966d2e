import {securityIn} from '../schema/organisations.ts'
import type {Db} from '../store/database.ts'
import {membershipsOf} from '../store/members.ts'
import {findOrganisation} from '../store/organisations.ts'
import type {OrganisationRole} from '../store/tables/people.ts'
import type {AccessReach, Membership, Person} from './access.ts'
import {scopesOfRole, seesAll} from './roles.ts'

interface FoundPerson {
  readonly person: Person
  readonly reach: AccessReach
}

/**
 * The permissions of a user: everywhere in his organisation, or, for a member, in each of the workspaces he is in.
 * `role_scopes` of a member are those he has in any of them, until one is chosen.
 */
export async function findPerson(
  db: Db,
  organisation_id: string,
  user_id: string,
  organisation_role: OrganisationRole,
): Promise<FoundPerson> {
  const organisation = await findOrganisation(db, organisation_id)
  if (organisation_role !== 'member') {
    const role_scopes = scopesOfRole(`organisation ${organisation_role}`, securityIn(organisation?.settings))
    return {
      person: {organisation_role, workspace_role: 'admin', role_scopes, sees_own_only: false, memberships: null},
      reach: {kind: 'organisation'},
    }
  }
  const rows = await membershipsOf(db, organisation_id, user_id)
  const memberships = rows.map(({workspace_settings, ...row}): Membership => {
    const security = securityIn(organisation?.settings, workspace_settings)
    return {
      ...row,
      scopes: scopesOfRole(`workspace ${row.role}`, security),
      sees_own_only: !seesAll(row.role, security),
    }
  })
  const role_scopes = new Set(memberships.flatMap(({scopes}) => [...scopes]))
  return {
    person: {organisation_role, workspace_role: null, role_scopes, sees_own_only: false, memberships},
    reach: {kind: 'membership'},
  }
}
