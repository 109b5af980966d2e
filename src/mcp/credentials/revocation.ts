import type {McpConnectionsTable} from '../../store/tables/mcp-connections.ts'
import {AuthServerFault} from './auth-server-fault.ts'
import {openedTokens} from './kept-tokens.ts'
import {sentProof} from './oauth-upstream/client-proof.ts'
import {askerOf, type CalledIntegration, type CredentialServices} from './services.ts'

/**
 * Has the tokens of a deleted connection revoked where they came from (RFC 7009): the refresh token, which takes the
 * other along, else the access token. They are gone here already: a server that does not take it is a line in the log.
 */
export async function revokeTokens(
  services: Pick<CredentialServices, 'fetch' | 'seal' | 'log'>,
  integration: Pick<CalledIntegration, 'id' | 'url' | 'trusts_host'>,
  connection: McpConnectionsTable,
): Promise<void> {
  const {revocation_endpoint, client, refresh_token, access_token} = openedTokens(services, connection)
  if (revocation_endpoint === null) return
  const proof = sentProof(client)
  const hint = refresh_token === null ? 'access_token' : 'refresh_token'
  const form = {token: refresh_token ?? access_token, token_type_hint: hint, ...proof.form}
  const headers = {...proof.headers, 'content-type': 'application/x-www-form-urlencoded'}
  const body = new URLSearchParams(form).toString()
  try {
    const {status} = await services.fetch(revocation_endpoint, {method: 'POST', headers, body}, askerOf(integration))
    if (status !== 200) throw new AuthServerFault('silent', `it answered with status ${status}`)
  } catch (fault) {
    if (!(fault instanceof AuthServerFault)) throw fault
    const mcp_integration_id = integration.id
    services.log.warn({fault, mcp_integration_id}, 'tokens of an ended connection could not be revoked at their server')
  }
}
