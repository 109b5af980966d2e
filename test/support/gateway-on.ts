import {startGateway, type TestGateway} from './gateway.ts'
import {type StoreKind, testStore} from './stores.ts'

type GatewayOptions = Parameters<typeof startGateway>[1]

/** A whole gateway over a new database of `kind`, and the settings by which another process shares it. */
export async function gatewayOn(kind: StoreKind, env: Record<string, string> = {}, options: GatewayOptions = {}) {
  const database = kind === 'postgres' ? await testStore(kind) : null
  const shared: Record<string, string> = {...env}
  if (database?.options.kind === 'postgres' && 'connectionString' in database.options.connection)
    Object.assign(shared, {
      DATABASE_URL: database.options.connection.connectionString,
      GATEWAY_SEALING_KEY: Buffer.alloc(32, 3).toString('base64'),
    })
  const gateway = await startGateway(shared, options)
  return {
    ...gateway,
    shared,
    async close() {
      await gateway.close()
      await database?.close()
    },
  } satisfies TestGateway & {readonly shared: Record<string, string>}
}
