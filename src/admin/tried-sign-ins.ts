import type {z} from 'zod'
import {admitted} from '../identity/admission/admission.ts'
import {endInWords, endsIn} from '../identity/certificate-watch.ts'
import {readConnection, type SsoConnection} from '../identity/connections.ts'
import {SignInFault} from '../identity/sign-in-fault.ts'
import type {Statement} from '../identity/statement.ts'
import type {OrganisationAuthTest} from '../schema/organisation-auth.ts'
import {listConnections} from '../store/connections.ts'
import {findOrganisationUser} from '../store/users.ts'
import type {OperationCall} from './operation.ts'
import {found} from './tenancy.ts'

interface Step {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
}

type Asked = z.output<typeof OrganisationAuthTest>
type Call = Pick<OperationCall, 'actor' | 'db' | 'app' | 'now'>

/** The steps of a sign-in by a connection, tried now; with a statement, what it would do here. Nothing is kept. */
export async function triedSignIn(call: Call, wanted: Asked): Promise<Step[]> {
  const {actor, db, app} = call
  const rows = await listConnections(db, actor.organisation_id)
  const row = rows.find(
    ({type, id, name}) => type === wanted.part && (!wanted.connection || [id, name].includes(wanted.connection)),
  )
  const connection = readConnection(found(row, 'connection'), app.seal)
  const steps = await providerSteps(call, connection, wanted)
  const {statement} = wanted
  return statement ? [...steps, await personStep(call, connection, statement)] : steps
}

async function providerSteps({app, now}: Call, connection: SsoConnection, {username}: Asked): Promise<Step[]> {
  const {providers} = app
  const now_ms = Date.parse(now)
  if (!providers) throw new Error('no providers are tried here')
  try {
    switch (connection.type) {
      case 'oidc':
        return [...(await (await providers.oidc(connection.settings.issuer)).tried(connection.settings))]
      case 'ldap':
        return [
          ...authoritySteps(connection.settings.ca, now_ms),
          ...(await (await providers.ldap()).tried(connection.settings, username)),
        ]
      case 'saml': {
        const provider = await (await providers.saml()).tried(connection.settings)
        const {entity_id, sso_url, certificates, certificate_ends} = provider
        const ends = certificate_ends.map(end => endInWords(Date.parse(end), now_ms))
        const noun = certificates.length === 1 ? 'signing certificate' : 'signing certificates'
        const keys = `${certificates.length} ${noun}, until ${ends.join(', ')}`
        return [
          {name: 'metadata', ok: true, detail: `${entity_id}; sign-in at ${sso_url}`},
          {name: 'certificates', ok: true, detail: keys},
        ]
      }
    }
  } catch (fault) {
    if (!(fault instanceof SignInFault)) throw fault
    return [{name: connection.type, ok: false, detail: fault.detail}]
  }
}

/** TLS enforces the dates of an authority, unlike SAML those of its certificates. */
function authoritySteps(ca: string | null, now_ms: number): Step[] {
  if (ca === null) return []
  const ends_ms = endsIn(ca)
  const detail = ends_ms.map(each => endInWords(each, now_ms)).join(', ')
  const ok = ends_ms.some(each => each > now_ms)
  return [{name: 'certificate authority', ok, detail: detail ? `until ${detail}` : 'no certificate can be read'}]
}

class TriedFault extends Error {
  readonly detail: string

  constructor(detail: string) {
    super('a sign-in was tried')
    this.detail = detail
  }
}

/** The outcome for a person with this statement: he is admitted in a transaction that is given up. */
async function personStep(
  call: Call,
  connection: SsoConnection,
  given: NonNullable<Asked['statement']>,
): Promise<Step> {
  const {app, now} = call
  const {groups, subject, email, email_verified} = given
  const statement: Statement = {
    ...{subject, email, email_verified, first_name: null, last_name: null, session_ends_at: null, id_token: null},
    provider_session: null,
    groups: groups ? {kind: 'known', names: groups, dropped: 0} : {kind: 'unset'},
  }
  try {
    await app.store.write(async db => {
      const arrival = {
        connection,
        statement,
        user_id: null,
        invite_id: null,
        begun_at: now,
        holders: connection.type === 'ldap' ? 1 : null,
      }
      const person = await admitted(db, arrival, now)
      const user = await findOrganisationUser(db, connection.organisation_id, person.user_id)
      const deeds = person.deeds.map(({resource, action}) => `${resource} ${action}`)
      throw new TriedFault(
        [
          `in as ${person.email}, ${user!.role}`,
          ...(deeds.length > 0 ? [`would ${deeds.join(', ')}`] : []),
          ...person.notes,
        ].join('; '),
      )
    })
  } catch (fault) {
    if (fault instanceof TriedFault) return {name: 'person', ok: true, detail: fault.detail}
    if (fault instanceof SignInFault) return {name: 'person', ok: false, detail: `${fault.reason}: ${fault.detail}`}
    throw fault
  }
  throw new Error('a sign-in that was tried was kept')
}
