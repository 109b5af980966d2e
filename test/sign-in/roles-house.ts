import {newId, newTimeId} from '../../src/base/ids.ts'
import {CHECKS, COVERS, DEPLOYMENT, EXPORT, MCP, type Place, PROMPT, SECRET} from '../admin/matrix-rows.ts'
import type {Browser} from '../support/sign-in.ts'
import {openPeople, type PeopleHouse, type Reply} from './people-house.ts'

/** Letters as in the rows of the matrix; `N` is a member of the organisation who is in no workspace. */
export const ROLES = {
  O: ['olga', 'owner', null],
  A: ['adam', 'admin', null],
  N: ['nora', 'member', null],
  W: ['wanda', 'member', 'admin'],
  G: ['gustav', 'member', 'manager'],
  M: ['mia', 'member', 'member'],
} as const
export type Letter = keyof typeof ROLES
export const LETTERS = Object.keys(ROLES) as readonly Letter[]

export interface Sent {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  /** Sent by the operator before each time, so that there is something to change. */
  readonly first?: Sent
}

/** One person: signed in at a provider, and once more by a session of the operator's. */
export interface SignedIn {
  readonly id: string
  readonly email: string
  readonly browser: Browser
  /** A call by the cookie, as a page of the gateway makes it. */
  byCookie(request: Sent): Promise<Reply>
  byBearer(request: Sent): Promise<Reply>
}

/** A gateway at which a person of each role has signed in, and rows of every kind in one workspace. */
export async function openRoles() {
  const house = await openPeople('sqlite')
  const {gateway} = house
  const workspace = (await gateway.admin<{id: string}>('POST', '/admin/workspaces', {name: 'Kitchen'})).id
  const people = {} as Record<Letter, SignedIn>
  for (const letter of LETTERS) people[letter] = await signedIn(house, letter, workspace)
  const place = await furnished(house, workspace)
  return {
    ...{...house, workspace, people, place},
    /** What a call answers a person by the cookie, and by the session of the operator's. */
    async both(letter: Letter, make: () => Sent): Promise<readonly [cookie: Reply, bearer: Reply]> {
      const {byCookie, byBearer} = people[letter]
      const prepared = async () => {
        const {first, ...sent} = make()
        if (first) await gateway.app.inject({method: first.method, url: first.path, body: first.body})
        return sent
      }
      return [await byCookie(await prepared()), await byBearer(await prepared())]
    },
  }
}

export type RolesHouse = Awaited<ReturnType<typeof openRoles>>

async function signedIn(house: PeopleHouse, letter: Letter, workspace: string): Promise<SignedIn> {
  const [name, role, workspace_role] = ROLES[letter]
  const email = `${name}@example.test`
  if (role !== 'member') await house.gateway.person(name, role)
  const {browser, reply} = await house.comes({sub: name, email})
  if (reply.status !== 303) throw new Error(`${name} is not let in: ${reply.status} ${reply.text}`)
  const {user, organisation} = await browser.self()
  if (organisation.role !== role) throw new Error(`${name} came in as ${organisation.role}`)
  const users = [{id: user.id, role: workspace_role}]
  if (workspace_role) await house.gateway.admin('POST', `/admin/workspaces/${workspace}/users`, {users})
  const token = await house.session(name)
  return {
    ...{id: user.id, email, browser},
    async byCookie({method, path, body}) {
      const headers = {accept: 'application/json'}
      const {status, body: answer} = await browser.go(path, {method, headers, ...(body !== undefined && {body})})
      return {status, body: answer}
    },
    byBearer: ({method, path, body}) => house.as(token, method, path, body),
  }
}

