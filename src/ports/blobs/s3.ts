import {createHash} from 'node:crypto'
import {type AwsCredentials, sign} from '../../base/sigv4.ts'
import type {NewObject} from './index.ts'
import type {Authorize} from './objects.ts'

/**
 * Signature Version 4 as S3 has it; Cloud Storage takes the same with the keys of its interoperability (region `auto`).
 */
export function s3Signature({
  region,
  credentials,
  now,
}: {
  readonly region: string
  readonly credentials: () => Promise<AwsCredentials>
  readonly now: () => number
}): Authorize {
  return async ({method, host, path, headers, body}) => {
    const known = await credentials()
    const signable = {
      method,
      host,
      path,
      headers,
      body: body ?? '',
      service: 's3',
      region,
      credentials: known,
      now_ms: now(),
      s3: true,
    }
    const {host: _, ...added} = sign(signable)
    return added
  }
}

/** Headers for S3 beside the object. */
export interface S3Extras {
  /** SSE_ENCRYPTION_TYPE. */
  readonly encryption?: 'AES256' | 'aws:kms' | 'aws:kms:dsse' | undefined
  /** KMS_KEY_ID; without one, the key of the account. */
  readonly kms_key_id?: string | undefined
  readonly bucket_key: boolean
  /** KMS_ENCRYPTION_CONTEXT: a JSON object, or the base64 of one. */
  readonly context?: string | undefined
  /** A key of the customer's own, in base64; S3 forgets it and needs it again to read. */
  readonly customer?: {readonly key: string; readonly md5: string | undefined} | undefined
  /** LOG_STORE_OBJECT_LOCK_RETENTION_ENABLED. */
  readonly locks: boolean
}

const SSE = 'x-amz-server-side-encryption'

/** Source: Amazon S3 API reference, PutObject. */
export function s3PutHeaders(extras: S3Extras): (object: NewObject) => Record<string, string> {
  const {encryption, kms_key_id, bucket_key, context, locks} = extras
  const fixed = {
    ...(encryption && {[SSE]: encryption}),
    ...(kms_key_id && {[`${SSE}-aws-kms-key-id`]: kms_key_id}),
    ...(bucket_key && {[`${SSE}-bucket-key-enabled`]: 'true'}),
    ...(context && {[`${SSE}-context`]: context.startsWith('{') ? Buffer.from(context).toString('base64') : context}),
    ...s3GetHeaders(extras),
  }
  return object => ({...fixed, ...(locks && lock(object))})
}

/** For an object under the customer's own key: it cannot be read without it. */
export function s3GetHeaders({customer}: Pick<S3Extras, 'customer'>): Record<string, string> {
  if (!customer) return {}
  const {key, md5 = createHash('md5').update(Buffer.from(key, 'base64')).digest('base64')} = customer
  return {
    [`${SSE}-customer-algorithm`]: 'AES256',
    [`${SSE}-customer-key`]: key,
    [`${SSE}-customer-key-md5`]: md5,
  }
}

/** Object Lock wants the body's hash beside it (S3 user guide, "Object Lock considerations"). */
function lock({body, keep_until_ms}: NewObject): Record<string, string> {
  return {
    'content-md5': createHash('md5').update(body).digest('base64'),
    'x-amz-object-lock-mode': 'GOVERNANCE',
    'x-amz-object-lock-retain-until-date': new Date(keep_until_ms).toISOString(),
  }
}
