import {createHash} from 'node:crypto'
import {createSeal} from '../../../src/base/seal.ts'
import {keepTokens, personKey} from '../../../src/mcp/credentials/kept-tokens.ts'
import {openStore} from '../../../src/store/dialect/index.ts'
import {seed} from '../ring.ts'
import {openSignInGateway} from '../sign-in.ts'
import {type MarkingServer, type MarkOf, openMarkingLegacy, openMarkingModern} from './marking-servers.ts'
import {McpGateway} from './served.ts'

/** Somebody with a key, and an identity at each upstream. */
export interface Principal {
  readonly key: string
  /** In all that upstreams say to this one, and to no other. */
  readonly mark: string
  readonly is_person: boolean
  /** Every byte that this one received. */
  readonly received: string[]
}

/** The ways by which an upstream learns who calls. */
export const WAYS = ['claims', 'jwt', 'oauth', 'header'] as const
export const MARK = /mk[0-9a-f]{12}|mknobody/g
const SEALING_KEY = Buffer.alloc(32, 5)

export interface PrincipalsHouse {
  readonly mcp: McpGateway
  readonly principals: readonly Principal[]
  readonly servers: readonly MarkingServer[]
  close(): Promise<void>
}

/** A gateway with servers of both eras, behind each way, and so many principals; every second one is a person. */
export async function openPrincipals(count: number): Promise<PrincipalsHouse> {
  const gateway = await openSignInGateway('sqlite', {
    TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
    GATEWAY_SEALING_KEY: SEALING_KEY.toString('base64'),
  })
  const mcp = new McpGateway(gateway)
  const workspace = await mcp.workspace()
  const marks = new Map<string, string>()
  const markOf: Readonly<Record<(typeof WAYS)[number], MarkOf>> = {
    claims: headers => marks.get(JSON.parse(headers['x-user-claims'] ?? '{}').sub),
    jwt: headers => marks.get(claimsOf(headers['x-user-jwt']).sub),
    oauth: headers => headers.authorization?.replace('Bearer up-', ''),
    header: headers => headers['x-mark'],
  }
  const servers: MarkingServer[] = []
  for (const way of WAYS) {
    for (const [era, open] of [
      ['legacy', openMarkingLegacy],
      ['modern', openMarkingModern],
    ] as const) {
      const server = await open(markOf[way])
      servers.push(server)
      await mcp.server(`${way}-${era}`, server.url, INTEGRATIONS[way])
    }
  }
  const principals: Principal[] = []
  const people: {readonly user_id: string; readonly mark: string}[] = []
  for (let at = 0; at < count; at++) {
    const mark = `mk${createHash('sha256').update(`${seed()} ${at}`).digest('hex').slice(0, 12)}`
    const is_person = at % 2 === 0
    const body = {name: `p${at}`, workspace_id: workspace.id, scopes: ['mcp.invoke']}
    const made = is_person ? await person(at, body) : await ofService(body)
    marks.set(made.sub, mark)
    if (is_person) people.push({user_id: made.sub, mark})
    principals.push({key: made.key, mark, is_person, received: []})
  }
  await connect()
  return {
    ...{mcp, principals, servers},
    async close() {
      await mcp.close()
      await Promise.all(servers.map(server => server.close()))
    },
  }

  async function ofService(body: object) {
    const {id, key} = await gateway.admin<{id: string; key: string}>('POST', '/api-keys/workspace/service', body)
    return {sub: id, key}
  }

  async function person(at: number, body: object) {
    const user_id = await gateway.person(`person-${at}`, 'member')
    const users = [{id: user_id, role: 'member'}]
    await gateway.admin('POST', `/admin/workspaces/${workspace.id}/users`, {users})
    const {key} = await gateway.admin<{key: string}>('POST', '/api-keys/workspace/user', {...body, user_id})
    return {sub: user_id, key}
  }

  /** Tokens of each person at the servers that want a sign-in, as their consent would have left them. */
  async function connect() {
    const store = await openStore({kind: 'sqlite', folder: gateway.folder, role: 'operator'})
    const services = {store, seal: createSeal(SEALING_KEY), wall: Date.now, settings: BUFFER}
    for (const era of ['legacy', 'modern']) {
      const integration = await store.db
        .selectFrom('mcp_integrations')
        .selectAll()
        .where('slug', '=', `oauth-${era}-integration`)
        .executeTakeFirstOrThrow()
      const server = await store.db
        .selectFrom('mcp_servers')
        .selectAll()
        .where('slug', '=', `oauth-${era}`)
        .executeTakeFirstOrThrow()
      for (const {user_id, mark} of people) {
        const given = {access_token: `up-${mark}`, refresh_token: null, expires_in_s: null, scope: null}
        const tokens = {
          ...{access_token: given.access_token, refresh_token: null, token_endpoint: 'http://127.0.0.1:1/token'},
          ...{revocation_endpoint: null, resource: null, settings_hash: null, client: {client_id: 'c'}},
        }
        const target = {integration, server} as unknown as Parameters<typeof personKey>[0]
        await keepTokens(services as unknown as Parameters<typeof keepTokens>[0], personKey(target, user_id), {
          ...{url: integration.url, issuer: 'http://127.0.0.1:1', scope: null},
          ...({given, tokens} as unknown as Pick<Parameters<typeof keepTokens>[2], 'given' | 'tokens'>),
        })
      }
    }
    await store.close()
  }
}

const BUFFER = {mcp_pool_token_expiry_buffer_ms: 300_000}
const INTEGRATIONS: Readonly<Record<(typeof WAYS)[number], object>> = {
  claims: {configurations: {user_identity_forwarding: {method: 'claims_header'}}},
  jwt: {configurations: {user_identity_forwarding: {method: 'jwt_header'}}},
  oauth: {auth_type: 'oauth_auto'},
  header: {configurations: {forward_headers: ['x-mark']}},
}

function claimsOf(token: string | undefined): {readonly sub: string} {
  return JSON.parse(Buffer.from(token?.split('.')[1] ?? 'e30', 'base64url').toString())
}
