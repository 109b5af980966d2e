import {Egress} from '../../../src/base/egress/pools.ts'
import type {AlertPin, SyncCredential} from '../../../src/mcp/sync/services.ts'
import {McpSyncs} from '../../../src/mcp/sync/syncs.ts'
import type {McpMetadata} from '../../../src/schema/mcp-integrations.ts'
import {mcpCapabilities, pinOf} from '../../../src/store/mcp-capabilities.ts'
import {requestMcpSync} from '../../../src/store/mcp-syncs.ts'
import type {McpIntegrationsTable} from '../../../src/store/tables/registry.ts'
import {type StoreKind, type TestStore, testStore} from '../stores.ts'
import {Timers} from '../timers.ts'

export const START_MS = Date.parse('2026-03-04T12:00:00.000Z')
const AT = '2026-03-04T00:00:00.000Z'

export interface SyncsOptions {
  readonly credential?: SyncCredential | (() => SyncCredential | Promise<SyncCredential>)
  readonly interval_ms?: number
  readonly alert?: AlertPin | undefined
}

/** Syncs over a database of their own, in time that a test moves. */
export class SyncTests {
  readonly database: TestStore
  readonly timers = new Timers(START_MS)
  readonly lines: {readonly facts: unknown; readonly sentence: string}[] = []
  readonly changed: string[] = []
  readonly #egress = [new Egress(), new Egress()] as const
  readonly #opened: McpSyncs[] = []

  private constructor(database: TestStore) {
    this.database = database
  }

  static async open(kind: StoreKind): Promise<SyncTests> {
    const tests = new SyncTests(await testStore(kind))
    const {db} = tests
    const row = {slug: 'o', name: 'O', created_at: AT, last_updated_at: AT}
    await db
      .insertInto('organisations')
      .values({...row, id: 'o'})
      .execute()
    await db
      .insertInto('workspaces')
      .values({
        ...{...row, slug: 'w', name: 'W', id: 'w', organisation_id: 'o', description: null, icon: null, is_default: 1},
        ...{status: 'active', defaults: null, usage_limits: null, rate_limits: null},
      })
      .execute()
    return tests
  }

  get db() {
    return this.database.store.db
  }

  syncs({
    credential = {headers: () => ({}), credential: 'none'},
    interval_ms = 21_600_000,
    alert,
  }: SyncsOptions = {}): McpSyncs {
    const {now, after} = this.timers
    const syncs = new McpSyncs({
      store: this.database.store,
      upstream: {
        ...{egress: this.#egress[0], stream_egress: this.#egress[1], after, wall: now},
        steady: now,
      },
      credentialsFor: () => (typeof credential === 'function' ? credential() : credential),
      log: {
        info: () => undefined,
        warn: (facts: unknown, sentence: string) => void this.lines.push({facts, sentence}),
      } as never,
      random: () => 0.5,
      holder: `process-${this.#opened.length}`,
      interval_ms,
      audits: true,
      ...(alert && {alert}),
      changed: id => void this.changed.push(id),
    })
    this.#opened.push(syncs)
    return syncs
  }

  /** An integration with a server, of the organisation. */
  async integration(url: string, more: Partial<McpIntegrationsTable> = {}): Promise<McpIntegrationsTable> {
    const id = more.id ?? 'i'
    const row: McpIntegrationsTable = {
      ...{id, organisation_id: 'o', workspace_id: null, slug: id, name: id, description: null, url, auth_type: 'none'},
      ...{transport: 'http', configurations: '{}', configurations_sealed: null, secret_mappings: '[]', metadata: null},
      ...{global_access_enabled: 1, trusts_host: 1, owner_id: null, status: 'active', created_at: AT},
      ...{last_updated_at: AT, ...more},
    }
    await this.db.insertInto('mcp_integrations').values(row).execute()
    await this.db
      .insertInto('mcp_servers')
      .values({
        ...{id: `s-${id}`, organisation_id: 'o', workspace_id: 'w', mcp_integration_id: id, slug: `s-${id}`, name: id},
        ...{description: null, default_user_access: 'allow', owner_id: null, status: 'active'},
        ...{created_at: AT, last_updated_at: AT},
      })
      .execute()
    return row
  }

  async row(id = 'i'): Promise<McpIntegrationsTable> {
    return this.db.selectFrom('mcp_integrations').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  }

  async metadata(id = 'i'): Promise<McpMetadata> {
    return JSON.parse((await this.row(id)).metadata ?? '{}')
  }

  /** The capabilities with their pins. */
  async capabilities(id = 'i') {
    return (await mcpCapabilities(this.db, id)).map(row => ({...row, pin: pinOf(row)}))
  }

  async names(id = 'i'): Promise<string[]> {
    return (await this.capabilities(id)).filter(({gone_at}) => !gone_at).map(({type, name}) => `${type} ${name}`)
  }

  async capability(name: string, id = 'i') {
    return (await this.capabilities(id)).find(each => each.name === name)!
  }

  /** Actions in the audit log with the names that they are about. */
  async audited(): Promise<string[]> {
    const rows = await this.db.selectFrom('audit_logs').selectAll().orderBy('id').execute()
    return rows.map(({action, request_body}) => {
      const {capabilities} = JSON.parse(request_body!) as {capabilities: {name: string}[]}
      return `${action} ${capabilities.map(({name}) => name).join()}`
    })
  }

  async configure(configurations: object, id = 'i') {
    await this.db
      .updateTable('mcp_integrations')
      .set({configurations: JSON.stringify(configurations)})
      .where('id', '=', id)
      .execute()
  }

  /** Reads a server now, to the end. */
  async sync(syncs: McpSyncs, id = 'i') {
    await this.database.store.write(db => requestMcpSync(db, id, 'request', this.timers.now()))
    await syncs.turn(new AbortController().signal)
    await syncs.settled()
  }

  /** Lets time pass, and waits for all that it begins. */
  async pass(ms: number, syncs: McpSyncs) {
    await this.timers.pass(ms, async () => {
      await new Promise(resolve => setTimeout(resolve, 5))
      await syncs.settled()
    })
  }

  async close() {
    await Promise.all(this.#opened.map(each => each.close()))
    await Promise.all(this.#egress.map(each => each.destroy()))
    await this.database.close()
  }
}
