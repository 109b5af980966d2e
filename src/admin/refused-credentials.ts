import type {Log} from '../base/log.ts'
import {RowRate} from '../base/row-rate.ts'
import {type GatewayDeed, insertGatewayDeed} from '../store/audit-logs.ts'
import type {Store} from '../store/database.ts'

const PERIOD_MS = 60_000
/** Of one process: credentials that come from many addresses fill no disk. */
const MOST_ROWS_A_PERIOD = 100
const MOST_KNOWN = 1_000

export interface RefusalOptions {
  readonly store: Pick<Store, 'write'>
  readonly log: Pick<Log, 'warn' | 'error'>
  /** Epoch milliseconds. */
  readonly now: () => number
  /** AUDIT_LOGS_ENABLED. */
  readonly audits: boolean
}

/** Notes refused credentials in the audit log of their organisation: one row a minute for each name. */
export class RefusedCredentials {
  readonly #options: RefusalOptions
  readonly #rate = new RowRate({period_ms: PERIOD_MS, most_rows: MOST_ROWS_A_PERIOD, most_names: MOST_KNOWN})

  constructor(options: RefusalOptions) {
    this.#options = options
  }

  /** `deedOf` makes the row of so many refusals; null for none. Never throws, and waits for nothing. */
  note(name: string, deedOf: (count: number) => Omit<GatewayDeed, 'action'> | null): void {
    const {store, log, now, audits} = this.#options
    const now_ms = now()
    const count = this.#rate.take(name, now_ms)
    const deed = count === null ? null : deedOf(count)
    if (!deed || !audits) return
    store
      .write(db => insertGatewayDeed(db, {...deed, action: 'manage'}, now_ms))
      .catch(fault => log.error({fault}, 'a refused credential could not be noted in the audit log'))
  }
}
