import {z} from 'zod'
import {pageParams, wholeInQuery} from './paging.ts'
import {FirstTime, LastTime} from './times.ts'

const Word = z.string().min(1).max(255)

export const AuditQuery = z.strictObject({
  ...pageParams({usual: 100, most: 100}),
  start_time: FirstTime,
  end_time: LastTime,
  /** The caller's own; another is not found. */
  organisation_id: Word.optional(),
  method: z.enum(['POST', 'PUT', 'DELETE']).optional(),
  uri: z.string().min(1).max(2000).optional(),
  request_id: Word.optional(),
  user_id: Word.optional(),
  user_type: z.enum(['user', 'api_key', 'token', 'operator', 'system']).optional(),
  /** Id or slug. */
  workspace_id: Word.optional(),
  response_status_code: wholeInQuery(100, 599).optional(),
  resource_type: Word.optional(),
  action: Word.optional(),
  client_ip: Word.optional(),
  /** Not known here: no row has one. */
  country: Word.optional(),
})

export const AuditRecord = z.strictObject({
  id: z.uuid(),
  timestamp: z.iso.datetime(),
  method: z.string(),
  uri: z.string(),
  request_id: z.string(),
  /** JSON text, secrets masked; so are the two below. */
  request_body: z.string().nullable(),
  query_params: z.string().nullable(),
  request_headers: z.string(),
  user_id: z.string().nullable(),
  user_type: z.enum(['user', 'api_key', 'token', 'operator', 'system']),
  organisation_id: z.uuid(),
  workspace_id: z.string().nullable(),
  response_status_code: z.int(),
  resource_type: z.string(),
  resource_id: z.string().nullable(),
  action: z.string(),
  client_ip: z.string().nullable(),
  country: z.null(),
  /** The fields that an update changed, secrets masked; null where the row is no update of one thing. */
  changes: z.array(z.strictObject({field: z.string(), before: z.unknown(), after: z.unknown()})).nullable(),
  /**
   * Its place in the chain of the organisation, and the SHA-256 over the row before and this one; null for rows older
   * than the chain.
   */
  sequence: z.int().nullable(),
  chain: z.string().nullable(),
})

export const AuditRecords = z.strictObject({
  records: z.array(AuditRecord),
  total: z.int(),
  object: z.literal('analytics-graph'),
})

export const AuditVerdict = z.strictObject({
  holds: z.boolean(),
  /** Rows that are linked. */
  rows: z.int(),
  /** Rows from before there was a chain. */
  unlinked: z.int(),
  /** The first place where it does not hold. */
  breaks: z.array(z.strictObject({sequence: z.int(), id: z.string().nullable(), text: z.string()})),
  object: z.literal('audit-chain'),
})
