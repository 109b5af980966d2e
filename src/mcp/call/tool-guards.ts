import type {CheckServices} from '../../guardrails/check-services.ts'
import type {Hook} from '../../guardrails/hook.ts'

/** The guardrails of calls of one server's tools, ready to run. */
export interface ToolGuards {
  readonly input: readonly Hook[]
  readonly output: readonly Hook[]
  /** Their names for denials, by the ids of their hooks. */
  readonly names: ReadonlyMap<string, string>
}

/** The services of guardrails on calls of tools. */
export interface ToolGuardServices {
  /** Null where none is attached. Refuses a guardrail that cannot run. */
  find(server: ToolGuardPlace): ToolGuards | null | Promise<ToolGuards | null>
  /** How checks of a workspace reach services, and what they keep. */
  checkServices(workspace_id: string): CheckServices
  /** Runs beside the calls, and is waited for when the gateway stops. */
  beside(work: Promise<unknown>): void
}

/** The server that a tool is of. */
export interface ToolGuardPlace {
  readonly id: string
  readonly organisation_id: string
  readonly workspace_id: string
}
