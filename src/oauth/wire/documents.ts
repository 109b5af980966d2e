import {mcpPath} from '../../identity/mcp-oauth/resources.ts'
import {MCP_SCOPES, OFFLINE} from '../../identity/mcp-oauth/scopes.ts'
import {CLIENT_AUTH_METHODS} from '../../schema/mcp-oauth-clients.ts'
import type {McpServerNames} from '../../store/oauth-servers.ts'

export const GRANT_TYPES = ['authorization_code', 'refresh_token', 'client_credentials'] as const

export interface DocumentFacts {
  /** The address of MCP, without a slash at its end; it is the issuer. */
  readonly base_url: string
  /** MCP_CIMD_HOSTS names hosts. */
  readonly reads_client_documents: boolean
}

/** The document about one server (RFC 9728). It says nothing of whether there is such a server. */
export function resourceDocument(names: McpServerNames, {base_url}: Pick<DocumentFacts, 'base_url'>) {
  return {
    resource: base_url + mcpPath(names),
    authorization_servers: [base_url],
    scopes_supported: MCP_SCOPES,
    bearer_methods_supported: ['header'],
    resource_name: `MCP server ${names.server}`,
  }
}

/** The document about this authorization server (RFC 8414), the same for every server of MCP. */
export function serverDocument({base_url, reads_client_documents}: DocumentFacts) {
  const confidential = CLIENT_AUTH_METHODS.filter(method => method !== 'none')
  return {
    issuer: base_url,
    authorization_endpoint: `${base_url}/oauth/authorize`,
    token_endpoint: `${base_url}/oauth/token`,
    registration_endpoint: `${base_url}/oauth/register`,
    introspection_endpoint: `${base_url}/oauth/introspect`,
    revocation_endpoint: `${base_url}/oauth/revoke`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: GRANT_TYPES,
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: CLIENT_AUTH_METHODS,
    introspection_endpoint_auth_methods_supported: confidential,
    revocation_endpoint_auth_methods_supported: CLIENT_AUTH_METHODS,
    scopes_supported: [...MCP_SCOPES, OFFLINE],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: reads_client_documents,
    service_documentation: `${base_url}/docs`,
  }
}
