/** Rows of gateway.db about sent alerts. */
export interface AlertsTable {
  entity: string
  entity_id: string
  /** A budget (`cost`, `tokens`) or the `expiry`. */
  about: string
  /** JSON object: the alert and its subject. */
  state: string
  last_updated_at: string
}

/** A mail that is being sent. */
export interface MailsTable {
  id: string
  recipient: string
  subject: string
  plain: string
  html: string
  created_at: string
  next_try_at_ms: number
  tries: number
  status: 'waiting' | 'sent' | 'failed'
  error: string | null
  sent_at: string | null
}
