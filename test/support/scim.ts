import type {TestGateway} from './gateway.ts'
import {gatewayOn} from './gateway-on.ts'
import {scimFaults} from './scim-judge.ts'
import type {StoreKind} from './stores.ts'

/** An answer of the protocol, or of the administration. */
export interface ScimReply {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
  readonly body: any
}

/** Throws where a reply is not what the standard says. Administration and unknown paths have forms of their own. */
export function expectStandard(method: string, path: string, {status, headers, body}: ScimReply): void {
  if (!/^(?:\/v1\/scim)?(?:\/v2)?\/(?:Users|Groups|Schemas|ResourceTypes|ServiceProviderConfig)\b/.test(path)) return
  const [content_type, location, etag] = ['content-type', 'location', 'etag'].map(name => headers.get(name))
  const faults = scimFaults({
    ...{method, path, status, body},
    content_type: content_type!,
    location: location!,
    etag: etag!,
  })
  if (faults.length > 0) throw new Error(`${method} ${path}, answered with ${status}:\n${faults.join('\n')}`)
}

/** A gateway whose organisation has the domain example.com, and a directory with a token. */
export async function openScim(env: Record<string, string> = {}, kind: StoreKind = 'sqlite') {
  const gateway = await gatewayOn(kind, {CONTROL_PLANE_URL: 'https://gateway.example.com', ...env})
  await gateway.admin('POST', '/operator/domains', {domain: 'example.com'})
  const {token} = await gateway.admin<{token: string}>('POST', '/admin/organisation/scim-tokens', {name: 'directory'})
  const ask = async (
    method: string,
    path: string,
    body?: unknown,
    {headers = {}, token: shown = token}: {headers?: Record<string, string>; token?: string} = {},
  ): Promise<ScimReply> => {
    const reply = await fetch(`${gateway.url}${path.startsWith('/v1') ? '' : '/scim/v2'}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${shown}`,
        ...(body !== undefined && {'content-type': 'application/scim+json'}),
        ...headers,
      },
      ...(body !== undefined && {body: typeof body === 'string' ? body : JSON.stringify(body)}),
    })
    const text = await reply.text()
    const answer = {status: reply.status, headers: reply.headers, body: text === '' ? undefined : JSON.parse(text)}
    expectStandard(method, path, answer)
    return answer
  }
  const user = async (name: string, more: object = {}): Promise<ScimReply['body']> => {
    const body = {schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName: `${name}@example.com`, ...more}
    const reply = await ask('POST', '/Users', body)
    if (reply.status !== 201) throw new Error(`POST /Users answers ${reply.status}: ${JSON.stringify(reply.body)}`)
    return reply.body
  }
  const group = async (displayName: string, members: readonly string[] = []): Promise<ScimReply['body']> => {
    const reply = await ask('POST', '/Groups', {displayName, members: members.map(value => ({value}))})
    if (reply.status !== 201) throw new Error(`POST /Groups answers ${reply.status}: ${JSON.stringify(reply.body)}`)
    return reply.body
  }
  const patch = (path: string, ...Operations: readonly object[]) =>
    ask('PATCH', path, {schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations})
  return {gateway, token, ask, user, group, patch}
}

export type Scim = Awaited<ReturnType<typeof openScim>>

/** The workspaces that a user is in, by name, with his roles. */
export async function rolesOf({admin}: Pick<TestGateway, 'admin'>, user_id: string): Promise<Record<string, string>> {
  const roles: Record<string, string> = {}
  const {data: workspaces} = await admin<{data: {id: string; name: string}[]}>('GET', '/admin/workspaces')
  for (const {id, name} of workspaces) {
    const {data} = await admin<{data: {id: string; role: string}[]}>('GET', `/admin/workspaces/${id}/users`)
    const found = data.find(each => each.id === user_id)
    if (found) roles[name] = found.role
  }
  return roles
}
