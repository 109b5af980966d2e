import {setTimeout} from 'node:timers/promises'
import {sql} from 'kysely'
import type {Store} from '../../src/store/database.ts'
import {openStore} from '../../src/store/dialect/index.ts'
import {type Browser, type OidcHouse, openOidc, says} from '../support/sign-in.ts'
import type {StoreKind} from '../support/stores.ts'

export interface Reply {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
  readonly body: any
}

/** A house of people: what tests of who is let in, and as whom, do again and again. */
export async function openPeople(kind: StoreKind, env: Record<string, string> = {}) {
  const house = await openOidc(kind, env)
  return {...house, ...acts(house)}
}

export type PeopleHouse = Awaited<ReturnType<typeof openPeople>>

function acts(house: OidcHouse) {
  const {gateway, provider} = house
  const ask = async (method: string, path: string, body: unknown, headers: Record<string, string>): Promise<Reply> => {
    const reply = await fetch(gateway.url + path, {
      method,
      headers: {...headers, ...(body !== undefined && {'content-type': 'application/json'})},
      ...(body !== undefined && {body: JSON.stringify(body)}),
    })
    const text = await reply.text()
    return {status: reply.status, body: text === '' ? undefined : JSON.parse(text)}
  }
  return {
    ask,
    /** A whole sign-in of whom the provider says this. */
    async comes(claims: Record<string, unknown>, browser?: Browser, query?: string) {
      says(provider, {email_verified: true, ...claims})
      return house.signIn(browser, query)
    },
    /** The token of a session that the operator opens. */
    async session(name: string): Promise<string> {
      const body = {email: `${name}@example.test`, ttl_s: 3600}
      return (await gateway.admin<{token: string}>('POST', '/operator/sessions', body)).token
    },
    /** Calls as whoever has the token. */
    as: (token: string, method: string, path: string, body?: unknown) =>
      ask(method, path, body, {authorization: `Bearer ${token}`}),
    /** Calls of the operator, for an organisation. */
    operator: async (organisation: string, method: string, path: string, body?: unknown): Promise<Reply> =>
      gateway.app.inject({method, url: `/v1${path}`, body, organisation}) as Promise<Reply>,
    async users(): Promise<readonly {id: string; email: string; role: string}[]> {
      return (await gateway.admin<{data: []}>('GET', '/admin/users')).data
    },
    async role(email: string): Promise<string | undefined> {
      const {data} = await gateway.admin<{data: {email: string; role: string}[]}>('GET', '/admin/users')
      return data.find(user => user.email === email)?.role
    },
    /** The links of a user, or of all. */
    async links(user_id?: string): Promise<readonly {id: string; subject: string; user_id: string}[]> {
      const query = user_id === undefined ? '' : `?user_id=${user_id}`
      return (await gateway.admin<{data: []}>('GET', `/admin/identities${query}`)).data
    },
    async invite(email: string, role: 'admin' | 'member' = 'member', more: object = {}) {
      const body = {email, role, workspaces: [], ...more}
      const made = await gateway.admin<{id: string; invite_link: string}>('POST', '/admin/users/invites', body)
      return {id: made.id, token: made.invite_link.split('#token=')[1]!}
    },
    /** Writes into the database, past the gateway. */
    write: (statement: string) => writeInto(gateway, statement),
    async inviteStatus(id: string): Promise<string> {
      return (await gateway.admin<{status: string}>('GET', `/admin/users/invites/${id}`)).status
    },
    /** The calls of a directory that has a token of the operator's. */
    async directory() {
      const {token} = await gateway.admin<{token: string}>('POST', '/admin/organisation/scim-tokens', {name: 'd'})
      const headers = {authorization: `Bearer ${token}`}
      return (method: string, path: string, body?: unknown) => ask(method, `/v1/scim/v2${path}`, body, headers)
    },
    /** The last sign-in of the audit log that is of `reason`, once it is there. */
    async refusal(reason: string) {
      for (;;) {
        const row = (await gateway.rows('sign_in')).find(({body}) => body.reason === reason)
        if (row) return row
        await setTimeout(20)
      }
    },
    /** The newest row of a sign-in that was let in. */
    async letIn() {
      return (await gateway.rows('sign_in')).find(({status}) => status === 200)!
    },
  }
}

/** The database of a gateway, opened by the library that holds it: by another one SQLite would lose its locks. */
async function withStore<T>({folder, shared}: OidcHouse['gateway'], work: (store: Store) => Promise<T>): Promise<T> {
  const {DATABASE_URL: connectionString} = shared
  const store = await openStore(
    connectionString === undefined
      ? {kind: 'sqlite', folder, role: 'operator'}
      : {kind: 'postgres', connection: {connectionString}, pool_size: 1},
  )
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** Writes into the database of a gateway, past it. */
export function writeInto(gateway: OidcHouse['gateway'], statement: string) {
  return withStore(gateway, ({db}) => sql.raw(statement).execute(db))
}

/** Every row of every table, as text; but of those that workers write by themselves. */
export function everyRow(gateway: OidcHouse['gateway']): Promise<readonly string[]> {
  return withStore(gateway, async ({kind, db}) => {
    const names =
      kind === 'sqlite'
        ? await sql<{name: string}>`select name from sqlite_master where type = 'table'`.execute(db)
        : await sql<{name: string}>`select tablename as name from pg_tables where schemaname = 'public'`.execute(db)
    const rows: string[] = []
    for (const {name} of names.rows.filter(({name}) => !['workers', 'meta'].includes(name))) {
      const found = await sql<Record<string, unknown>>`select * from ${sql.table(name)}`.execute(db)
      rows.push(...found.rows.map(row => `${name} ${JSON.stringify(row)}`))
    }
    return rows.sort()
  })
}

export const patch = (...Operations: readonly object[]) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations,
})

export const scimUser = (email: string, more: object = {}) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  userName: email,
  ...more,
})
