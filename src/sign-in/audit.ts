import {newId, newTimeId} from '../base/ids.ts'
import type {Log} from '../base/log.ts'
import {RowRate} from '../base/row-rate.ts'
import type {SignInFault} from '../identity/sign-in-fault.ts'
import {insertAuditLog} from '../store/audit-logs.ts'
import type {Db, Store} from '../store/database.ts'
import type {AuditLogsTable} from '../store/tables/identity.ts'
import type {SignInClient} from './client.ts'

const LIMITS = {period_ms: 60_000, most_rows: 100, most_names: 1_000}

/** One event of a sign-in, for the audit log of its organisation. */
export interface SignInDeed {
  readonly organisation_id: string
  /** Null: the gateway itself, as no one came in. */
  readonly user_id: string | null
  readonly resource: 'sign_in' | 'session' | 'identity' | 'invite' | 'user' | 'login_code'
  readonly resource_id: string | null
  readonly action: 'create' | 'update' | 'delete' | 'manage'
  readonly body: Readonly<Record<string, unknown>>
  readonly status: number
}

export interface RefusedSignIn {
  readonly organisation_id: string | null
  readonly method: string
  readonly connection: string | null
  readonly email: string | null
  readonly subject: string | null
}

export interface SignInRowsOptions {
  readonly store: Pick<Store, 'write'>
  readonly log: Pick<Log, 'warn' | 'error'>
  /** Epoch milliseconds. */
  readonly now: () => number
  /** AUDIT_LOGS_ENABLED. */
  readonly audits: boolean
}

/** Writes rows of the audit log about sign-ins. */
export class SignInRows {
  readonly #options: SignInRowsOptions
  readonly #rate = new RowRate(LIMITS)

  constructor(options: SignInRowsOptions) {
    this.#options = options
  }

  /** In the transaction of the deed. */
  async note(db: Db, deed: SignInDeed, client: SignInClient): Promise<void> {
    if (this.#options.audits) await insertAuditLog(db, rowOf(deed, client, this.#options.now()))
  }

  /** One row a minute for each reason and address, with how often it came. Never throws, and waits for nothing. */
  refused(fault: SignInFault, refused: RefusedSignIn, client: SignInClient): void {
    const {store, log, audits, now} = this.#options
    const {organisation_id, ...who} = refused
    const now_ms = now()
    const count = this.#rate.take(`${organisation_id}\0${fault.reason}\0${client.client_ip}`, now_ms)
    if (count === null) return
    const {reason, detail, status} = fault
    if (organisation_id === null || !audits)
      return log.warn({reason, detail, client_ip: client.client_ip, count}, 'a sign-in was refused')
    const body = {...who, reason, detail, count}
    const deed = {organisation_id, user_id: null, resource: 'sign_in', resource_id: null, action: 'manage'} as const
    store
      .write(db => insertAuditLog(db, rowOf({...deed, body, status}, client, now_ms)))
      .catch(cause => log.error({fault: cause}, 'a refused sign-in could not be noted in the audit log'))
  }
}

function rowOf(deed: SignInDeed, {client_ip, request_id}: SignInClient, now_ms: number): AuditLogsTable {
  return {
    id: newTimeId(now_ms),
    at: new Date(now_ms).toISOString(),
    organisation_id: deed.organisation_id,
    workspace_id: null,
    actor_type: deed.user_id === null ? 'system' : 'user',
    actor_id: deed.user_id,
    method: '',
    uri: '',
    request_id: request_id || newId(),
    request_headers: '{}',
    request_body: JSON.stringify(deed.body),
    query_params: null,
    status: deed.status,
    resource_type: deed.resource,
    resource_id: deed.resource_id,
    action: deed.action,
    client_ip,
  }
}
