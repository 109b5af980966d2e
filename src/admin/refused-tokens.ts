import {newId, newTimeId} from '../base/ids.ts'
import type {JsonValue} from '../base/json-member.ts'
import type {Log} from '../base/log.ts'
import {RowRate} from '../base/row-rate.ts'
import type {RefusedToken} from '../identity/jwt/tokens.ts'
import {insertAuditLog} from '../store/audit-logs.ts'
import type {Store} from '../store/database.ts'
import type {AuditLogsTable} from '../store/tables/identity.ts'

const PERIOD_MS = 60_000
/** Of one process: tokens that come from many addresses fill no disk. */
const MOST_ROWS_A_PERIOD = 100
const MOST_KNOWN = 1_000
const LONGEST_SHOWN = 255

export interface RefusedTokensOptions {
  readonly store: Pick<Store, 'write'>
  readonly log: Pick<Log, 'warn' | 'error'>
  /** Epoch milliseconds. */
  readonly now: () => number
  /** AUDIT_LOGS_ENABLED. */
  readonly audits: boolean
}

/**
 * Notes refused tokens in the audit log of their organisation: one row a minute for each reason and address, with how
 * often it came. Where the organisation is unknown, the process log has it.
 */
export class RefusedTokens {
  readonly #options: RefusedTokensOptions
  readonly #rate = new RowRate({period_ms: PERIOD_MS, most_rows: MOST_ROWS_A_PERIOD, most_names: MOST_KNOWN})

  constructor(options: RefusedTokensOptions) {
    this.#options = options
  }

  /** Never throws, and waits for nothing. */
  note(refused: RefusedToken): void {
    const now_ms = this.#options.now()
    const name = `${refused.organisation_id}\0${refused.code}\0${refused.client_ip}`
    const count = this.#rate.take(name, now_ms)
    if (count !== null) this.#write(refused, count, now_ms)
  }

  #write(refused: RefusedToken, count: number, now_ms: number): void {
    const {store, log, audits} = this.#options
    const {organisation_id, reason, client_ip} = refused
    if (organisation_id === null) return log.warn({reason, client_ip, count}, 'a token was refused')
    if (!audits) return
    store
      .write(db => insertAuditLog(db, rowOf({...refused, organisation_id}, count, now_ms)))
      .catch(fault => log.error({fault}, 'a refused token could not be noted in the audit log'))
  }
}

function rowOf(
  {organisation_id, token, reason, status, kid, subject, issuer, client_ip}: RefusedToken & {organisation_id: string},
  count: number,
  now_ms: number,
): AuditLogsTable {
  return {
    id: newTimeId(now_ms),
    at: new Date(now_ms).toISOString(),
    organisation_id,
    workspace_id: null,
    actor_type: 'system',
    actor_id: null,
    method: '',
    uri: '',
    request_id: newId(),
    request_headers: '{}',
    request_body: JSON.stringify({
      jwtToken: `${token.slice(0, 2)}****${token.slice(-2)}`,
      error: reason,
      kid: shown(kid),
      subject: shown(subject),
      iss: shown(issuer),
      count,
    }),
    query_params: null,
    status,
    resource_type: 'jwt',
    resource_id: null,
    action: 'manage',
    client_ip,
  }
}

function shown(value: JsonValue | undefined): string | null {
  return typeof value === 'string' ? value.slice(0, LONGEST_SHOWN) : null
}