/** A row of every kind, made by the operator, or by what makes them in earnest: a sign-in, and a call. */
async function furnished({gateway, comes}: PeopleHouse, workspace_id: string): Promise<Place> {
  const {data: domains} = await gateway.admin<{data: {id: string}[]}>('GET', '/admin/organisation/domains')
  const {id: organisation} = await gateway.admin<{id: string}>('GET', '/admin/organisation')
  const made = async (path: string, body: object): Promise<Made> => {
    const reply = await gateway.admin<Made & {data?: Made}>('POST', path, body)
    return reply.data ?? reply
  }
  const {browser} = await comes({sub: 'paula', email: 'paula@example.test'})
  const user = (await browser.self()).user.id as string
  await gateway.admin('POST', `/admin/workspaces/${workspace_id}/users`, {users: [{id: user, role: 'member'}]})
  const of_user = `?user_id=${user}`
  const {data: sessions} = await gateway.admin<{data: Made[]}>('GET', `/admin/sessions${of_user}`)
  const {data: identities} = await gateway.admin<{data: Made[]}>('GET', `/admin/identities${of_user}`)
  const openai = {ai_provider_id: 'openai', key: 'sk-0123456789'}
  const integration = (await made('/integrations', {name: 'Kept', ...openai, workspace_id})).id
  const virtual = {name: 'Kept', provider: 'openai', key: 'sk-0123456789', workspace_id}
  const virtual_key = (await made('/virtual-keys', virtual)).slug
  const collection = (await made('/collections', {name: 'Kept', workspace_id})).id
  const prompt = await made('/prompts', {...PROMPT, name: 'Kept', collection_id: collection, virtual_key})
  const mcp_integration = (await made('/mcp-integrations', {...MCP, workspace_id})).id
  const service = {name: 'Kept', workspace_id, scopes: ['completions.write', 'logs.write']}
  const key = await made('/api-keys/workspace/service', service)
  const call = await gateway.chat(
    {model: '@demo/echo', messages: [{role: 'user', content: 'Hello'}]},
    {'x-gateway-api-key': key.key, 'x-gateway-trace-id': 'trace-of-roles'},
  )
  if (call.status !== 200) throw new Error(`a call answers ${call.status}: ${await call.text()}`)
  await gateway.logs()
  const log = (await gateway.admin<{data: Made[]}>('GET', `/logs?workspace_id=${workspace_id}`)).data[0]!.id
  const feedback = await made('/feedback', {trace_id: 'trace-of-roles', value: 1, workspace_id})
  const log_export = (await made('/logs/exports', {...EXPORT, workspace_id})).id
  await made(`/logs/exports/${log_export}/start`, {})
  const usage = {...COVERS, type: 'cost', credit_limit: 1000, workspace_id}
  const rate = {...COVERS, type: 'requests', unit: 'rpm', value: 60_000, workspace_id}
  const invite = {email: `${newId()}@example.test`, role: 'member', workspaces: []}
  const mapping = {workspace_id, role: 'member', scim_group_name: 'Kept'}
  return {
    ...{organisation, workspace: workspace_id, user, key: key.id, integration, virtual_key, collection, log},
    ...{prompt: prompt.slug, prompt_version: prompt.version_id, mcp_integration, log_export, trace: 'trace-of-roles'},
    feedback: feedback.feedback_ids?.[0] ?? feedback.id,
    invite: (await made('/admin/users/invites', invite)).id,
    config: (await made('/configs', {name: 'Kept', config: {provider: 'openai'}, workspace_id})).slug,
    provider: (await made('/providers', {name: 'Kept', integration_id: integration, workspace_id})).slug,
    guardrail: (await made('/guardrails', {name: 'Kept', checks: CHECKS, actions: {}, workspace_id})).slug,
    usage_policy: (await made('/policies/usage-limits', usage)).id,
    rate_policy: (await made('/policies/rate-limits', rate)).id,
    label: (await made('/labels', {name: 'kept', workspace_id})).id,
    partial: (await made('/prompts/partials', {name: 'Kept', string: 'Be kind.', workspace_id})).slug,
    saved_filter: (await made('/saved-filters', {name: 'Kept', filters: {}, workspace_id})).id,
    secret_reference: (await made('/secret-references', SECRET)).id,
    mcp_server: (await made('/mcp-servers', {name: 'Kept', mcp_integration_id: mcp_integration, workspace_id})).id,
    deployment: (await made('/deployments', DEPLOYMENT)).id,
    domain: domains[0]!.id,
    session: sessions[0]!.id,
    identity: identities[0]!.id,
    mcp_oauth_client: (await made('/mcp-oauth-clients', {name: 'Kept', redirect_uris: ['http://localhost/cb']})).id,
    scim_token: (await made('/admin/organisation/scim-tokens', {name: 'Kept'})).id,
    scim_mapping: (await made('/scim/workspaces', mapping)).id,
  }
}

interface Made {
  readonly id: string
  readonly slug: string
  readonly version_id: string
  readonly key: string
  readonly feedback_ids?: readonly string[]
}

/** Ids of the form of those of a place, of which none is there. */
export function nowhere(place: Place): Place {
  const ids = Object.keys(place).map(name => [name, name === 'log' ? newTimeId(0) : newId()])
  return {...Object.fromEntries(ids), workspace: place.workspace}
}
