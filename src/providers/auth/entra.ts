import {uriPart} from '../../base/uri-part.ts'
import {type Options, optionIn, optionNeeded, WrongOptionFault} from '../options.ts'
import {LoginFault, type Logins, loginKey, type RequestAuth} from './login.ts'
import {readToken} from './oauth.ts'

/**
 * Azure's instance metadata service. Source: Microsoft Learn, "Managed identities, use a token", api-version
 * 2018-02-01.
 */
const METADATA = 'http://169.254.169.254/metadata/identity/oauth2/token?api-version=2018-02-01'
const ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const FORM = {'content-type': 'application/x-www-form-urlencoded'}
const MODES = new Set(['entra', 'managed', 'workload', 'gateway'])
/**
 * Services that a token of the gateway's own identity may be shown to. Below azure.com are customers' own machines too
 * (cloudapp).
 */
const OWN_HOSTS =
  /^[a-z0-9-]+(?:\.[a-z0-9-]+)?\.(?:(?:openai|cognitiveservices|services\.ai|models\.ai|inference\.ml)\.azure\.com|(?:openai|cognitiveservices)\.azure\.(?:us|cn))$/

/**
 * Microsoft Entra ID: client credentials, with a secret or with the federated token of the machine, and the machine's
 * managed identity. Source: Microsoft identity platform, "OAuth 2.0 client credentials flow"; Microsoft Learn, "How to
 * use managed identities".
 */
export const entra: RequestAuth = {
  says: 'Authorization: Bearer, with a token of Microsoft Entra ID (azure_auth_mode)',
  signs_body: false,
  chosen: options => MODES.has(optionIn(options, 'azure_auth_mode') ?? ''),
  usesOwnIdentity: options => ['managed', 'workload', 'gateway'].includes(optionIn(options, 'azure_auth_mode') ?? ''),
  async authorize({host}, _key, options, on) {
    const auth_mode = optionNeeded(options, 'azure_auth_mode')
    const mode = auth_mode === 'gateway' ? gatewayMode(on) : auth_mode
    if (auth_mode !== 'entra' && !OWN_HOSTS.test(host))
      throw new LoginFault('The gateway shows its own Azure identity to hosts of Azure alone.')
    const scope = optionIn(options, 'azure_entra_scope') ?? scopeOf(host)
    return {authorization: `Bearer ${await tokenOf(mode, scope, auth_mode === 'gateway' ? NO_OPTIONS : options, on)}`}
  },
}

/** A token of the gateway itself, in the mode that the settings name. */
export async function gatewayAzureToken(scope: string, on: Logins): Promise<string> {
  return tokenOf(gatewayMode(on), scope, NO_OPTIONS, on)
}

/** A token for `scope`: of the application or the identity that `who` names, in that mode. */
export function tokenOf(mode: string, scope: string, who: Options, on: Logins): Promise<string> {
  return mode === 'managed' ? managed(scope, who, on) : client(mode, scope, who, on)
}

/** The gateway itself has no options that name its identity. */
const NO_OPTIONS: Options = {}

function gatewayMode({identity}: Logins): string {
  const {mode, entra} = identity.azure ?? {}
  if (!mode || (mode === 'entra' && !entra))
    throw new LoginFault('The gateway has no identity of its own at Azure: AZURE_AUTH_MODE is not set.')
  return mode
}

/** Foundry's own API asks for another audience than the rest (Microsoft Learn, Foundry, Entra ID). */
function scopeOf(host: string): string {
  return host.endsWith('.inference.ml.azure.com')
    ? 'https://ml.azure.com/.default'
    : 'https://cognitiveservices.azure.com/.default'
}

async function client(
  mode: string,
  scope: string,
  options: Options,
  {fetch, now_ms, identity, azure_authority, tokens}: Logins,
) {
  const {azure = {}} = identity
  const is_workload = mode === 'workload'
  const own = !is_workload && options === NO_OPTIONS ? azure.entra : undefined
  const tenant =
    own?.tenant_id ?? optionIn(options, 'azure_entra_tenant_id') ?? (is_workload ? azure.tenant_id : undefined)
  const client_id = is_workload
    ? (optionIn(options, 'azure_workload_client_id') ?? azure.client_id)
    : (own?.client_id ?? optionNeeded(options, 'azure_entra_client_id'))
  if (tenant === undefined || client_id === undefined)
    throw new LoginFault('The gateway has no workload identity: AZURE_TENANT_ID and AZURE_CLIENT_ID are not set.')
  if (is_workload && !azure.federated_token)
    throw new LoginFault('The gateway has no workload identity: AZURE_FEDERATED_TOKEN_FILE is not set.')
  const secret = is_workload ? null : (own?.secret ?? optionNeeded(options, 'azure_entra_client_secret'))
  return tokens.get(loginKey('entra', mode, tenant, client_id, secret, scope), async () => {
    const proof: Record<string, string> =
      secret === null
        ? {client_assertion_type: ASSERTION, client_assertion: (await azure.federated_token!()).trim()}
        : {client_secret: secret}
    const body = new URLSearchParams({client_id, scope, ...proof, grant_type: 'client_credentials'}).toString()
    const url = `${azure_authority}/${uriPart(tenant)}/oauth2/v2.0/token`
    return readToken(await fetch({method: 'POST', url, headers: FORM, body}), 'Microsoft Entra ID', now_ms())
  })
}

async function managed(scope: string, options: Options, {fetch, now_ms, identity, tokens}: Logins) {
  const suffix = '/.default'
  const resource = scope.endsWith(suffix) ? scope.slice(0, -suffix.length) : scope
  if (!/^(?:https|api):\/\/[\w.:/-]+$/.test(resource))
    throw new WrongOptionFault('azure_entra_scope', 'a scope such as https://cognitiveservices.azure.com/.default')
  const client_id = optionIn(options, 'azure_managed_client_id') ?? identity.azure?.managed_client_id
  const query = `&resource=${uriPart(resource)}${client_id ? `&client_id=${uriPart(client_id)}` : ''}`
  return tokens.get(loginKey('managed', resource, client_id), async () => {
    const service = identity.azure?.app_service
    const reply = service
      ? await fetch({
          method: 'GET',
          url: `${service.url}?api-version=2019-08-01${query}`,
          headers: {'x-identity-header': service.header},
        })
      : await fetch({method: 'GET', url: METADATA + query, headers: {metadata: 'true'}})
    return readToken(inSeconds(reply, now_ms()), 'the managed identity of this machine', now_ms())
  })
}

/** App Service says the moment of expiry (`expires_on`, seconds since the epoch) and not how long is left. */
function inSeconds(reply: {readonly status: number; readonly body: string}, now_ms: number) {
  const on = /"expires_on"\s*:\s*"?(\d{1,12})"?/.exec(reply.body)?.[1]
  if (on === undefined || /"expires_in"/.test(reply.body)) return reply
  return {...reply, body: reply.body.replace(/\}\s*$/, `,"expires_in":${Math.floor(Number(on) - now_ms / 1000)}}`)}
}
