import {randomBytes} from 'node:crypto'
import {mountAdmin} from '../admin/http.ts'
import {OPERATIONS} from '../admin/registry.ts'
import type {AdminServices} from '../admin/services.ts'
import type {Log} from '../base/log.ts'
import {version} from '../base/runtime.ts'
import {createSeal} from '../base/seal.ts'
import {openPricing} from '../pricing/open.ts'
import {find as findKind} from '../providers/registry.ts'
import type {Settings} from '../settings/index.ts'
import {noStore} from './no-store.ts'
import {injectInto} from './operator-server.ts'
import type {App} from './root.ts'
import {createServer} from './server.ts'

/** Seals nothing: no open operation keeps a secret. */
const SEALING_KEY_BYTES = 32

/** Serves the operations that need no key and no database: prices are known without a data directory. */
export function createPublic(settings: Settings, log: Log): Pick<App, 'inject' | 'close'> {
  const services: AdminServices = {
    settings,
    store: noStore(),
    seal: createSeal(randomBytes(SEALING_KEY_BYTES)),
    bodies: async () => undefined,
    // of the files and of the bundle: there is no database that could have others
    pricing: openPricing({
      settings,
      isProvider: slug => findKind(slug) !== undefined,
      warn: () => undefined,
      now_ms: Date.now,
    }),
    sign_in_needs: {check: () => undefined}, // there are no keys
    now: () => new Date(),
  }
  const open = OPERATIONS.filter(operation => operation.scopes === null && !operation.audit)
  const server = createServer({
    settings,
    log,
    version,
    admin: instance => mountAdmin(instance, open, services),
    unready: () => null,
  })
  return {inject: request => injectInto(server, request), close: async () => server.close()}
}
