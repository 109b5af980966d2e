import type {DefaultGuardrails, SavedGuardrail} from '../guardrails/attach.ts'
import type {CheckServices} from '../guardrails/check-services.ts'

/** The scope that guardrails are looked up for. */
export interface GuardrailOwner {
  readonly organisation_id: string
  readonly workspace_id: string
}

/** The services of guardrails; null where they are switched off. */
export interface GuardrailServices {
  /** The guardrails that a workspace may use, by the ids or slugs that were requested. */
  find(place: GuardrailOwner, handles: readonly string[]): Promise<ReadonlyMap<string, SavedGuardrail>>
  /** Those that run on every call: the organisation's, the workspace's. */
  defaults(place: GuardrailOwner): Promise<readonly DefaultGuardrails[]>
  /** How checks of a workspace reach services, and what they keep. */
  checkServices(workspace_id: string): CheckServices
  /** Runs beside the calls, and is waited for when the gateway stops. */
  beside(work: Promise<unknown>): void
  /** Resolves when nothing runs beside the calls any more. */
  settled(): Promise<void>
}
