import type {AwsCredentials} from './sigv4.ts'

/**
 * One small call for a credential. The caller's own: it knows which addresses this may reach (metadata services are
 * link-local).
 */
export type CredentialFetch = (request: {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}) => Promise<{readonly status: number; readonly body: string}>

/** A role to become. */
export interface AwsRole {
  readonly role_arn: string
  readonly external_id?: string | null
}

/**
 * How a caller logs in to AWS. `accessKey`: with these keys. `assumedRole`: as this role, which the keys given here or
 * the gateway's own identity may assume. `serviceRole`: as the gateway's own identity.
 */
export type AwsLogin =
  | ({readonly type: 'accessKey'} & AwsCredentials)
  | ({readonly type: 'assumedRole'; readonly keys?: AwsCredentials | null} & AwsRole)
  | {readonly type: 'serviceRole'}

/**
 * The gateway's own identity, from the settings (`AWS_*`); the first that is set counts, in this order, the instance's
 * last.
 */
export interface AwsIdentity {
  readonly keys?: AwsCredentials | null
  /** Kubernetes: a role, and the token that a file holds, read again each time since it is rotated. */
  readonly web_identity?: (AwsRole & {readonly token: () => Promise<string>}) | null
  /** ECS and EKS: the address that the platform sets, and its token. */
  readonly container?: {readonly url: string; readonly token?: (() => Promise<string>) | null} | null
  /** EC2: false where instance metadata must not be fetched. */
  readonly instance?: boolean
  /** With the older metadata service, which wants no session token. */
  readonly is_imds_v1?: boolean
  /** A role to become before any other (the source of the second hop). */
  readonly source_role?: AwsRole | null
  /** The STS region for the gateway's own identity; null: the region that is called. */
  readonly sts_region?: string | null
}

/** Credentials could not be had; the sentence holds no secret. */
export class AwsCredentialsFault extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'AwsCredentialsFault'
  }
}
