import type {Db} from '../../../src/store/database.ts'
import {openStore} from '../../../src/store/dialect/index.ts'
import type {TestGateway} from '../gateway.ts'

/** The entries of the ledger of a gateway over SQLite, of calls of MCP servers, in the order of their calls. */
export function mcpLedger(gateway: TestGateway) {
  return readStore(gateway, db =>
    db.selectFrom('traffic.ledger_entries').selectAll().where('provider', '=', 'mcp').orderBy('call_id').execute(),
  )
}

/** The part of a row of the log that no column has. */
export async function logDetail(gateway: TestGateway, id: string): Promise<Record<string, unknown>> {
  const read = (db: Db) => db.selectFrom('traffic.logs').select('detail').where('id', '=', id).executeTakeFirstOrThrow()
  return JSON.parse((await readStore(gateway, read)).detail)
}

async function readStore<T>(gateway: TestGateway, read: (db: Db) => Promise<T>): Promise<T> {
  await gateway.app.flushed()
  const store = await openStore({kind: 'sqlite', folder: gateway.folder, role: 'operator'})
  try {
    return await read(store.db)
  } finally {
    await store.close()
  }
}
