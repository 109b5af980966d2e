import {openStore} from '../../../src/store/dialect/index.ts'
import type {TestGateway} from '../gateway.ts'

/** The entries of the ledger of a gateway over SQLite, of calls of MCP servers, in the order of their calls. */
export async function mcpLedger(gateway: TestGateway) {
  await gateway.app.flushed()
  const store = await openStore({kind: 'sqlite', folder: gateway.folder, role: 'operator'})
  try {
    return await store.db
      .selectFrom('traffic.ledger_entries')
      .selectAll()
      .where('provider', '=', 'mcp')
      .orderBy('call_id')
      .execute()
  } finally {
    await store.close()
  }
}
