import {sql} from 'kysely'

/**
 * True where an integration (`i`) is open to the workspace of a server (`s`): by the workspace's own row (`iw`), else
 * as its own, else by the row for all. Calls, consent and the registry have the same servers.
 */
export const IS_GRANTED = sql<boolean>`
  (i.workspace_id is null or i.workspace_id = s.workspace_id)
  and coalesce(iw.enabled, case when i.workspace_id = s.workspace_id then 1 else i.global_access_enabled end) = 1
`
