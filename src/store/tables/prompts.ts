/** Rows of gateway.db about saved prompts. Times are ISO 8601 UTC text, booleans 0/1, JSON is text. */
export interface CollectionsTable {
  id: string
  slug: string
  organisation_id: string
  workspace_id: string
  parent_collection_id: string | null
  name: string
  /** One of each workspace. */
  is_default: number
  status: 'active' | 'archived'
  created_at: string
  last_updated_at: string
}

export interface LabelsTable {
  id: string
  /** Null, as its workspace, for a label that everyone has. */
  organisation_id: string | null
  workspace_id: string | null
  /** Once among the active ones of a workspace. */
  name: string
  description: string | null
  color_code: string | null
  status: 'active' | 'archived'
  created_at: string
  last_updated_at: string
}

/** A template with published versions: a prompt or a partial. */
export interface TemplatesTable {
  id: string
  /** Never given twice, for calls and other prompts name it. */
  slug: string
  organisation_id: string
  workspace_id: string
  collection_id: string
  name: string
  status: 'active' | 'archived'
  /** The number of the newest version, and of the one that is published. */
  latest_version: number
  default_version: number
  owner_id: string | null
  updated_by: string | null
  created_at: string
  last_updated_at: string
}

export type PromptsTable = TemplatesTable
export type PromptPartialsTable = TemplatesTable

interface VersionsTable {
  id: string
  version: number
  description: string | null
  status: 'active' | 'archived'
  updated_by: string | null
  created_at: string
}

export interface PromptVersionsTable extends VersionsTable {
  prompt_id: string
  /** JSON object: see `PromptTemplate`. */
  template: string
}

export interface PartialVersionsTable extends VersionsTable {
  partial_id: string
  /** The text, in the words of templates. */
  string: string
}

/** Which version of a prompt a label points at. */
export interface PromptLabelsTable {
  prompt_id: string
  label_id: string
  version: number
  assigned_at: string
}
