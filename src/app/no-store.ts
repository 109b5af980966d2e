import {DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler} from 'kysely'
import type {Database, Store} from '../store/database.ts'

/** A store for operations that need none: whatever reads or writes it fails. */
export function noStore(): Store {
  const db = new Kysely<Database>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new NoDriver(),
      createIntrospector: opened => new SqliteIntrospector(opened),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  })
  return {
    kind: 'sqlite',
    db,
    write: refuses,
    onWrite: () => undefined,
    migrate: refuses,
    dataVersion: refuses,
    revisions: refuses,
    onReconnect: () => undefined,
    givenUp: () => 0,
    unwritable: () => null,
    close: () => db.destroy(),
  }
}

class NoDriver extends DummyDriver {
  override async acquireConnection(): Promise<never> {
    return refuses()
  }
}

async function refuses(): Promise<never> {
  throw new Error('There is no data directory here, so nothing can be read or written.')
}
