import {readAddress} from '../base/address.ts'
import {openConnections, type SsoConnection} from '../identity/connections.ts'
import {SignInFault} from '../identity/sign-in-fault.ts'
import {organisationsOfDomain} from '../store/domains.ts'
import {findOrganisation} from '../store/organisations.ts'
import type {SignInServices} from './services.ts'

/** The things that a request may say about where a person signs in. */
export interface Asked {
  /** Id of a connection: of a button of the page. */
  readonly connection?: string | undefined
  /** Id or slug. */
  readonly organisation_id?: string | undefined
  readonly email?: string | undefined
  /** Issuer, of a sign-in that the provider began. */
  readonly issuer?: string | undefined
  readonly type?: SsoConnection['type'] | undefined
}

/** The ways in for what a request says; the first fact that is there decides. Several are for the person to choose. */
export async function waysIn(services: SignInServices, wanted: Asked): Promise<readonly SsoConnection[]> {
  const {store, connections} = services
  const {connection, organisation_id, email, issuer, type} = wanted
  const is_of_type = (each: SsoConnection) => type === undefined || each.type === type
  if (organisation_id) {
    const organisation = await findOrganisation(store.db, organisation_id)
    const all = organisation ? await openConnections(store.db, connections, organisation.id) : []
    return narrowed(all.filter(is_of_type), {connection, email})
  }
  const all = (await openConnections(store.db, connections)).filter(is_of_type)
  if (connection) return all.filter(each => each.id === connection)
  if (issuer) return all.filter(each => each.type === 'oidc' && each.settings.issuer === issuer)
  if (email) return ofAddress(services, all, email)
  return all
}

/** The one way in. Refuses where there is none, or several. */
export async function wayIn(services: SignInServices, wanted: Asked): Promise<SsoConnection> {
  const found = await waysIn(services, wanted)
  if (found.length === 0) throw new SignInFault('not_configured', 'no connection is there for what was wanted')
  if (found.length > 1) throw new SignInFault('several_organisations', `${found.length} connections are there`)
  return found[0]!
}

/** The connections of the organisation that has the verified domain of an address. */
async function ofAddress({store}: SignInServices, all: readonly SsoConnection[], email: string) {
  const address = readAddress(email)
  if (!address) return []
  const organisations = await organisationsOfDomain(store.db, address.domain)
  const of_organisation = all.filter(each => organisations.includes(each.organisation_id))
  return narrowed(of_organisation, {email})
}

/** Of several connections of an organisation, those that name the domain of the address; without one, all. */
function narrowed(
  all: readonly SsoConnection[],
  {connection, email}: Pick<Asked, 'connection' | 'email'>,
): readonly SsoConnection[] {
  if (connection) return all.filter(({id}) => id === connection)
  const domain = email ? readAddress(email)?.domain : undefined
  if (domain === undefined) return all
  const named = all.filter(({domains}) => domains.includes(domain))
  return named.length > 0 ? named : all.filter(({domains}) => domains.length === 0)
}
