import {Refusal} from '../base/errors.ts'
import {ssoSettings} from '../schema/organisation-auth.ts'
import type {SsoChange} from '../schema/sso.ts'
import {listConnections} from '../store/connections.ts'
import {findOrganisation} from '../store/organisations.ts'
import {ownerCameIn, revokeOtherMethods} from '../store/sessions.ts'
import {linkBase} from './link-base.ts'
import type {OperationCall} from './operation.ts'
import {changeConnections} from './sso.ts'

type Call = Pick<OperationCall, 'actor' | 'db' | 'app' | 'now'>

const LATELY_MS = 3_600_000

/**
 * Writes the connections of an organisation, and whether they are its only way in. That is switched on when an owner
 * came in by one of them lately, and while it is on the last of them stays.
 */
export async function changeSso(call: Call, change: SsoChange | undefined): Promise<void> {
  if (!change) return
  const {actor, db, app, now} = call
  const {organisation_id} = actor
  requireOwnConnections(call, change)
  if (change.force && actor.subject.kind !== 'operator')
    throw new Refusal('scope.missing', {scope: 'of the operator, to use sso.force'})
  await changeConnections(call, change)
  if (change.required === true) await requireTried(call, change)
  const organisation = await findOrganisation(db, organisation_id)
  // the row was written before: it says what holds after this request
  if (!ssoSettings(organisation?.auth).required) return
  const open = (await listConnections(db, organisation_id)).filter(({is_enabled}) => is_enabled === 1)
  if (open.length === 0 && app.settings.auth_mode !== 'SSO')
    throw new Refusal('row.unfit', {
      reason:
        'sso.required is on: the last connection stays. Send required: false with this change to ' +
        'let people in otherwise.',
    })
  if (change.required === true)
    await revokeOtherMethods(db, organisation_id, ['oidc', 'saml', 'ldap', 'operator', 'password'], now)
}

/** A door is locked by one who has tried his key. */
async function requireTried({actor, db, now, app}: Call, {force}: SsoChange) {
  if (force && actor.subject.kind === 'operator') return
  const since = new Date(Date.parse(now) - LATELY_MS).toISOString()
  if (await ownerCameIn(db, actor.organisation_id, since)) return
  throw new Refusal('row.unfit', {
    reason:
      'sso.required is switched on when an owner signed in through a connection within the ' +
      `last hour: ${linkBase(app)}/v2/auth/login?organisation_id=${actor.organisation_id}`,
  })
}

/** The connection of the environment is written in the environment. */
function requireOwnConnections({app, actor}: Call, change: SsoChange) {
  const {required: _, force: __, revision: ___, ...connections} = change
  const is_of_environment = app.environment_connection?.organisation_id === actor.organisation_id
  if (!is_of_environment || Object.values(connections).every(value => value === undefined)) return
  throw new Refusal('row.unfit', {
    reason:
      'AUTH_MODE=SSO: the settings of the installation describe the connection of this ' +
      'organisation. Change them there, or unset AUTH_MODE.',
  })
}
