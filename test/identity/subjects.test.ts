import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {
  type Access,
  type AccessReach,
  ANONYMOUS,
  isAllowed,
  operatorOf,
  ownWorkspace,
  placedIn,
} from '../../src/identity/access.ts'
import {knownKey, requireLive} from '../../src/identity/api-keys.ts'
import {authenticate} from '../../src/identity/authenticator.ts'
import {authenticators} from '../../src/identity/authenticators.ts'
import {hashKey} from '../../src/identity/keys.ts'
import {type Role, settingOf} from '../../src/identity/roles.ts'
import {holdersOf, SCOPES} from '../../src/identity/scopes.ts'
import {authorOf, type Subject, userOf} from '../../src/identity/subject.ts'
import {securityOf} from '../../src/schema/security.ts'
import {findKeyByHash} from '../../src/store/api-keys.ts'
import {updateOrganisation} from '../../src/store/organisations.ts'
import type {ApiKeyKind} from '../../src/store/tables/identity.ts'
import type {OrganisationRole, WorkspaceRole} from '../../src/store/tables/people.ts'
import {type Admin, startAdmin} from '../support/admin.ts'
import {seedUser} from '../support/people.ts'
import {heldToken, signer} from '../support/tokens.ts'

const NOW = '2026-03-04T05:06:07.000Z'
const SIGNER = signer('EdDSA')
const USUAL = securityOf({})
const byRole = (role: Role) => (scope: string) => {
  const cell = settingOf(role, scope)
  return typeof cell === 'string' ? USUAL[cell] : cell
}
const byKind = (kind: ApiKeyKind) => (scope: string) => holdersOf(scope).includes(kind)
const both = (one: (scope: string) => boolean, other: (scope: string) => boolean) => (scope: string) =>
  one(scope) && other(scope)

const USE = {requireProof: () => undefined, noteUse: async () => undefined}

interface Row {
  readonly name: string
  made(): Promise<Access> | Access
  readonly reach: AccessReach['kind']
  may(scope: string): boolean
  readonly has_user: boolean
}

