import type {Settings} from '../src/settings/index.ts'
import type {Store} from '../src/store/database.ts'
import {CommandFault, EXIT} from './fault.ts'
import {checkDirectory} from './open.ts'

/**
 * Works on the databases of the data directory themselves, and closes them. For what no operation does: migrations,
 * verification.
 */
export async function withStore<T>(settings: Settings, work: (store: Store) => Promise<T>): Promise<T> {
  const [
    {databaseSettings},
    {checkPresent},
    {DataDirFault, findDataDir},
    {openStore},
    {MigrationFault},
    {sqliteBinding},
  ] = await Promise.all([
    import('../src/settings/index.ts'),
    import('../src/store/damage.ts'),
    import('../src/store/data-dir.ts'),
    import('../src/store/dialect/index.ts'),
    import('../src/store/migrate.ts'),
    import('../src/base/runtime.ts'),
  ])
  const database = databaseSettings(settings)
  checkDirectory(settings.data_dir)
  try {
    const directory = database ? undefined : findDataDir(settings.data_dir)
    if (directory) checkPresent({...directory, binding: sqliteBinding()}, false)
    const store = await openStore(
      directory
        ? {kind: 'sqlite', folder: directory.folder, role: 'operator', binding: sqliteBinding()}
        : {kind: 'postgres', ...database!},
      'everything',
    )
    try {
      return await work(store)
    } finally {
      await store.close()
    }
  } catch (cause) {
    if (cause instanceof DataDirFault || cause instanceof MigrationFault)
      throw new CommandFault(cause.message, {
        exit: EXIT.failure,
        code: cause instanceof DataDirFault ? 'data_directory' : 'migration',
        cause,
      })
    throw cause
  }
}
