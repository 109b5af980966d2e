import {sqliteBinding} from '../base/runtime.ts'
import {changeable, type Settings} from '../settings/index.ts'
import {damageFault} from '../store/damage.ts'
import {findDataDir, ownDataDir} from '../store/data-dir.ts'
import {DemoFault} from './demo.ts'
import {openOperator} from './operator.ts'
import type {App, AppOptions} from './root.ts'
import {openServing} from './serving.ts'

/**
 * Puts a gateway together: `openServing` for a server, `openOperator` for commands beside it. Without a data directory
 * there is `createPublic`. Throws with a sentence for the operator: DataDirFault, MigrationFault, SealFault.
 */
export async function createApp(given: Settings, options: AppOptions): Promise<App> {
  const kept = changeable(given)
  const binding = sqliteBinding()
  const {data_dir} = kept.settings
  const directory = options.role === 'server' ? ownDataDir(data_dir, binding) : findDataDir(data_dir)
  const stack = new AsyncDisposableStack()
  stack.defer(() => directory.release())
  const parts = {kept, options, binding, stack}
  try {
    return await (options.role === 'server' ? openServing(directory, parts) : openOperator(directory, parts))
  } catch (fault) {
    const damage = damageFault(fault, directory.folder, binding, fault instanceof DemoFault)
    await stack.disposeAsync().catch(() => undefined)
    throw damage ?? fault
  }
}
