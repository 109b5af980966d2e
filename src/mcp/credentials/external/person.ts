import {readAddress} from '../../../base/address.ts'
import {insertGatewayDeed} from '../../../store/audit-logs.ts'
import type {Db} from '../../../store/database.ts'
import {coversDomain} from '../../../store/domains.ts'
import {externalUser, hasExternalSubject, linkExternalUser} from '../../../store/mcp-external-sign-ins.ts'
import type {McpExternalSignInsTable} from '../../../store/tables/mcp-connections.ts'
import {findOrganisationUser, findUserByEmail} from '../../../store/users.ts'
import type {ExternalClaims} from './claims.ts'

/** The reason why a person is not let in; a sentence for him. */
export class NotAdmittedFault extends Error {
  override readonly name = 'NotAdmittedFault'
}

/**
 * The user who a provider of an integration speaks of. He has to be one of the organisation already: by the subject
 * that was seen before, else by an address that the provider verified and whose domain the organisation proved. The
 * author of the integration chooses the provider: it speaks for members alone, and for servers of the integration.
 */
export async function externalUserOf(
  db: Db,
  row: McpExternalSignInsTable,
  {issuer, claims}: {readonly issuer: string; readonly claims: ExternalClaims},
  now: string,
): Promise<string> {
  const {organisation_id, mcp_integration_id} = row
  const subject = `${issuer} ${claims.subject}`
  const linked = await externalUser(db, mcp_integration_id, subject)
  const user_id = linked ?? (await userByAddress(db, row, claims))
  const user = await findOrganisationUser(db, organisation_id, user_id)
  if (user?.status !== 'active') throw unknown()
  if ((user.status_changed_at ?? '') > row.created_at) throw unknown()
  if (user.role !== 'member')
    throw new NotAdmittedFault(
      'Owners and admins do not come in by the provider of an MCP server. ' +
        'Sign in at this gateway first, and begin again.',
    )
  if (linked === undefined) {
    await linkExternalUser(db, {mcp_integration_id, subject, user_id, created_at: now})
    const deed = {
      ...{organisation_id, workspace_id: null, status: 200, client_ip: null},
      ...{resource_type: 'mcp-integration', resource_id: mcp_integration_id, action: 'external-link'},
      body: {user_id, issuer, subject: claims.subject},
    }
    await insertGatewayDeed(db, deed, Date.parse(now))
  }
  return user_id
}

async function userByAddress(
  db: Db,
  {organisation_id, mcp_integration_id}: McpExternalSignInsTable,
  {email, is_email_verified}: ExternalClaims,
): Promise<string> {
  const address = readAddress(email)
  if (!address)
    throw new NotAdmittedFault('The provider does not say your e-mail address, and you were not here before.')
  if (!is_email_verified) throw new NotAdmittedFault('The provider does not say that your e-mail address is verified.')
  if (!(await coversDomain(db, organisation_id, address.domain))) throw unknown()
  const user = await findUserByEmail(db, address.address)
  if (!user) throw unknown()
  if (await hasExternalSubject(db, mcp_integration_id, user.id))
    throw new NotAdmittedFault('Your e-mail address belongs to another account of the provider. An admin can help you.')
  return user.id
}

/** The same for a person who is unknown, left, or is of another organisation. */
function unknown(): NotAdmittedFault {
  return new NotAdmittedFault('You are not a user of the organisation that this MCP server belongs to. Ask its admin.')
}
