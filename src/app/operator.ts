import type {DataDir} from '../store/data-dir.ts'
import type {Store} from '../store/database.ts'
import {MigrationFault, migrationState} from '../store/migrate.ts'
import {forgetRows} from '../store/remembered.ts'
import {openAdministration} from './administration.ts'
import {describedConnection} from './environment-connection.ts'
import {openExplaining} from './explain-services.ts'
import {begunAnew, type DataAccess, openData} from './opened-data.ts'
import {injectInto} from './operator-server.ts'
import {openSources} from './price-sources.ts'
import {reload} from './reload.ts'
import type {App, RootParts} from './root.ts'
import {openProviders} from './sign-in.ts'
import {openTokens} from './tokens.ts'

/**
 * The root of the operator's commands: it works on the data directory beside a gateway that serves, and has no journal,
 * no workers and no data plane (core rule 3).
 */
export async function openOperator(directory: DataDir, parts: RootParts): Promise<App> {
  const {kept, options, stack} = parts
  const data = await openData(directory, parts, accessOf(options.accepts_loss))
  const {settings, log, store, seal, clock, now, notes} = data
  const steady = options.steady ?? (() => performance.now())
  const sources = await openSources({settings, db: store.db, log, now})
  stack.defer(() => sources.close())
  const explaining = openExplaining({settings, store, seal, now, prices: sources.pricing, log})
  const {tokens, sign_in_needs, close: closeTokens} = openTokens({settings, store, log, ...clock, steady})
  stack.defer(closeTokens)
  store.onWrite(changed => forgetRows([...explaining.remembered, ...tokens.remembered], changed))
  const providers = openProviders({settings, log, ...clock, steady})
  stack.defer(providers.close)
  const environment_connection = await describedConnection(settings, store)
  const administered = {...data, sources, explaining, tokens, sign_in_needs, providers, environment_connection}
  const {operator} = await openAdministration(administered, parts)
  await operator.open()
  return {
    role: 'operator',
    settings,
    first_run: undefined,
    notes,
    inject: async request => injectInto(await operator.open(), request),
    async listen() {
      throw new Error('An operator does not listen.')
    },
    reload: next => reload(next, {kept, log, servers: [], governor: undefined}),
    flushed: async () => undefined,
    drain: async () => undefined,
    close: () => stack.disposeAsync(),
  }
}

function accessOf(accepts_loss: boolean | undefined): DataAccess {
  return {
    patience: 'lists',
    may_make_key: false,
    look: (directory, binding) => begunAnew(directory, binding, accepts_loss),
    migrate: assertMigrated,
  }
}

async function assertMigrated(store: Store): Promise<string[]> {
  const {pending} = await migrationState(store)
  if (pending.length)
    throw new MigrationFault(
      `The database lacks ${pending.length} migration(s) of this version. Run gateway migrate, or start gateway serve once.`,
    )
  return []
}
