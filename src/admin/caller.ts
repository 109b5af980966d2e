import type {IncomingHttpHeaders} from 'node:http'
import {Refusal} from '../base/errors.ts'
import {hashKey, sentKey} from '../identity/keys.ts'
import {findKeyByHash} from '../store/api-keys.ts'
import type {Db} from '../store/database.ts'
import type {Actor} from './services.ts'

/** The caller whose key the headers carry. Refuses a key that is missing, unknown, deleted or expired, or whose workspace is archived. */
export async function callerByKey(db: Db, headers: IncomingHttpHeaders, now: string): Promise<Actor> {
  const {key, prefix} = sentKey(headers)
  if (key === undefined) throw new Refusal('key.missing', {header: `${prefix}-api-key`})
  const row = await findKeyByHash(db, hashKey(key))
  if (!row) throw new Refusal('key.unknown')
  if (row.status === 'expired' || (row.expires_at !== null && row.expires_at <= now)) {
    throw new Refusal('key.expired', {expires_at: row.expires_at ?? 'an earlier time'})
  }
  if (row.workspace_status === 'archived') throw new Refusal('workspace.archived')
  return {
    type: 'api_key',
    id: row.id,
    kind: row.kind,
    organisation_id: row.organisation_id,
    workspace_id: row.workspace_id,
    user_id: row.user_id,
    scopes: new Set(JSON.parse(row.scopes) as string[]),
  }
}

/** Who calls an operation that is open to everyone: nobody, who reaches no row. */
export const ANYONE: Actor = {
  type: 'api_key',
  id: null,
  kind: 'workspace-user',
  organisation_id: '',
  workspace_id: '',
  user_id: null,
  scopes: new Set(),
}
