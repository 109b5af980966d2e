import {afterAll, beforeAll, expect} from 'vitest'
import {startGateway, type TestGateway, WORKSPACE_KEY} from '../../support/gateway.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
type Any = any

export interface Said {
  readonly status: number
  readonly body: Any
  /** What a refusal says. */
  readonly message: string
  readonly code: string
}

/** A whole gateway for the facts of a file, and what they all ask of it. */
export function opened(env: Record<string, string> = {}) {
  let gateway: TestGateway
  let home: {id: string; slug: string}
  beforeAll(async () => {
    gateway = await startGateway(env)
    home = (await gateway.admin<{data: {id: string; slug: string}[]}>('GET', '/admin/workspaces')).data[0]!
  })
  afterAll(() => gateway.close())

  /** Any answer, with a key or a session; with the operator's rights where none is named. */
  const ask = async (method: string, path: string, body?: unknown, key?: string): Promise<Said> => {
    const {status, body: said} = key
      ? await sent(gateway.url, key, method, path, body)
      : await gateway.app.inject({method, url: `/v1${path}`, body})
    const {data} = said as {data?: {message?: string; errorCode?: string}}
    return {status, body: said, message: data?.message ?? '', code: data?.errorCode ?? ''}
  }
  return {
    ask,
    /** The body of an answer that is 200. */
    async ok(method: string, path: string, body?: unknown, key?: string): Promise<Any> {
      const said = await ask(method, path, body, key)
      expect([method, path, said.status, said.message]).toEqual([method, path, 200, ''])
      return said.body
    },
    gateway: () => gateway,
    home: () => home,
    /** A key for calls, in the first workspace where none is named. */
    async key(more: object = {}, workspace_id = home.id): Promise<{key: string; id: string}> {
      const body = {name: 'Key', workspace_id, scopes: ['completions.write'], ...more}
      return gateway.admin('POST', '/api-keys/workspace/service', body)
    },
    workspace: (more: object = {}): Promise<{id: string; slug: string}> =>
      gateway.admin('POST', '/admin/workspaces', {name: 'Workspace', ...more}),
    /** A user with a session; a member of the first workspace where `role_there` is said. */
    async person(email: string, role: string, role_there?: string): Promise<{id: string; token: string}> {
      const {id} = await gateway.admin<{id: string}>('POST', '/operator/users', {email, role})
      if (role_there)
        await gateway.admin('POST', `/admin/workspaces/${home.id}/users`, {users: [{id, role: role_there}]})
      const {token} = await gateway.admin<{token: string}>('POST', '/operator/sessions', {email})
      return {id, token}
    },
    /** A chat with `@demo/echo`. */
    async chat(
      text = 'Hello',
      {
        headers = {},
        key = WORKSPACE_KEY,
        ...body
      }: {headers?: Record<string, string>; key?: string} & Record<string, unknown> = {},
    ) {
      const reply = await gateway.chat(
        {model: '@demo/echo', messages: [{role: 'user', content: text}], ...body},
        {'x-gateway-api-key': key, ...headers},
      )
      return {status: reply.status, body: (await reply.json()) as Any}
    },
  }
}

async function sent(
  url: string,
  key: string,
  method: string,
  path: string,
  body: unknown,
): Promise<{status: number; body: unknown}> {
  const reply = await fetch(`${url}/v1${path}`, {
    method,
    headers: {'x-gateway-api-key': key, ...(body !== undefined && {'content-type': 'application/json'})},
    ...(body !== undefined && {body: JSON.stringify(body)}),
  })
  return {status: reply.status, body: await reply.json()}
}
