import {join} from 'node:path'
import {ExportJobs} from '../admin/log-exports/jobs.ts'
import type {AdminServices} from '../admin/services.ts'
import {after as inReal} from '../base/delay.ts'
import type {SsoConnection} from '../identity/connections.ts'
import type {Tokens} from '../identity/jwt/tokens.ts'
import type {SignInNeeds} from '../identity/sign-in-needs.ts'
import {bodyFinder, manyBodiesFinder} from '../store/bodies/index.ts'
import type {Db} from '../store/database.ts'
import {storedBodies} from '../workers/stored-bodies.ts'
import {cachePortBeside} from './cache-port.ts'
import type {DataPlane} from './data-plane.ts'
import {openDomainProofs} from './domain-proofs.ts'
import type {openExplaining} from './explain-services.ts'
import {openChecking} from './guardrail-checks.ts'
import {openLogStore} from './log-store.ts'
import {openMcpTries} from './mcp-syncs.ts'
import type {OpenedData} from './opened-data.ts'
import {openOperatorServer} from './operator-server.ts'
import type {openSources} from './price-sources.ts'
import type {RootParts} from './root.ts'
import {openSecretManagers} from './secrets.ts'

interface AdministrationParts extends OpenedData {
  readonly sources: Awaited<ReturnType<typeof openSources>>
  readonly explaining: ReturnType<typeof openExplaining>
  readonly tokens: Tokens
  readonly sign_in_needs: SignInNeeds
  readonly providers: NonNullable<AdminServices['providers']>
  readonly environment_connection: SsoConnection | null
  /** Given by a gateway that serves. */
  readonly serving?: {
    readonly plane: DataPlane
    readonly reads: Db | undefined
    readonly mcp: NonNullable<AdminServices['mcp']>
  }
}

/** The services of the administration, and the server that the operator's commands go through. */
export async function openAdministration(parts: AdministrationParts, {stack}: Pick<RootParts, 'stack'>) {
  const {settings, log, clock, now, store_options, store, seal, sources, explaining, tokens, providers, serving} = parts
  const log_store = openLogStore(settings, clock.wall)
  if (log_store) stack.defer(() => log_store.close())
  const checking = openChecking(settings)
  stack.defer(() => checking.close())
  const secrets =
    serving?.plane.secrets ?? openSecretManagers({settings, store, seal, log, wall: clock.wall, registry: null})
  if (!serving) stack.defer(() => secrets.close())
  const tries = openMcpTries({settings, store, seal, log, secrets, now})
  stack.defer(() => tries.close())
  const here = {find: bodyFinder(store_options, store.db), findMany: manyBodiesFinder(store_options, store.db)}
  const kept = log_store ? storedBodies(here, log_store.blobs, store.db) : here
  const without_exports: AdminServices = {
    store,
    explain: explaining.explain,
    replay: explaining.replay,
    bodies: kept.find,
    many_bodies: kept.findMany,
    settings,
    seal,
    tokens,
    sign_in_needs: parts.sign_in_needs,
    providers,
    environment_connection: parts.environment_connection,
    domain_proofs: openDomainProofs({settings, log, after: inReal}),
    now: () => new Date(now()),
    failed: (fault, where) => log.error({fault, ...where}, 'an operation failed inside the gateway'),
    settled: async () => serving?.plane.records.flushed(),
    pricing: sources.pricing,
    check_services: checking.check_services,
    mcp: serving?.mcp ?? tries.port,
    testReference: reference => secrets.test(reference),
    cache: serving?.plane.cache_port ?? cachePortBeside({settings, store, store_options, seal, now}),
    ...(serving && servedBy(serving.plane)),
    ...(serving?.reads && {reads: serving.reads}),
  }
  const exports = exportJobs(without_exports, exportsFolder(parts), !serving, log)
  stack.defer(() => exports.close())
  const services: AdminServices = {...without_exports, exports}
  const operator = openOperatorServer(store, services, settings, log)
  stack.defer(() => operator.close())
  return {services, exports, operator}
}

export function exportsFolder({directory}: Pick<OpenedData, 'directory'>): string {
  return join(directory.folder, 'exports')
}

function servedBy({limits, records}: DataPlane): Pick<AdminServices, 'limits' | 'insert_log'> {
  return {limits, insert_log: (row, bodies) => records.recorder.note(row, bodies)}
}

function exportJobs(services: AdminServices, folder: string, waits: boolean, log: OpenedData['log']): ExportJobs {
  const {store, reads = store.db, bodies, many_bodies, settled, now} = services
  return new ExportJobs({
    folder,
    store,
    reads,
    bodies,
    many_bodies,
    settled: async () => settled?.(),
    now,
    failed: (fault, export_id) => log.error({fault, export_id}, 'an export of the log failed'),
    waits,
  })
}
