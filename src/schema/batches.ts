import type {EndpointName} from './endpoints.ts'
import type {Intent} from './records.ts'

/** A batch that a call made and nobody was charged for yet. */
export interface OpenBatch {
  /** Of its entry in the ledger, which there is one of (core rule 2). */
  readonly call_id: string
  readonly batch_id: string
  readonly charge: BatchCharge
  /** The ledger has the entry already: the process ended before it could say so. */
  readonly has_entry: boolean
}

/** Whom it is charged to: the call that made it. */
export interface BatchCharge {
  readonly intent: Intent
  readonly endpoint: EndpointName
  readonly span_id: string
  readonly metadata: Readonly<Record<string, string>>
}

/** What the gateway remembers of batches, in every process. */
export interface BatchBook {
  /** Batches that are being charged by this process, by the call of their entry. */
  readonly under_way: Map<string, Promise<void>>
  open(batch: OpenBatch, now: string): Promise<void>
  /** Those of `ids` that are not charged yet. */
  unsettled(of: Pick<Intent, 'workspace_id' | 'provider' | 'integration_id'>, ids: readonly string[]): Promise<readonly OpenBatch[]>
  /** False when somebody else did. */
  settle(call_id: string, now: string): Promise<boolean>
}
