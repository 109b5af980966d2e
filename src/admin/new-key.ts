import {newId} from '../base/ids.ts'
import type {MadeKey} from '../identity/keys.ts'
import type {ApiKeysTable} from '../store/tables/identity.ts'

/** The columns of a new key, besides its secret; absent ones are empty. */
export type NewKey = Pick<ApiKeysTable, 'organisation_id' | 'workspace_id' | 'kind' | 'name' | 'creation_mode'> &
  Partial<ApiKeysTable>

/** The row of a key that is made at `at`. */
export function newKey(of: NewKey, {hash, masked}: MadeKey, scopes: readonly string[], at: string): ApiKeysTable {
  return {
    id: newId(),
    user_id: null,
    description: null,
    usage_limits: null,
    rate_limits: null,
    defaults: null,
    alert_emails: null,
    status: 'active',
    expires_at: null,
    last_reset_at: null,
    ...of,
    key_hash: hash,
    key_masked: masked,
    scopes: JSON.stringify(scopes),
    created_at: at,
    last_updated_at: at,
  }
}
