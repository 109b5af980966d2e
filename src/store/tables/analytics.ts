/** A job that writes rows of the log into a file. */
export interface LogExportsTable {
  id: string
  organisation_id: string
  workspace_id: string
  /** JSON object, as it was requested. */
  filters: string
  /** JSON object: what its maker may see. */
  visible: string
  /** JSON list of names of fields. */
  requested_data: string
  status: 'draft' | 'in_progress' | 'success' | 'failed' | 'stopped'
  /** Names the current run: one that finds another name here has been called off. */
  run: string | null
  /** How many were written by the last run. */
  rows: number | null
  /** Why the last run failed. */
  error: string | null
  created_by: string
  /** The user whose key made it. */
  user_id: string | null
  created_at: string
  last_updated_at: string
}

/** Filters of the log under a name. */
export interface SavedFiltersTable {
  id: string
  organisation_id: string
  workspace_id: string
  name: string
  filters: string
  created_by: string | null
  created_at: string
  last_updated_at: string
}
