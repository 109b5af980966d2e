import {type DoubleAnswer, type ManagerDouble, type ManagerHeard, managerDouble} from './double.ts'

interface KvSecret {
  readonly data: Readonly<Record<string, unknown>> | string
  readonly version?: number
  readonly deleted?: true
}

/** The state of a Vault, which a test changes. */
export interface VaultState {
  now_ms: () => number
  sealed: boolean
  /** Answers this in the place of everything. */
  always: DoubleAnswer | null
  /** Mounts with their slash → version of the engine. */
  mounts: Record<string, 1 | 2>
  /** `mount/rest` → the secret. */
  secrets: Record<string, KvSecret>
  /** False: the mounts are not warned. */
  tells_mounts: boolean
  /** `role id/secret id` of the approles that may log in. */
  approles: Set<string>
  /** Tokens of pods that may log in. */
  pods: Set<string>
  namespace: string | null
  lease_s: number
  renewable: boolean
  /** The lease that a renewal gives. */
  renewed_lease_s: number
  /** Of a secret of version 1. */
  secret_lease_s: number
  /** Paths that no token may read. */
  denied: Set<string>
  /** The same by token and path; null: the policies of all are alike. */
  refuses: ((token: string, path: string) => boolean) | null
}

export interface VaultDouble extends ManagerDouble {
  readonly state: VaultState
  /** Tokens that hold → when they end. */
  readonly tokens: Map<string, number>
  /** How many requests came whose path begins so. */
  count(path: string): number
}

/** HashiCorp Vault as far as the gateway uses it: logins, leases, renewals, both key-value engines. */
export async function vaultDouble(): Promise<VaultDouble> {
  const tokens = new Map<string, number>([['root', Number.POSITIVE_INFINITY]])
  let logins = 0
  const state: VaultState = {
    now_ms: () => Date.now(),
    sealed: false,
    always: null,
    mounts: {'secret/': 2},
    secrets: {},
    tells_mounts: true,
    approles: new Set(['role/hush']),
    pods: new Set(),
    namespace: null,
    lease_s: 3600,
    renewable: true,
    renewed_lease_s: 3600,
    secret_lease_s: 0,
    denied: new Set(),
    refuses: null,
  }
  const auth = (client_token: string, lease_duration: number) => ({
    status: 200,
    body: {auth: {client_token, lease_duration, renewable: state.renewable, policies: ['default']}},
  })
  const answer = (request: ManagerHeard): DoubleAnswer => {
    if (state.always) return state.always
    if (state.sealed) return errors(503, 'Vault is sealed')
    if (state.namespace !== (request.headers['x-vault-namespace'] ?? null)) return errors(403, 'permission denied')
    const [path = '', query = ''] = request.path.replace(/^\/v1\//, '').split('?')
    if (request.method === 'POST' && /^auth\/(?:approle|kubernetes)\/login$/.test(path)) {
      const {role_id, secret_id, jwt} = JSON.parse(request.body) as Record<string, string>
      const may = path.includes('approle') ? state.approles.has(`${role_id}/${secret_id}`) : state.pods.has(jwt ?? '')
      if (!may) return errors(400, 'invalid role or secret ID')
      const token = `hvs.${++logins}`
      tokens.set(token, state.now_ms() + state.lease_s * 1000)
      return auth(token, state.lease_s)
    }
    const token = request.headers['x-vault-token'] ?? ''
    if ((tokens.get(token) ?? 0) <= state.now_ms()) return errors(403, 'permission denied', 'invalid token')
    if (path === 'auth/token/lookup-self') return {status: 200, body: {data: {ttl: 0, renewable: false}}}
    if (path === 'auth/token/renew-self') {
      tokens.set(token, state.now_ms() + state.renewed_lease_s * 1000)
      return auth(token, state.renewed_lease_s)
    }
    return read(token, decodeURIComponent(path), query)
  }
  const read = (token: string, path: string, query: string): DoubleAnswer => {
    const preflight = path.startsWith('sys/internal/ui/mounts/')
    const asked = preflight ? path.slice('sys/internal/ui/mounts/'.length) : path
    const mount = Object.keys(state.mounts).find(each => asked.startsWith(each))
    if (preflight) {
      if (!state.tells_mounts || !mount) return errors(403, 'preflight capability check returned 403')
      return {status: 200, body: {data: {path: mount, options: {version: String(state.mounts[mount])}}}}
    }
    if (!mount) return errors(state.tells_mounts ? 404 : 403, 'no handler for route')
    const is_v2 = state.mounts[mount] === 2
    const rest = asked.slice(mount.length)
    if (is_v2 && !rest.startsWith('data/')) return errors(404, 'Invalid path for a versioned K/V secrets engine')
    const name = mount + (is_v2 ? rest.replace(/^data\//, '') : rest)
    const secret = state.secrets[name]
    if (state.denied.has(name) || state.refuses?.(token, name))
      return errors(403, '1 error occurred: permission denied')
    if (!secret) return {status: 404, body: {errors: []}}
    const {data, version = 1, deleted} = secret
    if (!is_v2) return {status: 200, body: {lease_duration: state.secret_lease_s, data}}
    if (deleted) return {status: 404, body: {data: {data: null, metadata: {deletion_time: '2026-01-01', version}}}}
    if (query && query !== `version=${version}`) return {status: 404, body: {errors: []}}
    return {status: 200, body: {lease_duration: 0, data: {data, metadata: {version}}}}
  }
  const double = await managerDouble(answer)
  return {
    ...double,
    state,
    tokens,
    count: path => double.received.filter(each => each.path.startsWith(`/v1/${path}`)).length,
  }
}

function errors(status: number, ...all: string[]): DoubleAnswer {
  return {status, body: {errors: all}}
}
