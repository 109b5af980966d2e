/** A file at a provider whose rows guardrails have let pass. */
export interface JudgedFilesTable {
  /** SHA-256 of workspace, place and the provider's id. */
  key: string
  /** Of the guardrails. */
  digest: string
  judged_at_ms: number
}
