import type {Log} from '../base/log.ts'
import type {Manager} from '../schema/secret-references.ts'
import {type GatewayDeed, insertGatewayDeed} from '../store/audit-logs.ts'
import type {SecretValue} from './contents.ts'
import type {SecretEntry} from './entry.ts'
import type {ManagerFault} from './manager-fault.ts'
import type {SecretServices} from './services.ts'

/** The counts of fetches, as /metrics says them. */
export interface SecretCounts {
  fetched(manager: Manager, result: 'ok' | ManagerFault['kind']): void
  servedStale(): void
}

type Services = Pick<SecretServices, 'store' | 'settings' | 'wall'> & {readonly log: Pick<Log, 'warn'>}

/**
 * Reports fetches: each is counted; the audit log has the first use of a version, and each change between well
 * and ill. No value is in any of it, nor a hash of one.
 */
export class SecretNotes {
  readonly #services: Services
  readonly #counts: SecretCounts

  constructor(services: Services, counts: SecretCounts) {
    this.#services = services
    this.#counts = counts
  }

  fetched(entry: SecretEntry, {version, digest}: SecretValue): void {
    const {manager_type: manager} = entry.reference
    this.#counts.fetched(manager, 'ok')
    if (entry.noted === digest) return
    entry.noted = digest
    this.#audit(entry, {action: 'secret-reference-fetched', status: 200, body: {manager, version}})
  }

  /** Before the fault is kept: the one before is compared with it. */
  failed(entry: SecretEntry, fault: ManagerFault): void {
    const {manager_type: manager, slug} = entry.reference
    this.#counts.fetched(manager, fault.kind)
    if (entry.failure?.fault.kind === fault.kind) return
    entry.noted = null
    const {message: reason, cause} = fault
    this.#services.log.warn({reference: slug, manager, reason, ...causeOf(cause)}, 'a secret was not fetched')
    const body = {manager, version: entry.value?.version ?? null, state: fault.kind, reason}
    this.#audit(entry, {action: 'secret-reference-fetch-failed', status: 500, body})
  }

  servedStale(): void {
    this.#counts.servedStale()
  }

  #audit({reference}: SecretEntry, deed: Pick<GatewayDeed, 'action' | 'status' | 'body'>) {
    const {store, settings, wall, log} = this.#services
    if (!settings.audit_logs_enabled) return
    const {id, organisation_id} = reference
    const about = {organisation_id, workspace_id: null, resource_type: 'secret-reference', resource_id: id}
    void store
      .write(db => insertGatewayDeed(db, {...about, ...deed, client_ip: null}, wall()))
      .catch(fault => log.warn({fault, reference: id}, 'the fetch of a secret was not noted in the audit log'))
  }
}

/** The code of a fault of the platform: its sentence may quote what was sent. */
function causeOf(cause: unknown): {readonly code?: string} {
  return cause instanceof Error && 'code' in cause ? {code: String(cause.code).slice(0, 64)} : {}
}
