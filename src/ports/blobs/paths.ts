/** How the keys of objects are made; what was written stays where it is when that is changed. */
export const PATH_FORMATS = ['v1', 'v2'] as const
export type PathFormat = (typeof PATH_FORMATS)[number]

export interface BlobKeyParts {
  readonly log_id: string
  readonly organisation_id: string
  readonly workspace_slug: string
  /** ISO 8601 UTC. */
  readonly created_at: string
  /** How long the object is kept, so that a store's own rules can go by the beginning of a key. */
  readonly retention_days: number
}

/** `30/ORGANISATION/LOG.json`, or `30/ORGANISATION/WORKSPACE/2026/03/04/05/LOG.json` (docs/log-store.md, Objects). */
export function objectKey(
  format: PathFormat,
  {log_id, organisation_id, workspace_slug, created_at, retention_days}: BlobKeyParts,
): string {
  const root = `${retention_days}/${organisation_id}`
  if (format === 'v1') return `${root}/${log_id}.json`
  const [year, month, day, hour] = created_at.split(/[-T:]/)
  return `${root}/${workspace_slug}/${year}/${month}/${day}/${hour}/${log_id}.json`
}
