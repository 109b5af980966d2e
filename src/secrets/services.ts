import type {After} from '../base/delay.ts'
import type {Log} from '../base/log.ts'
import type {Seal} from '../base/seal.ts'
import type {CloudIdentity} from '../providers/auth/login.ts'
import type {Store} from '../store/database.ts'

/** One request to a manager of secrets, or to a service that gives tokens for it. */
export interface ManagerRequest {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export interface ManagerReply {
  readonly status: number
  /** Names in small letters. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
}

/**
 * The way to managers: follows no redirect, keeps a deadline and a bound of bytes. Rejects with a `ManagerFault` where
 * no whole answer comes.
 */
export type ManagerFetch = (request: ManagerRequest) => Promise<ManagerReply>

/** Needs of the clients of managers. */
export interface ManagerServices {
  readonly fetch: ManagerFetch
  readonly log: Pick<Log, 'warn'>
  /** The clock by which others judge signatures and tokens: epoch milliseconds. */
  readonly wall: () => number
  readonly after: After
  /** 0 to 1, without 1. */
  readonly random: () => number
  readonly identity: CloudIdentity
  /** `AWS_ENDPOINT_DOMAIN`. */
  readonly aws_domain: string
  /** `AWS_REGION`, else `AWS_DEFAULT_REGION`. */
  readonly aws_region: string | null
  /** `AZURE_AUTHORITY_HOST` where it is not the usual one. */
  readonly azure_authority: string | null
  /** The token of the service account of this pod, read again each time since it is rotated. */
  readonly pod_token: () => Promise<string>
  /** True for a host that the operator named: the gateway's own identity may be shown to it. */
  readonly isNamedHost: (hostname: string) => boolean
}

/** Needs of the values. */
export interface SecretServices extends ManagerServices {
  readonly store: Pick<Store, 'db' | 'write'>
  readonly seal: Pick<Seal, 'open'>
  readonly settings: {readonly secret_stale_grace_s: number; readonly audit_logs_enabled: boolean}
}
