import {newId} from '../../src/base/ids.ts'
import {makeSessionToken} from '../../src/identity/keys.ts'
import {insertMember} from '../../src/store/members.ts'
import {insertSession} from '../../src/store/sessions.ts'
import type {OrganisationRole, WorkspaceRole} from '../../src/store/tables/people.ts'
import {insertUser, joinOrganisation} from '../../src/store/users.ts'
import type {Admin} from './admin.ts'

export interface Person {
  readonly id: string
  readonly email: string
  /** Of a session that lasts until 2030. */
  readonly token: string
}

/** A user with a session, straight into the database; `workspaces` are his memberships by id. */
export async function seedUser(
  {store, services, organisation_id: home}: Pick<Admin, 'store' | 'services' | 'organisation_id'>,
  role: OrganisationRole = 'member',
  workspaces: Readonly<Record<string, WorkspaceRole>> = {},
  {organisation_id = home, email = `${newId().slice(0, 8)}@example.com`} = {},
): Promise<Person> {
  const at = services.now().toISOString()
  const times = {created_at: at, last_updated_at: at}
  const id = newId()
  const {key: token, hash: token_hash} = makeSessionToken()
  await insertUser(store.db, {id, email, first_name: 'Ada', last_name: null, ...times})
  await joinOrganisation(store.db, {organisation_id, user_id: id, role, status: 'active', ...times})
  for (const [workspace_id, role] of Object.entries(workspaces))
    await insertMember(store.db, {workspace_id, user_id: id, organisation_id, role, ...times})
  await insertSession(store.db, {
    id: newId(),
    organisation_id,
    user_id: id,
    token_hash,
    created_at: at,
    expires_at: '2030-01-01T00:00:00.000Z',
    revoked_at: null,
  })
  return {id, email, token}
}
