import {type DoubleAnswer, type ManagerDouble, type ManagerHeard, managerDouble} from './double.ts'

export interface AzureState {
  /** Client id → its secret. */
  clients: Map<string, string>
  /** Federated tokens that are taken. */
  assertions: Set<string>
  tokens: Set<string>
  secrets: Record<string, {value: string; disabled?: true}>
  /** The next answers of the vault, before anything else. */
  next: DoubleAnswer[]
  /** The same of the token service. */
  next_of_tokens: DoubleAnswer[]
}

export interface AzureDouble extends ManagerDouble {
  readonly state: AzureState
  /** Requests for tokens, by the host that was meant. */
  tokensAt(host: string): number
}

const AUTHORITY = 'https://login.microsoftonline.com'

/** Azure Key Vault, Microsoft Entra ID and the metadata service. */
export async function azureDouble(scope_host = 'vault.azure.net'): Promise<AzureDouble> {
  let made = 0
  const state: AzureState = {
    clients: new Map([['client', 'entra-hush']]),
    assertions: new Set(),
    tokens: new Set(),
    secrets: {},
    next: [],
    next_of_tokens: [],
  }
  const token = (): string => {
    const text = `eyJ.token.${++made}`
    state.tokens.add(text)
    return text
  }
  const answer = (request: ManagerHeard): DoubleAnswer => {
    const url = new URL(request.path, 'http://double')
    if (url.pathname.endsWith('/oauth2/v2.0/token')) return state.next_of_tokens.shift() ?? entra(request)
    if (url.pathname === '/metadata/identity/oauth2/token') return state.next_of_tokens.shift() ?? managed(request, url)
    return state.next.shift() ?? vault(request, url)
  }
  const entra = ({headers, body}: ManagerHeard): DoubleAnswer => {
    const form = new URLSearchParams(body)
    if (headers['content-type'] !== 'application/x-www-form-urlencoded') return entraFault(900144)
    if (!/^https:\/\/vault\.[a-z.]+\/\.default$/.test(form.get('scope') ?? '')) return entraFault(1002012)
    const assertion = form.get('client_assertion')
    if (assertion !== null) {
      if (!state.assertions.has(assertion)) return entraFault(700024)
    } else if (state.clients.get(form.get('client_id') ?? '') !== form.get('client_secret')) return entraFault(7000215)
    return {status: 200, body: {token_type: 'Bearer', expires_in: 3599, access_token: token()}}
  }
  const managed = ({headers}: ManagerHeard, url: URL): DoubleAnswer => {
    if (headers.metadata !== 'true' || url.searchParams.get('api-version') !== '2018-02-01')
      return {status: 400, body: {error: 'invalid_request', error_description: 'Required metadata header'}}
    if (url.searchParams.get('resource') !== `https://${scope_host}`)
      return {status: 400, body: {error: 'invalid_resource'}}
    const expires_on = String(Math.floor(Date.now() / 1000) + 86_400)
    return {status: 200, body: {access_token: token(), expires_on, token_type: 'Bearer'}}
  }
  const vault = ({headers}: ManagerHeard, url: URL): DoubleAnswer => {
    if (!state.tokens.has((headers.authorization ?? '').replace('Bearer ', '')))
      return {
        status: 401,
        // clients ask without a token first, and learn here where to get one
        headers: {
          'www-authenticate': `Bearer authorization="${AUTHORITY}/tenant", resource="https://${scope_host}"`,
        },
        body: {error: {code: 'Unauthorized'}},
      }
    if (url.searchParams.get('api-version') !== '7.4') return {status: 400, body: {error: {code: 'BadParameter'}}}
    const [, , name = ''] = url.pathname.split('/')
    const secret = state.secrets[name]
    if (!secret) return {status: 404, body: {error: {code: 'SecretNotFound', message: `no ${name}`}}}
    if (secret.disabled) return {status: 403, body: {error: {code: 'Forbidden', innererror: {code: 'SecretDisabled'}}}}
    const id = `https://v.vault.azure.net/secrets/${name}/0123456789abcdef0123456789abcdef`
    return {status: 200, body: {value: secret.value, id, attributes: {enabled: true}}}
  }
  const double = await managerDouble(answer)
  return {
    ...double,
    state,
    tokensAt: host =>
      double.received.filter(({path, headers}) => path.includes('/token') && headers['x-meant-for'] === host).length,
  }
}

function entraFault(code: number): DoubleAnswer {
  return {
    status: 401,
    body: {error: 'invalid_client', error_codes: [code], error_description: `AADSTS${code}: a long sentence`},
  }
}
