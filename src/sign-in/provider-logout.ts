import type {SsoConnection} from '../identity/connections.ts'
import type {ProviderLogout} from '../identity/oidc/logout-token.ts'
import {SignInFault} from '../identity/sign-in-fault.ts'
import type {ProviderSession} from '../identity/statement.ts'
import type {Db} from '../store/database.ts'
import {denyCodesAt, type ProviderMarks} from '../store/login-codes.ts'
import {revokeSessionsAt} from '../store/sessions.ts'
import {isAssertionSeen, noteAssertion} from '../store/sign-ins.ts'
import type {SignInClient} from './client.ts'
import type {SignInServices} from './services.ts'
import {hashOf} from './transactions.ts'

/** A logout that the provider of a connection signed. */
export interface ConnectionLogout {
  readonly connection: SsoConnection & {readonly type: 'oidc'}
  readonly logout: ProviderLogout
}

type Marks = Pick<ProviderMarks, 'idp_session' | 'idp_subject'>

/** The marks of a session that opens. Refuses one that its provider ended meanwhile. */
export async function openMarks(db: Db, connection_id: string, of: ProviderSession | null | undefined): Promise<Marks> {
  if (!of) return {idp_session: null, idp_subject: null}
  const marks = marksOf(of.issuer, of)
  if (marks.idp_session !== null && (await isAssertionSeen(db, endOf(connection_id, marks.idp_session))))
    throw new SignInFault('transaction_expired', 'the provider ended the session while it came')
  return marks
}

/**
 * Ends what the sign-ins gave: sessions of browsers and of command lines, and codes that were confirmed and wait.
 * Refuses with `replayed` where every one of the connections has had this logout. How many sessions that were.
 */
export async function endAtProvider(
  services: SignInServices,
  logouts: readonly ConnectionLogout[],
  client: SignInClient,
): Promise<number> {
  return services.store.write(async db => {
    let fresh = 0
    let ended = 0
    for (const each of logouts) {
      const count = await endedIn(db, services, each, client)
      if (count === null) continue
      fresh++
      ended += count
    }
    if (fresh === 0) throw new SignInFault('replayed', 'the logout token was used before (jti)')
    return ended
  })
}

/** Null where the connection has had it. */
async function endedIn(
  db: Db,
  {rows, now}: SignInServices,
  {connection, logout}: ConnectionLogout,
  client: SignInClient,
): Promise<number | null> {
  const {id: connection_id, organisation_id, settings} = connection
  const over_at = new Date(logout.over_s * 1000).toISOString()
  if (!(await noteAssertion(db, hashOf(`logout\0${connection_id}\0${logout.jti}`), over_at))) return null
  const marks = {connection_id, ...marksOf(settings.issuer, logout)}
  if (marks.idp_session !== null) await noteAssertion(db, endOf(connection_id, marks.idp_session), over_at)
  await denyCodesAt(db, organisation_id, marks)
  const sessions = await revokeSessionsAt(db, organisation_id, marks, now().toISOString())
  for (const {id, user_id, kind} of sessions) {
    const body = {by: 'back-channel logout', connection: connection.name, of: user_id, kind}
    const deed = {resource: 'session', resource_id: id, action: 'delete', status: 200, body} as const
    await rows.note(db, {...deed, organisation_id, user_id: null}, client)
  }
  return sessions.length
}

/** Of the issuer, as one that speaks for several organisations names a session alike to all. */
function marksOf(issuer: string, {sid, sub}: {readonly sid: string | null; readonly sub: string | null}): Marks {
  return {
    idp_session: sid === null ? null : hashOf(`sid\0${issuer}\0${sid}`),
    idp_subject: sub === null ? null : hashOf(`sub\0${issuer}\0${sub}`),
  }
}

function endOf(connection_id: string, idp_session: string): string {
  return hashOf(`ended\0${connection_id}\0${idp_session}`)
}
