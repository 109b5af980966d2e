/** A batch that a call made at a provider, or a response that is made there in the background. */
export interface BatchesTable {
  /**
   * Of the entry that charges it: made with the row, so that it is charged once however often it is seen to be done.
   */
  call_id: string
  workspace_id: string
  /** The kind of provider. */
  provider: string
  /** Empty where the client brought its own credentials. */
  integration_id: string
  /** As the provider names it. */
  batch_id: string
  /** JSON object: the entity it is charged to, and its known facts. */
  charge: string
  created_at: string
  /** When the ledger took it; null while it is not charged. */
  settled_at: string | null
  /** How often the gateway itself polled the provider, and when it polls next. */
  asks: number
  next_ask_ms: number
}
