import {openConnection, openConnections, type SsoConnection} from '../identity/connections.ts'
import type {FoundSession} from '../store/sessions.ts'
import type {SignInServices} from './services.ts'

/**
 * True where a session may be carried into another organisation of its person: that one has the same provider. One
 * organisation's provider does not speak for another's people, and a session of the operator's is for one organisation.
 */
export async function opensOther(
  {store, connections}: SignInServices,
  session: FoundSession,
  organisation_id: string,
): Promise<boolean> {
  if (session.organisation_id === organisation_id) return true
  return (await sameConnection({store, connections}, session, organisation_id)) !== undefined
}

/** The connection of that organisation which has the provider of the session. */
export async function sameConnection(
  {store, connections}: Pick<SignInServices, 'store' | 'connections'>,
  session: FoundSession,
  organisation_id: string,
): Promise<SsoConnection | undefined> {
  const id = session.connection_id
  const own = id ? await openConnection(store.db, connections, id) : undefined
  if (!own) return undefined
  const others = await openConnections(store.db, connections, organisation_id)
  return others.find(each => isSame(each, own))
}

/** Fields by which one provider could call the same person two things, or two persons one. */
const DECISIVE = ['issuer', 'client_id', 'subject_claim', 'email_claim', 'email_verified'] as const

function isSame(one: SsoConnection, other: SsoConnection): boolean {
  if (one.type !== other.type) return false
  if (one.type === 'oidc' && other.type === 'oidc')
    return DECISIVE.every(key => one.settings[key] === other.settings[key])
  if (one.type === 'saml' && other.type === 'saml')
    return (
      one.settings.metadata_url !== null &&
      one.settings.metadata_url === other.settings.metadata_url &&
      one.settings.entity_id === other.settings.entity_id
    )
  return false
}
