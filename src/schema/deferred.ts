import type {EndpointName} from './endpoints.ts'
import {withPrincipal} from './principal.ts'
import type {Intent} from './records.ts'

/** Work that a call began and that is not charged yet: a batch, or a response that is made in the background. */
export interface Deferred {
  /** Of its entry in the ledger, which there is one of (core rule 2). */
  readonly call_id: string
  /** As the provider names it. */
  readonly id: string
  readonly charge: DeferredCharge
  /** The ledger has the entry already: the process ended before it could say so. */
  readonly has_entry: boolean
}

/** The entity that is charged: that of the call that began it. */
export interface DeferredCharge {
  readonly intent: Intent
  /** The requested endpoint. */
  readonly endpoint: EndpointName
  /** Of a batch that was begun by a vendor's own path: whose words it is read in. */
  readonly words?: string
  readonly span_id: string
  readonly metadata: Readonly<Record<string, string>>
  /** The amount that strict limits hold under the intent's `held_keys` until it is charged; absent when none does. */
  readonly held?: {readonly tokens: number; readonly cost_nanousd: number}
}

/**
 * Asks once for the state of work that is not charged yet: `unknown` when the state cannot be fetched, `gone` where the
 * provider does not know it (any more). Rejects when the provider does not say.
 */
export type AskAgain = (work: Deferred, lost: AbortSignal) => Promise<'charged' | 'under_way' | 'gone' | 'unknown'>

/** The store of such work, shared by every process. */
export interface DeferredCharges {
  /** Work that is being charged by this process, by the call of its entry. */
  readonly under_way: Map<string, Promise<void>>
  open(work: Deferred, now: string): Promise<void>
  /** Those of `ids` that are not charged yet. */
  unsettled(
    of: Pick<Intent, 'workspace_id' | 'provider' | 'integration_id'>,
    ids: readonly string[],
  ): Promise<readonly Deferred[]>
  /** False when another process did. */
  settle(call_id: string, now: string): Promise<boolean>
}

/** A charge as the database holds it (JSON). */
export function readDeferredCharge(text: string): DeferredCharge {
  const charge = JSON.parse(text) as DeferredCharge
  return {...charge, intent: withPrincipal(charge.intent)}
}
