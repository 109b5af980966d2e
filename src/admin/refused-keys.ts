import {newId, newTimeId} from '../base/ids.ts'
import type {Log} from '../base/log.ts'
import {RowRate} from '../base/row-rate.ts'
import type {RefusedKey} from '../identity/sign-in-needs.ts'
import {insertAuditLog} from '../store/audit-logs.ts'
import type {Store} from '../store/database.ts'
import type {AuditLogsTable} from '../store/tables/identity.ts'

const PERIOD_MS = 60_000
/** Of one process: an app may continue to call with its key. */
const MOST_ROWS_A_PERIOD = 100
const MOST_KNOWN = 1_000

export interface RefusedKeysOptions {
  readonly store: Pick<Store, 'write'>
  readonly log: Pick<Log, 'error'>
  /** Epoch milliseconds. */
  readonly now: () => number
  /** AUDIT_LOGS_ENABLED. */
  readonly audits: boolean
}

/**
 * Notes keys whose person has to sign in, in the audit log of their organisation: one row a minute for each key and
 * address, with how often it came.
 */
export class RefusedKeys {
  readonly #options: RefusedKeysOptions
  readonly #rate = new RowRate({period_ms: PERIOD_MS, most_rows: MOST_ROWS_A_PERIOD, most_names: MOST_KNOWN})

  constructor(options: RefusedKeysOptions) {
    this.#options = options
  }

  /** Never throws, and waits for nothing. */
  note(refused: RefusedKey): void {
    const {store, log, now, audits} = this.#options
    if (!audits) return
    const now_ms = now()
    const count = this.#rate.take(`${refused.key_id}\0${refused.client_ip}`, now_ms)
    if (count === null) return
    store
      .write(db => insertAuditLog(db, rowOf(refused, count, now_ms)))
      .catch(fault => log.error({fault}, 'a refused key could not be noted in the audit log'))
  }
}

function rowOf(
  {organisation_id, workspace_id, key_id, user_id, reason, status, client_ip}: RefusedKey,
  count: number,
  now_ms: number,
): AuditLogsTable {
  return {
    id: newTimeId(now_ms),
    at: new Date(now_ms).toISOString(),
    organisation_id,
    workspace_id,
    actor_type: 'system',
    actor_id: null,
    method: '',
    uri: '',
    request_id: newId(),
    request_headers: '{}',
    request_body: JSON.stringify({error: reason, user_id, count}),
    query_params: null,
    status,
    resource_type: 'api-key',
    resource_id: key_id,
    action: 'manage',
    client_ip,
  }
}