describe('what each subject may do, and where', () => {
  let admin: Admin
  let other: string
  beforeAll(async () => {
    admin = await startAdmin()
    const auth = JSON.stringify({jwt: {jwks: {keys: [SIGNER.jwk]}, algorithms: ['EdDSA']}})
    await admin.store.write(db => updateOrganisation(db, admin.organisation_id, {auth}))
    other = (await admin.seedWorkspace(admin.organisation_id)).id
  })
  afterAll(() => admin.close())

  const shown = (credential: string) =>
    authenticate(
      authenticators({
        ...{db: admin.store.db, judge: admin.services.tokens, use: USE},
        sign_in_needs: admin.services.sign_in_needs,
      }),
      credential,
      {now: NOW, client_ip: null},
    )
  const person = async (role: OrganisationRole, workspaces: Record<string, WorkspaceRole> = {}) =>
    shown((await seedUser(admin, role, workspaces)).token)
  const member = async (role: WorkspaceRole) =>
    placedIn(await person('member', {[admin.workspace_id]: role}), undefined)!
  const key = async (kind: ApiKeyKind, role?: OrganisationRole, in_workspace?: WorkspaceRole) => {
    const {organisation_id, workspace_id} = admin
    const user = role && (await seedUser(admin, role, in_workspace && {[workspace_id]: in_workspace}))
    const place = kind === 'organisation-service' ? {organisation_id} : {organisation_id, workspace_id}
    return shown((await admin.seedKey(place, {kind, user_id: user?.id ?? null, scopes: [...SCOPES]})).key)
  }

  const token = async (scopes: readonly string[], email_id?: string) => {
    const {organisation_id, workspace_id} = admin
    const claims = {organisation_id, workspace_slug: workspace_id, scope: scopes.join(' '), email_id}
    return shown(heldToken(SIGNER, claims, Date.parse(NOW)))
  }

  /** Every kind of subject is here: another does not compile without its rows. */
  const SUBJECTS: Record<Subject['kind'], readonly Row[]> = {
    operator: [
      {name: 'the operator', made: () => operatorOf('o'), reach: 'organisation', may: () => true, has_user: false},
    ],
    anonymous: [{name: 'nobody', made: () => ANONYMOUS, reach: 'nothing', may: () => false, has_user: false}],
    user: [
      ...(['owner', 'admin'] as const).map(role => ({
        name: `an ${role} of the organisation`,
        made: () => person(role),
        reach: 'organisation' as const,
        may: byRole(`organisation ${role}`),
        has_user: true,
      })),
      ...(['admin', 'manager', 'member'] as const).map(role => ({
        name: `a ${role} of a workspace`,
        made: () => member(role),
        reach: 'workspace' as const,
        may: byRole(`workspace ${role}`),
        has_user: true,
      })),
      {
        name: 'a manager of one workspace and member of another, who has named none',
        made: () => person('member', {[admin.workspace_id]: 'manager', [other]: 'member'}),
        reach: 'membership',
        may: byRole('workspace manager'),
        has_user: true,
      },
      {
        name: 'a member of no workspace',
        made: () => person('member'),
        reach: 'membership',
        may: () => false,
        has_user: true,
      },
    ],
    api_key: [
      ...(['organisation-service', 'workspace-service', 'workspace-user'] as const).map(kind => ({
        name: `a key of kind ${kind} without a user`,
        made: () => key(kind),
        reach: kind === 'organisation-service' ? ('organisation' as const) : ('workspace' as const),
        may: byKind(kind),
        has_user: false,
      })),
      ...(['admin', 'manager', 'member'] as const).map(role => ({
        name: `the key of a ${role} of its workspace`,
        made: () => key('workspace-user', 'member', role),
        reach: 'workspace' as const,
        may: both(byKind('workspace-user'), byRole(`workspace ${role}`)),
        has_user: true,
      })),
      ...(['owner', 'admin'] as const).map(role => ({
        name: `the key of an ${role} of the organisation`,
        made: () => key('workspace-user', role),
        reach: 'workspace' as const,
        may: both(byKind('workspace-user'), byRole(`organisation ${role}`)),
        has_user: true,
      })),
    ],
    token: [
      {
        name: 'a token of every scope',
        made: () => token([...SCOPES]),
        reach: 'workspace' as const,
        may: both(byKind('workspace-service'), scope => !/_api_keys\.(create|update|delete|rotate)$/.test(scope)),
        has_user: false,
      },
      {
        name: 'the token of a member who is an owner, which gives no role',
        made: async () => {
          const {email} = await seedUser(admin, 'owner')
          return token(['completions.write', 'organisation_users.list'], email)
        },
        reach: 'workspace' as const,
        may: scope => scope === 'completions.write',
        has_user: true,
      },
    ],
  }
  const ROWS = Object.entries(SUBJECTS).flatMap(([kind, rows]) => rows.map(row => [row.name, kind, row] as const))

  test.each(ROWS)('%s', async (_, kind, {made, reach, may: expected, has_user}) => {
    const access = await made()
    expect([access.subject.kind, access.reach.kind]).toEqual([kind, reach])
    const wrong = [...SCOPES].filter(scope => isAllowed(access, [scope]) !== expected(scope))
    expect(wrong).toEqual([])
    expect(userOf(access.subject) !== null).toBe(has_user)
    expect(authorOf(access.subject)).toBe(userOf(access.subject) ?? access.subject.id)
  })

  test('a person of several workspaces reaches none before he names one, and only those he is in', async () => {
    const access = await person('member', {[admin.workspace_id]: 'manager', [other]: 'member'})
    expect(() => ownWorkspace(access)).toThrow(/workspace_id: is required/)
    expect(placedIn(access, undefined)).toBeUndefined()
    const there = placedIn(access, other)!
    expect([ownWorkspace(there), there.person?.workspace_role]).toEqual([other, 'member'])
    expect(isAllowed(there, ['configs.update'])).toBe(false)
    const foreign = await admin.seedWorkspace(admin.organisation_id)
    expect(() => placedIn(access, foreign.id)).toThrow(/workspace/)
  })

  test.each([
    ['expired', {expires_at: '2026-03-04T05:06:06.000Z'}, 'key.expired'],
    ['marked as expired', {status: 'expired' as const}, 'key.expired'],
    ['of a user who is not there', {kind: 'workspace-user' as const, user_id: 'ghost'}, 'key.unknown'],
  ])('a key that is %s is refused', async (_, row, code) => {
    const {organisation_id, workspace_id} = admin
    const {key: secret} = await admin.seedKey({organisation_id, workspace_id}, row)
    await expect(shown(secret)).rejects.toMatchObject({code})
  })

  test('calls and the administration judge one key alike', async () => {
    const {organisation_id, workspace_id} = admin
    const archived = await admin.seedWorkspace(organisation_id, {status: 'archived'})
    const {key: works} = await admin.seedKey({organisation_id, workspace_id})
    const {key: ended} = await admin.seedKey({organisation_id, workspace_id: archived.id})
    for (const secret of [works, ended]) {
      const known = knownKey((await findKeyByHash(admin.store.db, hashKey(secret)))!)
      const judged = async () => requireLive(known, Date.parse(NOW))
      const answers = await Promise.allSettled([judged(), shown(secret)])
      expect(answers[0]).toEqual(answers[1])
    }
  })
})
