import type {z} from 'zod'
import type {JsonValue} from '../base/json-member.ts'
import {keySetIssues} from '../identity/jwt/inline-keys.ts'
import {plainScope, SCOPES} from '../identity/scopes.ts'
import {
  changedAuth,
  jwtSettings,
  OrganisationAuthTest,
  OrganisationAuthTested,
  OrganisationAuthUpdate,
  OrganisationAuthView,
  type ProvisioningSettings,
  provisioningSettings,
  readAuth,
  scimSettings,
  sessionSettings,
  ssoSettings,
} from '../schema/organisation-auth.ts'
import {OrganisationAuthCheck, OrganisationAuthChecked} from '../schema/sign-in-checks.ts'
import {findOrganisation, updateOrganisation} from '../store/organisations.ts'
import {findWorkspace} from '../store/workspaces.ts'
import {checkedPeople} from './departed-people.ts'
import {makesOwners} from './makes-owners.ts'
import {type OperationCall, operation} from './operation.ts'
import {signInPlaces} from './sign-in-places.ts'
import {shownSso} from './sso.ts'
import {changeSso} from './sso-required.ts'
import {type CallerScope, found, invalid} from './tenancy.ts'
import {triedSignIn} from './tried-sign-ins.ts'
import {triedTokens} from './tried-tokens.ts'

const tag = 'Organisation'
const path = '/admin/organisation/auth'

/** How the tokens of an organisation are recognised, and what its directory may do. */
export const organisationAuth = [
  operation({
    id: 'organisation_auth.get',
    tag,
    method: 'GET',
    path,
    summary:
      'Show how people and tokens of the organisation are recognised: connections, roles, ' +
      'sessions, tokens (JWT), directory',
    scopes: ['organisation_settings.read'],
    reply: OrganisationAuthView,
    handle: async call => view(call, (await own(call)).auth),
  }),
  operation({
    id: 'organisation_auth.update',
    tag,
    method: 'PUT',
    path,
    summary: 'Change how people and tokens are recognised: what is absent stays, null goes back to the default',
    scopes: ['organisation_settings.update'],
    audit: {resource: 'organisation_auth', action: 'update'},
    body: OrganisationAuthUpdate,
    reply: OrganisationAuthView,
    handle: updated,
  }),
  operation({
    id: 'organisation_auth.test',
    tag,
    method: 'POST',
    path: `${path}/test`,
    summary:
      'Try tokens or a connection: read keys, metadata or a directory, and say what a token or a person would meet',
    scopes: ['organisation_settings.read'],
    only_reads: true,
    body: OrganisationAuthTest,
    reply: OrganisationAuthTested,
    handle: tested,
  }),
  operation({
    id: 'organisation_auth.check',
    tag,
    method: 'POST',
    path: `${path}/check`,
    summary:
      'Look up in its directory (LDAP) the people that a connection let in, a page at a time, ' +
      'and archive those who left',
    scopes: ['organisation_settings.update'],
    reaches_out: true,
    audit: {resource: 'user', action: 'delete'},
    body: OrganisationAuthCheck,
    reply: OrganisationAuthChecked,
    handle: checkedPeople,
  }),
] as const

const MAX_KEY_SET_CHARACTERS = 65_536
type Change = z.output<typeof OrganisationAuthUpdate>

async function updated(call: OperationCall<undefined, undefined, typeof OrganisationAuthUpdate>) {
  const {db, body, now} = call
  const before = await own(call)
  checkKeys(body)
  checkScopes(body)
  await checkWorkspaces(call, body)
  const kept = changedAuth(readAuth(before.auth), body)
  const maps_owners = body.provisioning?.role_mapping === undefined ? kept.maps_owners : await makesOwners(call)
  const auth = JSON.stringify({...kept, maps_owners})
  await updateOrganisation(db, before.id, {auth, last_updated_at: now})
  call.auditTarget(before.id, null)
  await changeSso(call, body.sso)
  return view(call, auth)
}

async function tested(
  call: OperationCall<undefined, undefined, typeof OrganisationAuthTest>,
): Promise<z.input<typeof OrganisationAuthTested>> {
  const {id, auth} = await own(call)
  if (call.body.part !== 'jwt') {
    const steps = await triedSignIn(call, call.body)
    return {ok: steps.every(({ok}) => ok), steps, object: 'organisation-auth-test'}
  }
  const steps = await triedTokens(call.app.tokens, {organisation_id: id, settings: jwtSettings(auth)}, call.body.token)
  return {ok: steps.every(({ok}) => ok), steps, object: 'organisation-auth-test'}
}

function checkKeys({jwt}: Change) {
  if (jwt?.jwks && JSON.stringify(jwt.jwks).length > MAX_KEY_SET_CHARACTERS)
    throw invalid('jwt.jwks', `must be at most ${MAX_KEY_SET_CHARACTERS} characters`)
  const [issue] = jwt?.jwks ? keySetIssues(jwt.jwks as JsonValue) : []
  if (issue) throw invalid(`jwt.jwks.${issue.path}`, issue.message)
}

function checkScopes({jwt}: Change) {
  for (const [at, scope] of (jwt?.default_scopes ?? []).entries())
    if (!SCOPES.has(plainScope(scope))) throw invalid(`jwt.default_scopes[${at}]`, 'is no scope that is known here')
}

/** A name that was mistyped would close the organisation to all of its tokens. */
async function checkWorkspaces({actor, db}: CallerScope, {jwt}: Change) {
  const named = [
    ...(jwt?.allowed_workspaces ?? []).map((name, at) => [`jwt.allowed_workspaces[${at}]`, name] as const),
    ...(jwt?.default_workspace ? [['jwt.default_workspace', jwt.default_workspace] as const] : []),
  ]
  for (const [field, name] of named) {
    const workspace = await findWorkspace(db, actor.organisation_id, name)
    if (workspace?.status !== 'active') throw invalid(field, 'is no active workspace of the organisation')
  }
}

async function own({actor, db}: CallerScope) {
  return found(await findOrganisation(db, actor.organisation_id), 'organisation')
}

async function view(
  call: Pick<OperationCall, 'actor' | 'db' | 'app' | 'now'>,
  column: string | null | undefined,
): Promise<z.input<typeof OrganisationAuthView>> {
  return {
    sso: await shownSso(call, ssoSettings(column).required),
    endpoints: signInPlaces(call.app, call.actor.organisation_id),
    jwt: jwtSettings(column),
    scim: scimSettings(column),
    provisioning: shownProvisioning(column),
    session_settings: sessionSettings(column),
    object: 'organisation-auth',
  }
}

function shownProvisioning(column: string | null | undefined): ProvisioningSettings {
  const {maps_owners: _, ...shown} = provisioningSettings(column)
  return shown
}
