import {createSeal} from '../../../src/base/seal.ts'
import type {Manager} from '../../../src/schema/secret-references.ts'
import {ManagerFault} from '../../../src/secrets/manager-fault.ts'
import {type OpenSecrets, openSecrets} from '../../../src/secrets/open.ts'
import type {FieldValues, MappedField, MappedFields, ReferenceTest} from '../../../src/secrets/port.ts'
import type {ManagerFetch, SecretServices} from '../../../src/secrets/services.ts'
import {insertOrganisation} from '../../../src/store/organisations.ts'
import {insertSecretReference, sealLogin} from '../../../src/store/secret-references.ts'
import {testStore} from '../stores.ts'

const AT = '2026-01-02T03:04:05.000Z'

/** Requests go to the double whose host is named, with the host that was meant in a header. */
export function meantFetch(doubles: Readonly<Record<string, {readonly url: string}>>, late_ms = 60_000): ManagerFetch {
  return async ({method, url, headers, body}) => {
    const {host, pathname, search} = new URL(url)
    const found = Object.entries(doubles).find(([named]) => host === named || host.endsWith(named))
    if (!found) throw new ManagerFault('unreachable', `${host} cannot be reached`)
    try {
      const {host: _, ...sent} = headers as Record<string, string>
      const reply = await fetch(found[1].url + pathname + search, {
        method,
        headers: {...sent, 'x-meant-for': host},
        redirect: 'manual',
        signal: AbortSignal.timeout(late_ms),
        ...(body !== undefined && {body}),
      })
      return {status: reply.status, headers: Object.fromEntries(reply.headers), body: await reply.text()}
    } catch (fault) {
      throw new ManagerFault('unreachable', `${host} did not answer`, {cause: fault})
    }
  }
}

export interface SecretHouse {
  readonly clock: {now_ms: number}
  readonly counts: Map<string, number>
  readonly secrets: OpenSecrets
  /** Rows of the audit log, oldest first. */
  audits(): Promise<{action: string; body: Record<string, unknown>; resource_id: string | null}[]>
  reference(id: string, manager: Manager, login: object, path: string, more?: object): Promise<void>
  mapped(...fields: MappedField[]): MappedFields
  /** The outcome of a test of a reference. */
  test(id: string): Promise<ReferenceTest>
  /** The value of `key` by a reference. */
  key(id: string, more?: Partial<MappedField>): Promise<unknown>
  close(): Promise<void>
}

const SECRET = /secret_access_key|client_secret|vault_token|secret_id/

/** Secrets over a store, with a clock that is set. */
export async function secretHouse(fetch: ManagerFetch, own: Partial<SecretServices> = {}): Promise<SecretHouse> {
  const opened = await testStore('sqlite')
  const seal = createSeal(Buffer.alloc(32, 7))
  const clock = {now_ms: Date.parse(AT)}
  const counts = new Map<string, number>()
  const times = {created_at: AT, last_updated_at: AT}
  const count = (name: string) => void counts.set(name, (counts.get(name) ?? 0) + 1)
  await insertOrganisation(opened.store.db, {id: 'o', slug: 'o', name: 'O', ...times})
  const secrets = openSecrets(
    {
      ...{store: opened.store, seal, fetch, identity: {}, aws_domain: 'amazonaws.com', aws_region: null},
      ...{azure_authority: null, pod_token: async () => 'pod-token', isNamedHost: () => false, random: () => 0},
      log: {warn: () => undefined},
      wall: () => clock.now_ms,
      // waits between tries are over at once; a busy machine may let a call wait longer than it does
      after(ms, run) {
        const timer = setTimeout(run, ms >= 2000 ? 60_000 : 0)
        return () => clearTimeout(timer)
      },
      settings: {secret_stale_grace_s: 900, audit_logs_enabled: true},
      ...own,
    },
    {fetched: (_, result) => count(result), servedStale: () => count('stale')},
  )
  const mapped = (...fields: MappedField[]): MappedFields => ({organisation_id: 'o', workspace_id: null, fields})
  const rows = new Map<string, MappedFields>()
  return {
    ...{clock, counts, secrets, mapped},
    async reference(id, manager_type, login, path, more = {}) {
      const all = Object.entries(login)
      const hidden = Object.fromEntries(all.filter(([name]) => SECRET.test(name)))
      const row = {id, organisation_id: 'o', slug: id, name: id, description: null, manager_type}
      await insertSecretReference(opened.store.db, {
        ...row,
        auth_config: JSON.stringify(Object.fromEntries(all.filter(([name]) => !SECRET.test(name)))),
        auth_config_sealed: sealLogin(seal, row, hidden),
        ...{secret_path: path, secret_key: null, allow_all_workspaces: 1, tags: '{}', status: 'active'},
        ...{created_by: null, ...times},
        ...more,
      } as never)
    },
    async key(id, more = {}) {
      const name = JSON.stringify([id, more])
      const fields = rows.get(name) ?? mapped({target_field: 'key', secret_reference_id: id, ...more})
      rows.set(name, fields)
      return ((await secrets.fields.valuesOf(fields)) as FieldValues).byField.get(more.target_field ?? 'key')
    },
    async test(id) {
      const rows_of = opened.store.db.selectFrom('secret_references').selectAll().where('id', '=', id)
      return secrets.test(await rows_of.executeTakeFirstOrThrow())
    },
    async audits() {
      const found = await opened.store.db.selectFrom('audit_logs').selectAll().orderBy('id').execute()
      return found.map(row => ({
        action: row.action,
        resource_id: row.resource_id,
        body: JSON.parse(row.request_body ?? '{}') as Record<string, unknown>,
      }))
    },
    close: () => opened.close(),
  }
}
